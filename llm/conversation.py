"""A conversation with a language model, whose cache is kept between the turns."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

import numpy as np

from .drafts import Draft
from .language_model import LanguageModel
from .prefixes import common_prefix
from .sampling import Sampling


class Conversation:
    """Turns of a user and a model; what the turns have in common is computed once.

    A context manager, which frees the pages of the cache.
    """

    def __init__(
        self,
        model: LanguageModel,
        system: str | None = None,
        sampling: Sampling | None = None,
        max_tokens: int = 1024,
        draft: Draft | None = None,
    ):
        self.model, self.sampling, self.max_tokens = model, sampling, max_tokens
        self.draft = draft
        self.messages = [] if system is None else [{"role": "system", "content": system}]
        self._sequence, self._tokens = model.new_sequence(), list[int]()

    def say(self, text: str) -> Iterator[str]:
        """The answer to a text, piece by piece; an answer that is not read to its end stays short.

        Raises ValueError with one line for a conversation that is longer than the context.
        """
        model, before = self.model, len(self.messages)
        self.messages.append({"role": "user", "content": text})
        tokens = model.tokenizer.encode_chat(self.messages)
        same = common_prefix(np.asarray(tokens[:-1]), np.asarray(self._tokens))
        same = model.pool.resumable(self._sequence, same)
        model.pool.truncate(self._sequence, same)
        self._tokens = tokens[:same]
        said = ""
        try:
            new = model.continued(
                self._sequence,
                self._tokens,
                tokens[same:],
                self.max_tokens,
                self.sampling,
                self.draft,
            )
            for piece in model.tokenizer.stream(new):
                said += piece
                yield piece
        except ValueError:
            del self.messages[before:]
            raise
        finally:
            if len(self.messages) > before:
                self.messages.append({"role": "assistant", "content": said})

    def clear(self) -> None:
        """Forget all turns, but for what the system is to do."""
        self.messages = [m for m in self.messages if m["role"] == "system"]
        self.close()

    def close(self) -> None:
        """Free the pages of the cache."""
        self.model.pool.truncate(self._sequence, 0)
        self._tokens = []

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

"""Text to tokens and back, and chats to tokens by the template of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from .chat_template import render
from .control_tokens import ControlTokens
from .text_pieces import TextPieces
from .vocabularies import read_vocabulary


class Tokenizer:
    """A vocabulary by the package `tokenizers`, and a chat template by Jinja2.

    Raises what `read_vocabulary` does.
    """

    def __init__(self, metadata: Mapping[str, Any]):
        found = read_vocabulary(metadata)
        self._tokenizer, self._control = found.tokenizer, found.control
        self.template: str | None = metadata.get("tokenizer.chat_template")
        self.begin, self.adds_begin = found.begin, found.adds_begin
        begin = "" if self.begin is None else self._tokenizer.id_to_token(self.begin)
        self._names = {"bos_token": begin, "eos_token": found.end}
        self.ends = found.ends
        """Tokens after which a model says no more."""

    def vocabulary(self) -> dict[str, int]:
        """The numbers of all tokens."""
        return self._tokenizer.get_vocab(with_added_tokens=True)

    def encode(self, text: str, begins: bool = True) -> list[int]:
        """The tokens of a text; control tokens are read where they are written out."""
        first = [self.begin] if begins and self.adds_begin and self.begin is not None else []
        return [*first, *self._tokenizer.encode(text, add_special_tokens=False).ids]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without control tokens."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=True)

    def stream(self, tokens: Iterable[int]) -> Iterator[str]:
        """The text that each token adds; bytes of unfinished characters wait for the next token."""
        pieces = TextPieces(self.decode)
        for token in tokens:
            if text := pieces.add(token):
                yield text
        if text := pieces.rest():
            yield text

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """A conversation as the model was trained on it, up to where it is to answer.

        Raises ValueError with one line for messages without role and content, for what the template
        refuses, and if there is no template.
        """
        if self.template is None:
            raise ValueError("expected a model with a chat template, got one without")
        for message in messages:
            if not {"role", "content"} <= message.keys():
                raise ValueError(f"expected a message with role and content, got {message!r}")
        return render(self.template, messages, self._names)

    def encode_chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The tokens of a conversation; control tokens are read only where the template has them.

        Raises what `chat` does.
        """
        control = self._control_tokens
        plain = [{name: control.hide(text) for name, text in m.items()} for m in messages]
        return control.encode(self.chat(plain))

    @cached_property
    def _control_tokens(self) -> ControlTokens:
        return ControlTokens(self._tokenizer, self._control)

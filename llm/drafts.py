"""Speculative decoding: tokens that are probably next, which a model verifies in one step.

A step of a model reads all weights, for one token or for several. Where something cheap guesses the
next tokens, the model computes the logits after each of them at once, and chooses as it does
without guesses; those up to the first one that differs are what it would have chosen (Leviathan
2022). The text is the same token for token, since the bits of logits do not depend on what else
is in a step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .configuration import Configuration
from .pages import CachedSequence, PagePool
from .prefixes import common_prefix
from .tokenizer import Tokenizer

TOKENS = 4
"""How many tokens are guessed by default."""
LONGEST = 3
"""The most tokens that are searched for in the text."""


class Model(Protocol):
    """What drafts need of a `LanguageModel`."""

    config: Configuration
    tokenizer: Tokenizer
    pool: PagePool

    def prefill(self, sequence: CachedSequence, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens to a sequence; returns the logits (vocabulary,) after them."""
        ...

    def extend(self, sequence: CachedSequence, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens to a sequence; returns the logits (tokens, vocabulary) after each."""
        ...

    def room(self, sequence: CachedSequence) -> int:
        """The length to which a sequence can grow."""
        ...


class Draft(ABC):
    """Guesses up to `count` tokens; `acceptance` is the part that the model chose as well."""

    def __init__(self, count: int = TOKENS):
        if count < 1:
            raise ValueError(f"expected a draft of at least 1 token, got {count}")
        self.count, self.proposed, self.accepted = count, 0, 0

    @property
    def acceptance(self) -> float:
        """The part of the guessed tokens that were right; 0 before the first guess."""
        return self.accepted / max(1, self.proposed)

    def verify(self, model: Model) -> None:
        """Raise ValueError with one line for a model whose tokens the draft does not know."""

    @abstractmethod
    def propose(self, text: Sequence[int]) -> list[int]:
        """At most `count` tokens after a text."""

    def close(self) -> None:
        """Free memory at the end of a text."""


class PromptLookup(Draft):
    """What followed the last tokens where they occurred before, for texts that repeat parts."""

    def propose(self, text: Sequence[int]) -> list[int]:
        tokens = np.asarray(text)
        for length in range(min(LONGEST, len(tokens) - 1), 0, -1):
            windows = np.lib.stride_tricks.sliding_window_view(tokens[:-1], length)
            places = np.flatnonzero((windows == tokens[-length:]).all(1))
            if len(places):
                begin = int(places[-1]) + length
                return tokens[begin : begin + self.count].tolist()
        return []


class DraftModel(Draft):
    """The greedy tokens of a smaller model with the same vocabulary, whose cache it uses."""

    def __init__(self, model: Model, count: int = TOKENS):
        super().__init__(count)
        self.model = model
        self._sequence, self._known = CachedSequence(), list[int]()

    def verify(self, model: Model) -> None:
        if self.model.tokenizer.vocabulary() != model.tokenizer.vocabulary():
            raise ValueError("expected a draft with the vocabulary of the model, got another one")
        if self.model is model:
            raise ValueError("expected another model as the draft, got the model itself")

    def propose(self, text: Sequence[int]) -> list[int]:
        model, sequence = self.model, self._sequence
        same = common_prefix(np.asarray(text[:-1]), np.asarray(self._known))
        same = model.pool.resumable(sequence, same)
        model.pool.truncate(sequence, same)
        self._known = list(text[:same])
        if len(text) + self.count > min(model.config.context, model.room(sequence)):
            return []
        new, found = list(text[same:]), list[int]()
        logits = model.prefill(sequence, new) if len(new) > 1 else model.extend(sequence, new)[0]
        self._known += new
        while True:
            found.append(int(logits.argmax()))
            if len(found) == self.count or found[-1] in model.tokenizer.ends:
                return found
            logits = model.extend(sequence, found[-1:])[0]
            self._known.append(found[-1])

    def close(self) -> None:
        self.model.pool.truncate(self._sequence, 0)
        self._known = []


def draft_of(draft: str | Model | Draft | None) -> Draft | None:
    """The draft that an option of `generate` names; raises ValueError for other strings."""
    if draft is None or isinstance(draft, Draft):
        return draft
    if not isinstance(draft, str):
        return DraftModel(draft)
    if draft != "prompt":
        raise ValueError(f"expected a draft of 'prompt' or a model, got {draft!r}")
    return PromptLookup()

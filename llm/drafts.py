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

    def decode(
        self, sequences: Sequence[CachedSequence], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        """Append a token to each sequence; returns the logits (sequences, vocabulary)."""
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

    def count_right(self, proposed: int, accepted: int) -> None:
        """Note how many tokens a model has verified, and how many of them were right."""
        self.proposed, self.accepted = self.proposed + proposed, self.accepted + accepted

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
        self.sequence, self._known = CachedSequence(), list[int]()

    def verify(self, model: Model) -> None:
        if self.model.tokenizer.vocabulary() != model.tokenizer.vocabulary():
            raise ValueError("expected a draft with the vocabulary of the model, got another one")
        if self.model is model:
            raise ValueError("expected another model as the draft, got the model itself")

    def propose(self, text: Sequence[int]) -> list[int]:
        return propose_together([self], [text])[0]

    def begin(self, text: Sequence[int]) -> list[int]:
        """The first guess after a text; none if the cache has no room for the others."""
        model, sequence = self.model, self.sequence
        same = common_prefix(np.asarray(text[:-1]), np.asarray(self._known))
        same = model.pool.resumable(sequence, same)
        model.pool.truncate(sequence, same)
        self._known = list(text[:same])
        if len(text) + self.count > min(model.config.context, model.room(sequence)):
            return []
        new = list(text[same:])
        logits = model.prefill(sequence, new) if len(new) > 1 else model.decode([sequence], new)[0]
        self._known += new
        return [int(logits.argmax())]

    def has_room(self, found: Sequence[int]) -> bool:
        """Whether another guess may follow those that are found."""
        return 0 < len(found) < self.count and found[-1] not in self.model.tokenizer.ends

    def note(self, token: int) -> None:
        """Note a guess that was appended to the sequence."""
        self._known.append(token)

    def close(self) -> None:
        self.model.pool.truncate(self.sequence, 0)
        self._known = []


def propose_together(drafts: Sequence[Draft], texts: Sequence[Sequence[int]]) -> list[list[int]]:
    """The guesses of drafts after texts; models compute those of all their texts together."""
    found = [
        draft.begin(text) if isinstance(draft, DraftModel) else draft.propose(text)
        for draft, text in zip(drafts, texts, strict=True)
    ]
    by_model: dict[int, list[tuple[DraftModel, list[int]]]] = {}
    for draft, guesses in zip(drafts, found, strict=True):
        if isinstance(draft, DraftModel):
            by_model.setdefault(id(draft.model), []).append((draft, guesses))
    for own in by_model.values():
        _guess_further(own)
    return found


def _guess_further(drafts: Sequence[tuple[DraftModel, list[int]]]) -> None:
    """Append further guesses of one model, a token of each text at a time."""
    while own := [(draft, found) for draft, found in drafts if draft.has_room(found)]:
        model = own[0][0].model
        if sum(model.pool.needed(draft.sequence, 1) for draft, _ in own) > model.pool.free:
            return
        last = [found[-1] for _, found in own]
        logits = model.decode([draft.sequence for draft, _ in own], last)
        for (draft, found), token, row in zip(own, last, logits, strict=True):
            draft.note(token)
            found.append(int(row.argmax()))


def draft_of(draft: str | Model | Draft | None) -> Draft | None:
    """The draft that an option of `generate` names; raises ValueError for other strings."""
    if draft is None or isinstance(draft, Draft):
        return draft
    if not isinstance(draft, str):
        return DraftModel(draft)
    if draft != "prompt":
        raise ValueError(f"expected a draft of 'prompt' or a model, got {draft!r}")
    return PromptLookup()

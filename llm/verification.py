"""One step of several texts: a token of each, what a draft guesses after it, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cached_model import CachedModel
from .pages import CachedSequence
from .sampling import Sampler


@dataclass(frozen=True)
class Row:
    """A text in a step: its sequence, the token to append, and guesses of the tokens after it."""

    sequence: CachedSequence
    token: int
    sampler: Sampler
    guessed: Sequence[int] = ()

    @property
    def tokens(self) -> list[int]:
        """The token and the guesses."""
        return [self.token, *self.guessed]


def verified(model: CachedModel, rows: Sequence[Row]) -> list[list[int]]:
    """Append tokens to sequences; returns the tokens that follow each, at least one.

    These are what the model chooses after the token, and after every guess that is what it chose.
    A sequence ends with the last right guess. Logits are computed in one call of `decode`.
    """
    firsts = [row.sequence.length for row in rows]
    logits = model.decode(
        [row.sequence for row in rows for _ in row.tokens],
        [token for row in rows for token in row.tokens],
    )
    samplers = [
        row.sampler.after(row.guessed[:count])
        for row in rows
        for count in range(len(row.guessed) + 1)
    ]
    chosen, found, at = model.choose(logits, samplers), list[list[int]](), 0
    for first, row in zip(firsts, rows, strict=True):
        own = chosen[at : at + len(row.tokens)]
        at += len(own)
        pairs = zip(row.guessed, own, strict=False)
        right = next((n for n, (a, b) in enumerate(pairs) if a != b), len(row.guessed))
        model.pool.truncate(row.sequence, first + 1 + right)
        found.append(own[: right + 1])
    return found

"""How the next token is chosen from logits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from secrets import randbits
from typing import Any

import numpy as np
from numpy.typing import NDArray

FACTORS = ("temperature", "top_p", "min_p", "repetition_penalty")
"""The columns of the options of rows, in float32."""
NUMBERS = ("top_k", "seed_low", "seed_high", "position")
"""The columns of the numbers of rows, in uint32."""

COLDEST = 1e-6
"""Lower temperatures than this have the same result, and quotients that are not finite."""
WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Sampling:
    """Options, which are applied in this order; a temperature of 0 takes the best token.

    Logits of tokens that occurred are divided by `repetition_penalty` (multiplied where negative),
    all are divided by `temperature`; then the `top_k` best stay, of these the fewest with a
    probability of `top_p`, and of these those with at least `min_p` times the best probability.
    Tokens that are as good as the last one that stays do so too.

    The choices of a text follow from its `seed`, and differ each time without one.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        checks = {
            "temperature of at least 0": self.temperature >= 0,
            "top_k of at least 0": self.top_k >= 0,
            "top_p above 0, at most 1": 0 < self.top_p <= 1,
            "min_p of at least 0, at most 1": 0 <= self.min_p <= 1,
            "repetition_penalty above 0": self.repetition_penalty > 0,
        }
        for expected, holds in checks.items():
            if not holds:
                raise ValueError(f"expected {expected}, got {getattr(self, expected.split()[0])}")


class Sampler:
    """The choices of one text: its options, seed, and the tokens that it has so far."""

    def __init__(self, sampling: Sampling, text: Iterable[int] = ()):
        self.sampling, self.position = sampling, 0
        """`position` is how many tokens were chosen."""
        seed = randbits(64) if sampling.seed is None else sampling.seed
        self._seed = seed & WORD, seed >> 32 & WORD
        self._has_penalty = sampling.repetition_penalty != 1
        self._seen = dict.fromkeys(text if self._has_penalty else ())

    def add(self, token: int) -> None:
        """Append the token that was chosen; the next choice has another random number.

        Raises ValueError with one line for what is chosen from logits that are no numbers.
        """
        if token < 0:
            raise ValueError("expected logits that are numbers, got NaN")
        self.position += 1
        if self._has_penalty:
            self._seen[token] = None

    def after(self, tokens: Sequence[int]) -> Sampler:
        """A sampler of the same text with further tokens."""
        made = copy(self)
        made._seen = dict(self._seen)
        for token in tokens:
            made.add(token)
        return made

    def factors(self) -> list[float]:
        """The columns `FACTORS` of the kernel."""
        values = [float(getattr(self.sampling, name)) for name in FACTORS]
        if values[0]:
            values[0] = max(values[0], COLDEST)
        return values

    def numbers(self) -> list[int]:
        """The columns `NUMBERS` of the kernel."""
        return [min(self.sampling.top_k, WORD), *self._seed, self.position & WORD]

    def seen(self) -> list[int]:
        """The tokens whose logits change."""
        return list(self._seen)


def choice_arguments(samplers: Sequence[Sampler]) -> tuple[NDArray[Any], ...]:
    """Factors, numbers and tokens of the kernel `chosen`, a row for each sampler."""
    texts = [sampler.seen() for sampler in samplers]
    seen = np.full((len(texts), max(map(len, texts))), -1, np.int32)
    for row, text in zip(seen, texts, strict=True):
        row[: len(text)] = text
    factors = np.array([sampler.factors() for sampler in samplers], np.float32)
    return factors, np.array([sampler.numbers() for sampler in samplers], np.uint32), seen

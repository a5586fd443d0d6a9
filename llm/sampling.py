"""How the next token is chosen from logits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COLDEST = 1e-6
"""Lower temperatures than this have the same result, and quotients that are not finite."""


@dataclass(frozen=True)
class Sampling:
    """Options, which are applied in this order; a temperature of 0 takes the best token.

    Logits of tokens that occurred are divided by `repetition_penalty` (multiplied where negative),
    all are divided by `temperature`; then the `top_k` best stay, of these the fewest with a
    probability of `top_p`, and of these those with at least `min_p` times the best probability.
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

    def generator(self) -> np.random.Generator:
        """The random numbers of one text."""
        return np.random.default_rng(self.seed)

    def choose(
        self, logits: NDArray[np.float32], before: Sequence[int], rng: np.random.Generator
    ) -> int:
        """The next token after the tokens `before`; logits are (vocabulary,)."""
        if self.repetition_penalty != 1 and before:
            seen = np.unique(np.asarray(before))
            changed = logits[seen]
            factors = np.where(changed > 0, 1 / self.repetition_penalty, self.repetition_penalty)
            logits = logits.copy()
            logits[seen] = changed * factors
        if not self.temperature:
            return int(logits.argmax())
        temperature = np.float32(max(self.temperature, COLDEST))
        weights = np.exp((logits - np.max(logits)) / temperature)
        tokens = self._kept(weights)
        sums: NDArray[np.float64] = np.cumsum(weights[tokens], dtype=np.float64)
        place = bisect_right(sums, rng.random() * float(sums[-1]))
        return int(tokens[min(place, len(tokens) - 1)])

    def _kept(self, weights: NDArray[np.float32]) -> NDArray[np.int64]:
        """The tokens that the options leave, by the weights of all (vocabulary,); 1 is the best."""
        tokens = np.arange(len(weights))
        if 0 < self.top_k < len(weights):
            tokens = _largest(weights, self.top_k)
        if self.top_p < 1:
            tokens = tokens[_fewest(weights[tokens], self.top_p)]
        return tokens[weights[tokens] >= self.min_p]


def _largest(weights: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The places of so many of the largest weights, in any order."""
    return np.argpartition(weights, len(weights) - count)[len(weights) - count :]


def _fewest(weights: NDArray[np.float32], part: float) -> NDArray[np.int64]:
    """The places of the fewest weights whose sum is a part of all."""
    limit, count = part * weights.sum(dtype=np.float64), 64
    while True:  # few are usually enough, and sorting all takes as long as a step of a small model
        count = min(count, len(weights))
        best = _largest(weights, count)
        best = best[np.argsort(-weights[best], kind="stable")]
        sums: NDArray[np.float64] = np.cumsum(weights[best], dtype=np.float64)
        if count == len(weights) or sums[-1] >= limit:
            return best[: bisect_left(sums, limit) + 1]
        count *= 8

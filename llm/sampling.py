"""How the next token is chosen from logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
        count = min(self.top_k or len(logits), len(logits))
        best = np.argpartition(-logits, count - 1)[:count]
        best = best[np.argsort(-logits[best], kind="stable")]
        weights = np.exp((logits[best].astype(np.float64) - logits[best[0]]) / self.temperature)
        weights /= weights.sum()
        kept = int(np.searchsorted(weights.cumsum(), self.top_p)) + 1
        kept = min(kept, int(np.count_nonzero(weights >= self.min_p * weights[0])))
        return int(rng.choice(best[:kept], p=weights[:kept] / weights[:kept].sum()))

"""The keys of the random numbers of a model's calls."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class RandomKeys:
    """The keys of calls one after another: a seed, and the number of the call."""

    def __init__(self, seed: int):
        self.start(seed)

    def start(self, seed: int) -> None:
        """Start again with a seed, an integer modulo 2**64; raises TypeError for other values."""
        try:
            number = operator.index(seed)
        except TypeError:
            kind = type(seed).__name__
            raise TypeError(f"expected a seed to be an integer, got {kind}") from None
        self._seed = (number + (1 << 63)) % (1 << 64) - (1 << 63)
        self._calls = itertools.count()

    def next(self) -> NDArray[Any]:
        """The key of the next call."""
        return np.array([self._seed, next(self._calls)], np.int64)

    def __getstate__(self) -> int:
        return self._seed

    def __setstate__(self, seed: int) -> None:
        self.start(seed)

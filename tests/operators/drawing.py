"""Random operands and attributes for the cases of operators; the same numbers every time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from choices import Choices

from xrelax.dialects.dtypes import is_float
from xrelax.runtime.dtype import to_bfloat16

FLOATS = ("float16", "bfloat16", "float32", "float64")
WIDE_FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int32", "int64", "uint8")
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, "bool")

SIZES = (2, 3, 3, 4, 5, 5, 7, 8, 17, 1, 0)
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)


class Draw(Choices):
    """Choices for one example of a case, whose operands usually have the dtype `dtype`.

    An array of bfloat16 is one of its 16 bits as uint16.
    """

    def __init__(self, seed: str, dtype: str):
        self.rng = random.Random(seed)
        self.numpy = np.random.default_rng(self.rng.randrange(1 << 32))
        self.dtype = dtype

    def integer(self, low: int, high: int) -> int:
        """A number in ``[low, high]``."""
        return self.rng.randint(low, high)

    def size(self, least: int = 0) -> int:
        """A dim: often odd, sometimes 1, seldom 0."""
        return self.pick([s for s in SIZES if s >= least])

    def shape(self, low: int = 0, high: int = 3, least: int = 0) -> tuple[int, ...]:
        """A shape of rank ``low`` to ``high`` whose dims are at least `least`."""
        return tuple(self.size(least) for _ in range(self.integer(low, high)))

    def broadcastable(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to another: dims that are 1 or missing in front."""
        kept = shape[self.integer(0, len(shape)) if self.chance(40) else 0 :]
        return tuple(1 if self.chance(25) else s for s in kept)

    def array(
        self,
        shape: Sequence[int],
        low: float = -3,
        high: float = 3,
        dtype: str | None = None,
        special: bool = False,
    ) -> np.ndarray[Any, Any]:
        """Values in ``[low, high]``, whole ones for integers; uint8 starts at 0.

        `special` adds NaN, infinities and zeros of both signs, or the limits of an integer dtype.
        """
        dtype = self.dtype if dtype is None else dtype
        if dtype == "bool":
            return self.numpy.integers(0, 2, shape).astype(bool)
        if is_float(dtype):
            values = np.asarray(self.numpy.uniform(low, high, shape))
            return as_dtype(self._sprinkled(values, SPECIAL) if special else values, dtype)
        limits = np.iinfo(dtype)
        bottom, top = max(int(low), limits.min), min(int(high), limits.max)
        values = np.asarray(self.numpy.integers(bottom, top, shape, endpoint=True)).astype(dtype)
        return self._sprinkled(values, (limits.min, limits.max, 0)) if special else values

    def _sprinkled(self, values: Any, others: Sequence[Any]) -> Any:
        chosen = np.asarray(others, values.dtype)[self.numpy.integers(0, len(others), values.shape)]
        return np.where(self.numpy.random(values.shape) < 0.3, chosen, values)

    def axis(self, rank: int) -> int:
        """An axis of a tensor of this rank, counted from the front or from the end."""
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, low: int = 0) -> list[int]:
        """At least `low` distinct axes, counted from the front or from the end."""
        chosen = self.rng.sample(range(rank), self.integer(min(low, rank), rank))
        return [a - rank if self.chance(30) else a for a in chosen]


def as_dtype(values: Any, dtype: str) -> np.ndarray[Any, Any]:
    """Values rounded to a dtype; bfloat16 as bits."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return np.asarray(to_bfloat16(np.asarray(values, np.float32)), np.uint16)
        return np.asarray(values).astype(dtype)

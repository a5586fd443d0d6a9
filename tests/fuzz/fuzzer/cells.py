"""The numbers of a buffer while a block changes them, and what bounds those of a reduction."""

from __future__ import annotations

from typing import Any

import numpy as np

from .bounds import EPSILON, RANGE, TINY
from .numbers import Array, Value


def or_none(error: Array, zeros: Array) -> tuple[Array | None, Array | None]:
    """The arrays, None for those that say nothing."""
    return error if error.any() else None, zeros if zeros.any() else None


class Cells:
    """The numbers of a buffer in a row, to be changed, with their bounds."""

    def __init__(self, old: Value):
        self.old = old
        self.data = old.data.reshape(-1).copy()
        self.error = old.bound.reshape(-1).copy()
        self.zeros = old.either_zero.reshape(-1).copy()

    def at(self, cells: Any) -> Value:
        """Some of the numbers."""
        error, zeros = self.error[cells], self.zeros[cells]
        return Value(self.old.dtype, self.data[cells], *or_none(error, zeros))

    def put(self, cells: Any, value: Value) -> None:
        """Let numbers be others."""
        self.data[cells], self.error[cells] = value.data, value.bound
        self.zeros[cells] = value.either_zero

    def value(self) -> Value:
        """All numbers, in the shape of the buffer."""
        shape = self.old.data.shape
        arrays = (self.data, self.error, self.zeros)
        data, error, zeros = (a.reshape(shape) for a in arrays)
        return Value(self.old.dtype, data, *or_none(error, zeros))


class Sizes:
    """What bounds the partial results of reductions in any order: of the terms that are finite."""

    def __init__(self, shape: tuple[int, ...]):
        self.count = np.zeros(shape)
        self.total = np.zeros(shape)
        self.largest, self.least = np.ones(shape), np.ones(shape)

    def take(self, cells: Array, terms: Array) -> None:
        """Add a term of each cell."""
        self.count[cells] += 1
        with np.errstate(all="ignore"):
            size = np.abs(terms.astype(float))
            size = np.where(np.isfinite(size), size, 0.0)
            self.total[cells] += size
            # The products of all factors above and of all below 1, which no order leaves.
            self.largest[cells] *= np.maximum(size, 1)
            self.least[cells] *= np.where(size == 0, 1, np.minimum(size, 1))

    def widen(self, found: Cells, combine: str, is_whole: bool) -> None:
        """Add what another order may change: roundings, what leaves the range, the sign of 0.

        With `is_whole` all terms are whole numbers, of which small results are exact.
        """
        dtype = found.old.dtype
        data, reduced, epsilon = found.data.astype(float), self.count > 0, EPSILON[dtype]
        tiny, most = RANGE[dtype]
        with np.errstate(all="ignore"):
            most = most / (1 + self.count * epsilon)
            if combine == "add":
                size, largest, leaves = self.total, self.total, self.total >= most
            else:
                size, largest = np.where(np.isfinite(data), np.abs(data), 0), self.largest
                leaves = (largest >= most) | (self.least < tiny)
            # So far below 1 / epsilon that a sum may start with what is added to it later.
            inexact = reduced & ~(is_whole & (largest < 0.25 / epsilon))
            # The sum of a program and this one round each term so often at most, and its product.
            parts = 2 * np.expm1((self.count + 1) * np.log1p(epsilon))
            rounding = parts * (size + found.error)
            if combine == "add":  # denormal products, each rounded here or where it is fused
                rounding = rounding + self.count * TINY[dtype]
            grown = found.error + np.where(inexact & np.isfinite(data), rounding, 0)
            found.error = np.where(inexact & leaves, np.inf, grown)
        found.zeros |= reduced & (data == 0)

"""The windows of pools over one dim: their number, and the elements that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...int_expr import IntExpr
from .inference import divides
from .language import TensorLanguage
from .windows import Window


@dataclass(frozen=True)
class PoolWindows(ABC):
    """The windows over one spatial dim, of which `length` is its size."""

    op_name: str

    @abstractmethod
    def count(self, length: IntExpr) -> IntExpr:
        """The number of windows; raises ValueError if there is none."""

    @abstractmethod
    def extent(self, length: IntExpr) -> IntExpr:
        """An upper bound of the windows' sizes; their size if all have the same."""

    @abstractmethod
    def read(
        self, te: TensorLanguage, at: Any, offset: Any, length: IntExpr
    ) -> tuple[Any, list[Any]]:
        """The index of element `offset` of window `at`, and the conditions of being in bounds."""

    @abstractmethod
    def taps(self, te: TensorLanguage, at: Any, length: IntExpr) -> Any:
        """The divisor of the mean of window number `at`."""


@dataclass(frozen=True)
class MovingWindows(PoolWindows):
    """A window that moves by strides; with `counts_pad`, means include the padding."""

    window: Window
    ceil_mode: bool
    counts_pad: bool

    def count(self, length: IntExpr) -> IntExpr:
        return self.window.count(self.op_name, length, self.ceil_mode)

    def extent(self, length: IntExpr) -> IntExpr:
        return self.window.size

    def read(
        self, te: TensorLanguage, at: Any, offset: Any, length: IntExpr
    ) -> tuple[Any, list[Any]]:
        w = self.window
        place = at * w.stride + offset * w.dilation - w.before
        conditions = [place >= 0] if w.before else []
        if self._hangs_over(length, length):
            (end,) = te.tensor.shape_of([length])
            conditions.append(place < end)
        return place, conditions

    def taps(self, te: TensorLanguage, at: Any, length: IntExpr) -> Any:
        w = self.window
        start = at * w.stride - w.before
        reached = length + w.after if self.counts_pad else length
        (end,) = te.tensor.shape_of([reached + (w.dilation - 1)])
        taps: Any = w.size.constant or 1
        if self._hangs_over(length, reached):
            taps = te.min((end - start) // w.dilation, taps)
        if w.before and not self.counts_pad:
            taps = taps - te.max((w.dilation - 1 - start) // w.dilation, 0)
        if not (w.has_elements or self.counts_pad):
            taps = te.max(taps, 1)
        return taps

    def _hangs_over(self, length: IntExpr, reached: IntExpr) -> bool:
        return self.window.hangs_over(self.count(length), reached)

    def numpy_taps(self, count: int, length: int) -> NDArray[Any]:
        """`taps` of each of `count` windows."""
        w = self.window
        first = np.arange(count)[:, None] * w.stride - w.before
        at = first + np.arange(w.size.constant or 1) * w.dilation
        inside = at < length + w.after if self.counts_pad else (at >= 0) & (at < length)
        return np.maximum(inside.sum(axis=1), 1)


@dataclass(frozen=True)
class EvenWindows(PoolWindows):
    """`parts` windows of even sizes; of n the i-th is ``[i * d // n, ceil((i + 1) * d / n))``.

    By default, there is one for each element.
    """

    parts: int | None

    def count(self, length: IntExpr) -> IntExpr:
        return length if self.parts is None else IntExpr.of(self.parts)

    def extent(self, length: IntExpr) -> IntExpr:
        count = self.count(length)
        if length == count:
            return IntExpr.of(1)
        if divides(count, length):
            return length // count
        if (fixed := length.constant) is not None and (parts := count.constant) is not None:
            sizes = (-(-(i + 1) * fixed // parts) - i * fixed // parts for i in range(parts))
            return IntExpr.of(max(sizes, default=0))
        return (length + (count - 1)) // count + 1

    def read(
        self, te: TensorLanguage, at: Any, offset: Any, length: IntExpr
    ) -> tuple[Any, list[Any]]:
        start, size = self._bounds(te, at, length)
        return start + offset, [] if self._have_one_size(length) else [offset < size]

    def taps(self, te: TensorLanguage, at: Any, length: IntExpr) -> Any:
        return self._bounds(te, at, length)[1]

    def _bounds(self, te: TensorLanguage, at: Any, length: IntExpr) -> tuple[Any, Any]:
        """The start and size of window number `at`."""
        if self._have_one_size(length):
            (size,) = te.tensor.shape_of([self.extent(length)])
            return at * size, size
        size, parts = te.tensor.shape_of([length, self.count(length)])
        start = at * size // parts
        return start, ((at + 1) * size + (parts - 1)) // parts - start

    def _have_one_size(self, length: IntExpr) -> bool:
        return divides(self.count(length), length)

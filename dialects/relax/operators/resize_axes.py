"""How elements of a resized tensor are made of those of the data, along one dim.

The formulas are written once, for tensor expressions and for NumPy: sizes are numbers, or
expressions where they depend on symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...int_expr import IntExpr
from .language import TensorLanguage
from .resize_options import ROUNDINGS, Choose, Resizing

_REPEATING = (
    ("asymmetric", "floor"),
    ("tf_half_pixel_for_nn", "floor"),
    *(("half_pixel", rounding) for rounding in ROUNDINGS if rounding.startswith("round")),
)
"""Coordinates and roundings by which a multiple of the size repeats each element."""

_STEPPING = tuple(("asymmetric", rounding) for rounding in ROUNDINGS)
"""Those by which a fraction of the size takes elements at even distances."""


@dataclass(frozen=True)
class ResizedDim:
    """One dim of the data and of the result.

    `scale` is the factor between them before rounding; by default that of their sizes. `region` is
    the part that `tf_crop_and_resize` takes, in units of the dim.
    """

    length: IntExpr
    count: IntExpr
    scale: float | None
    region: tuple[float, float]
    resizing: Resizing

    @property
    def is_kept(self) -> bool:
        """Whether the elements are those of the data."""
        is_same = self.scale == 1 or (self.scale is None and self.length == self.count)
        return is_same and self.resizing.transformation != "tf_crop_and_resize"

    @property
    def taps(self) -> IntExpr:
        """The number of elements that each one of the result is made of."""
        radius = self.resizing.radius
        if not self.resizing.antialias:
            return IntExpr.of(2 * radius)
        if (shrink := self._shrink()) is not None:
            return IntExpr.of(2 * ceil(radius * shrink))
        return (self.length // self.count + 1) * (2 * radius)

    def _shrink(self) -> float | None:
        """The factor by which antialiasing widens the weights, at least 1; `None` if unknown."""
        if not self.resizing.antialias:
            return 1.0
        if self.scale is not None:
            return max(1 / self.scale, 1.0)
        if self.length.is_constant and self.count.is_constant:
            return max(self.length.offset / max(self.count.offset, 1), 1.0)
        return None

    def coordinate(self, x: Any, length: Any, count: Any, choose: Choose) -> Any:
        """The coordinate in the data of element `x`, for these sizes as floats."""
        if self.scale is None:
            size, place = count, _times(length / _above_0(count, choose))
        else:
            size, place = length * self.scale, _divided(self.scale)
        start, end = self.region
        match self.resizing.transformation:
            case "half_pixel":
                return place(x + 0.5) - 0.5
            case "asymmetric":
                return place(x)
            case "align_corners":
                return choose(size > 1, x * ((length - 1) / _above_0(size - 1, choose)), x * 0)
            case "pytorch_half_pixel":
                return choose(count > 1, place(x + 0.5) - 0.5, x * 0)
            case "tf_half_pixel_for_nn":
                return place(x + 0.5)
            case "half_pixel_symmetric":
                middle = length / 2 * (1 - count / _above_0(size, choose))
                return middle + place(x + 0.5) - 0.5
            case _:
                step = (end - start) * (length - 1) / _above_0(size - 1, choose)
                whole = x * step + start * (length - 1)
                return choose(size > 1, whole, x * 0 + (start + end) * (length - 1) * 0.5)

    def _exact_index(self, at: Any) -> Any:
        """The index of the nearest element by integers, if one size is a multiple of the other.

        Vectors of elements are then contiguous, or have a stride.
        """
        mode = (self.resizing.transformation, self.resizing.rounding)
        times = _quotient(self.count, self.length)
        if times is not None and self.scale in (None, times) and mode in _REPEATING:
            return at // times
        times = _quotient(self.length, self.count)
        is_step = self.scale is None or (times is not None and self.scale * times == 1)
        return at * times if times is not None and is_step and mode in _STEPPING else None

    # Tensor expressions.

    def te_coordinate(self, te: TensorLanguage, at: Any, dtype: str) -> Any:
        """The coordinate in the data of the element at an index."""
        length, count = (_te_number(te, size, dtype) for size in (self.length, self.count))
        return self.coordinate(te.cast(dtype, at), length, count, _te_choose(te))

    def te_index(self, te: TensorLanguage, at: Any) -> Any:
        """The index of the nearest element, in bounds."""
        if (exact := self._exact_index(at)) is not None:
            return exact
        place = self.te_coordinate(te, at, "float32")
        return self._te_inside(te, self.resizing.rounded(place, te.floor, te.ceil))

    def _te_inside(self, te: TensorLanguage, index: Any) -> Any:
        (end,) = te.tensor.shape_of([self.length - 1])
        return te.max(te.min(te.cast("int32", index), te.cast("int32", end)), 0)

    def te_tables(self, te: TensorLanguage, dtype: str, name: str) -> tuple[Any, Any]:
        """The indices of elements and their weights, of shape ``(taps, count)``."""
        taps, count = te.tensor.shape_of([self.taps, self.count])
        choose, (end,) = _te_choose(te), te.tensor.shape_of([self.length])
        before = (taps // 2) - 1

        def place(at: Any, k: Any) -> Any:
            return te.cast("int32", te.floor(self.te_coordinate(te, at, dtype))) - before + k

        def weigh(distance: Any) -> Any:
            return self.resizing.weight(distance, choose)

        def raw(k: Any, at: Any) -> Any:
            x, index = self.te_coordinate(te, at, dtype), place(at, k)
            distance = te.fabs(x - te.cast(dtype, index)) / self._te_shrink(te, dtype)
            weight = te.let(weigh, distance)
            if self.resizing.excludes:
                inside = (index >= 0) & (index < end)
                weight = te.select(inside, weight, te.const(0, dtype))
            return weight

        def index(k: Any, at: Any) -> Any:
            return self._te_inside(te, place(at, k))

        indices = te.compute((taps, count), index, name=f"index_{name}")
        weights = te.compute((taps, count), raw, name=f"weight_{name}")
        if self.resizing.excludes or self.resizing.antialias:
            weights = _te_normalized(te, weights, name)
        return indices, weights

    def _te_shrink(self, te: TensorLanguage, dtype: str) -> Any:
        if (shrink := self._shrink()) is not None:
            return te.const(shrink, dtype)
        length, count = (_te_number(te, size, dtype) for size in (self.length, self.count))
        return te.max(length / count, te.const(1, dtype))

    def te_is_inside(self, te: TensorLanguage, at: Any, dtype: str) -> Any:
        """Whether the coordinate of the element at an index is in the data."""
        x = self.te_coordinate(te, at, dtype)
        return (x >= 0) & (x <= _te_number(te, self.length - 1, dtype))

    # NumPy.

    def numpy_coordinates(self, dtype: Any) -> NDArray[Any]:
        """The coordinates of all elements."""
        x = np.arange(self.count.offset).astype(dtype)
        sizes = float(self.length.offset), float(self.count.offset)
        found: NDArray[Any] = np.asarray(self.coordinate(x, *sizes, _numpy_choose))
        return found.astype(dtype)

    def numpy_matrix(self) -> NDArray[Any]:
        """The weights of elements of the data in those of the result: ``(count, length)``."""
        length, resizing = self.length.offset, self.resizing
        rows = np.arange(self.count.offset)
        matrix = np.zeros((len(rows), length))
        if resizing.method == "nearest_neighbor":
            if (exact := self._exact_index(rows)) is not None:
                matrix[rows, exact] = 1
                return matrix
            x = self.numpy_coordinates(np.float32)
            index = np.clip(resizing.rounded(x, np.floor, np.ceil), 0, length - 1)
            matrix[rows, index.astype(int)] = 1
            return matrix
        x, taps = self.numpy_coordinates(np.float64), self.taps.offset
        for k in range(taps):
            index = np.floor(x) - (taps // 2 - 1) + k
            weight = resizing.weight(np.abs(x - index) / (self._shrink() or 1), _numpy_choose)
            if resizing.excludes:
                weight = np.where((index >= 0) & (index < length), weight, 0)
            np.add.at(matrix, (rows, np.clip(index, 0, length - 1).astype(int)), weight)
        if resizing.excludes or resizing.antialias:
            matrix /= matrix.sum(axis=1, keepdims=True)
        return matrix


def _quotient(size: IntExpr, divisor: IntExpr) -> int | None:
    """The integer that a size is a multiple of another by."""
    if divisor.constant == 0:
        return None
    times = (size // divisor).constant
    return times if times and size == divisor * times else None


def _times(factor: Any) -> Callable[[Any], Any]:
    return lambda x: x * factor


def _divided(divisor: Any) -> Callable[[Any], Any]:
    return lambda x: x / divisor


def _above_0(size: Any, choose: Choose) -> Any:
    return choose(size > 0, size, size * 0 + 1)


def _numpy_choose(condition: Any, one: Any, other: Any) -> Any:
    return cast("Any", np.where)(condition, one, other)


def _te_choose(te: TensorLanguage) -> Choose:
    def choose(condition: Any, one: Any, other: Any) -> Any:
        if isinstance(condition, bool):
            return one if condition else other
        return te.select(condition, one, other)

    return choose


def _te_number(te: TensorLanguage, size: IntExpr, dtype: str) -> Any:
    """A size as a number, or as an expression of symbols."""
    if size.is_constant:
        return float(size.offset)
    return te.cast(dtype, te.tensor.shape_of([size])[0])


def _te_normalized(te: TensorLanguage, weights: Any, name: str) -> Any:
    """The weights, whose sums over the taps are 1."""
    taps, count = weights.shape
    k = te.reduce_axis((0, taps), name="k")

    def total(at: Any) -> Any:
        return te.sum(weights(k, at), axis=k)

    def part(tap: Any, at: Any) -> Any:
        return weights(tap, at) / totals(at)

    totals = te.compute((count,), total, name=f"total_{name}")
    return te.compute(weights.shape, part, name=f"part_{name}")

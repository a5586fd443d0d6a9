"""Means, variances and standard deviations over axes."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import IntExpr
from .attributes import Bool, Int, Ints
from .conversion import accumulator
from .elementwise import FLOATS, Dtypes, short_name
from .language import TensorLanguage
from .reduction import ReductionOp, number_of_elements, reduced


@dataclass(frozen=True)
class Statistics:
    """The distance from the mean, and the variance, as functions of an element's indices."""

    distance: Callable[..., Any]
    variance: Callable[..., Any]


@dataclass(frozen=True)
class _Parts:
    """The groups of elements with a common mean: along `axes`, and in a group of channels.

    `channel` is an axis and the number of groups that it is split into.
    """

    te: TensorLanguage
    data: Any
    axes: tuple[int, ...]
    channel: tuple[int, int] | None

    def kept(self) -> list[int]:
        """The axes that index groups."""
        return [a for a in range(self.data.ndim) if a not in self.axes]

    def groups_on(self, axis: int) -> int | None:
        """The number of groups that an axis is split into; `None` for other axes."""
        return self.channel[1] if self.channel is not None and axis == self.channel[0] else None

    def each(self, axis: int, groups: int) -> Any:
        """The number of indices of an axis in one of its groups."""
        size = self.te.dim_expr(self.data.shape[axis]) // IntExpr.of(groups)
        return self.te.tensor.shape_of([size])[0]

    def index(self, *i: Any) -> list[Any]:
        """The indices of an element's group."""
        found: list[Any] = []
        for axis in self.kept():
            groups = self.groups_on(axis)
            found.append(i[axis] if groups is None else i[axis] // self.each(axis, groups))
        return found

    def first(self, *i: Any) -> Any:
        """The first element of an element's group."""
        part = dict(zip(self.kept(), self.index(*i), strict=True))
        own = {} if self.channel is None else {self.channel[0]: self.each(*self.channel)}
        return self.data(
            *(part[a] * own.get(a, 1) if a in part else 0 for a in range(self.data.ndim))
        )

    def lengths(self) -> dict[int, Any]:
        """The number of indices of each axis in a group, for axes with several."""
        own = {} if self.channel is None else {self.channel[0]: self.each(*self.channel)}
        return {a: self.data.shape[a] for a in self.axes} | own

    def sum(self, function: Callable[..., Any], name: str) -> Any:
        """The sum over each group of a function of the elements' indices."""
        te, lengths = self.te, self.lengths()
        axes = {a: te.reduce_axis((0, lengths[a]), f"r{a}") for a in sorted(lengths)}

        def element(*part: Any) -> Any:
            first = dict(zip(self.kept(), part, strict=True))
            at: list[Any] = []
            for axis in range(self.data.ndim):
                if axis not in first:
                    at.append(axes[axis])
                elif self.groups_on(axis) is None:
                    at.append(first[axis])
                else:
                    at.append(first[axis] * lengths[axis] + axes[axis])
            return te.sum(function(*at), axis=list(axes.values()))

        shape = [self.groups_on(a) or self.data.shape[a] for a in self.kept()]
        return te.compute(shape, element, name=name)

    def mean(self, sums: Any, *i: Any) -> Any:
        """The sum of an element's group, divided by its number of elements."""
        total = prod((self.te.dim_expr(s) for s in self.lengths().values()), start=IntExpr.of(1))
        (number,) = self.te.tensor.shape_of([total])
        known = isinstance(number, int)
        count = self.te.const(number, sums.dtype) if known else number.astype(sums.dtype)
        return sums(*self.index(*i)) / count


def statistics(
    te: TensorLanguage,
    data: Any,
    axes: Sequence[int],
    channel: tuple[int, int] | None = None,
) -> Statistics:
    """The statistics over `axes` and, with `channel`, over groups of the indices of an axis.

    Elements are shifted by the first one of their group, so that the mean does not lose precision
    if all are far from 0.
    """
    parts, dtype = _Parts(te, data, tuple(axes), channel), accumulator(data.dtype)

    def shifted(*i: Any) -> Any:
        return data(*i).astype(dtype) - parts.first(*i).astype(dtype)

    mean = partial(parts.mean, parts.sum(shifted, "T_sum"))

    def distance(*i: Any) -> Any:
        return shifted(*i) - mean(*i)

    def squared(*i: Any) -> Any:
        value = distance(*i)
        return value * value

    return Statistics(distance, partial(parts.mean, parts.sum(squared, "T_squares")))


def _averaged(te: TensorLanguage, total: Any, divisor: Any, name: str) -> Any:
    return te.elementwise(lambda t: t / te.cast(total.dtype, divisor), total, name=name)


def _mean(te: TensorLanguage, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    working = accumulator(x.dtype)

    def total(read: Any, ks: Any, i: Any) -> Any:
        return te.sum(read(x).astype(working), axis=ks) if ks else read(x).astype(working)

    summed = reduced(te, x, axes, keepdims, total, f"{x.name}_red")
    return _averaged(te, summed, number_of_elements(te, x, axes), "T_divide")


@irdl_op_definition
class MeanOp(ReductionOp):
    """The mean of floats, NaN for no elements; `numpy.mean`, `torch.mean`."""

    name = "relax.mean"
    DTYPES: ClassVar[Dtypes] = FLOATS
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))

    @classmethod
    def reduce(
        cls, te: TensorLanguage, x: Any, axes: tuple[int, ...], attributes: dict[str, Any]
    ) -> Any:
        return _mean(te, x, axes, attributes["keepdims"])

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        total = np.sum(x, **options)
        return total / (x.size / total.size if total.size else 1)


def mean_and_squares(
    te: TensorLanguage, x: Any, axes: Sequence[int]
) -> tuple[Any, Callable[..., Any]]:
    """The mean over `axes`, and the sum of squared distances from it as a function of indices.

    Elements are shifted by the first one, so that the mean does not lose precision if all are far
    from 0; the squares are corrected for the mean's rounding error.
    """
    working, count = accumulator(x.dtype), number_of_elements(te, x, axes)
    number = te.cast(working, count)

    def start(read: Any, ks: Any, i: Any) -> Any:
        if isinstance(count, int) and count:
            return read(x, 0).astype(working)
        return te.if_then_else(te.GT(count, 0), read(x, 0).astype(working), te.const(0, working))

    def distances(read: Any, ks: Any, i: Any) -> Any:
        distance = read(x).astype(working) - first(*i)
        return te.sum(distance, axis=ks) if ks else distance

    def squares(read: Any, ks: Any, i: Any) -> Any:
        distance = read(x).astype(working) - mean(*i)
        return te.sum(distance * distance, axis=ks) if ks else distance * distance

    def corrected(*i: Any) -> Any:
        off = above(*i) - (mean(*i) - first(*i))
        return te.max(total(*i) - number * (off * off), te.const(0, working))

    first = reduced(te, x, axes, False, start, "T_first")
    above = _averaged(te, reduced(te, x, axes, False, distances, "T_sum"), count, "T_above")
    mean = te.elementwise(lambda f, a: f + a, first, above, name="T_mean")
    total = reduced(te, x, axes, False, squares, "T_squares")
    return mean, corrected


class SpreadOp(ReductionOp, ABC):
    """The mean squared distance from the mean, with divisor number of elements - `correction`."""

    DTYPES: ClassVar[Dtypes] = FLOATS

    @classmethod
    def finish(cls, te: TensorLanguage, square: Any) -> Any:
        """The result, from the mean square."""
        return square

    @classmethod
    def reduce(
        cls, te: TensorLanguage, x: Any, axes: tuple[int, ...], attributes: dict[str, Any]
    ) -> Any:
        working = accumulator(x.dtype)
        squares = mean_and_squares(te, x, axes)[1]
        divisor = te.cast(working, number_of_elements(te, x, axes) - attributes["correction"])

        def result(read: Any, ks: Any, i: Any) -> Any:
            return cls.finish(te, squares(*i) / te.max(divisor, te.const(0, working)))

        return reduced(te, x, axes, attributes["keepdims"], result, f"T_{short_name(cls.name)}")

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        total = np.sum(x, axis=options["axis"], keepdims=True)
        count = x.size // total.size if total.size else 1
        square = np.sum((x - total / x.dtype.type(count)) ** 2, **options)
        return square / x.dtype.type(max(0, count - attributes["correction"]))


@irdl_op_definition
class VarianceOp(SpreadOp):
    """The variance; `numpy.var` with `correction` as its `ddof`, `torch.var`."""

    name = "relax.variance"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    correction = opt_prop_def(Int(default=0))


@irdl_op_definition
class StdOp(SpreadOp):
    """The square root of the variance; `numpy.std`, `torch.std`."""

    name = "relax.std"
    axis = opt_prop_def(Ints(default=None))
    keepdims = opt_prop_def(Bool(default=False))
    correction = opt_prop_def(Int(default=0))

    @classmethod
    def finish(cls, te: TensorLanguage, square: Any) -> Any:
        return te.sqrt(square)

    @classmethod
    def numpy_function(cls, x: NDArray[Any], attributes: dict[str, Any], **options: Any) -> Any:
        return np.sqrt(super().numpy_function(x, attributes, **options))

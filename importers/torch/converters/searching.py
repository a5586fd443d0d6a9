"""Positions in sorted sequences, histograms, and the most frequent elements."""

from __future__ import annotations

from typing import Any

from ....dialects.int_expr import ONE, IntExpr
from ...emitter import Value, axis_of, dims_of, dtype_of
from ..context import Context
from ..formulas import Formula
from ..registry import converts
from .sorting import sort

_SHORT = 16
"""The longest sequence whose elements are all compared, instead of a binary search."""


@converts("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(
    ctx: Context, x: Any, boundaries: Value, out_int32: bool = False, right: bool = False
) -> Value:
    """The number of boundaries below each element, or with `right` not above it."""
    dtype = ctx.common_dtype(x, boundaries)
    x, boundaries = ctx.as_tensor(x, dtype), ctx.astype(boundaries, dtype)
    return ctx.astype(_places(ctx, boundaries, x, right), ctx.dtype)


@converts("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    ctx: Context, sequence: Value, x: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Value | None = None,
) -> Value:  # fmt: skip
    """The number of elements below each element of `x`, or with ``side="right"`` not above it.

    Rows of `x` belong to rows of the sequence, which are sorted, or which `sorter` sorts.
    """
    dtype = ctx.common_dtype(x, sequence)
    x, sequence = ctx.as_tensor(x, dtype), ctx.astype(sequence, dtype)
    if sorter is not None:
        sequence = ctx.op("gather_elements", sequence, sorter, axis=len(dims_of(sequence)) - 1)
    return ctx.astype(_places(ctx, sequence, x, right or side == "right"), ctx.dtype)


def _places(ctx: Context, sequence: Value, x: Value, right: bool) -> Value:
    length = dims_of(sequence)[-1]
    if length.constant is None or length.constant <= _SHORT:
        return _counted(ctx, sequence, x, right)
    place = Formula(ctx, ctx.broadcast(ctx.number(0, "int64"), dims_of(x)))
    step = 1 << (length.constant.bit_length() - 1)
    while step:
        further = place + step
        last = further.op("minimum", length.constant) - 1
        passed = _passed(ctx, _elements(ctx, sequence, last.value), x, right)
        place = ((further <= length.constant) & Formula(ctx, passed)).where(further, place)
        step //= 2
    return place.value


def _elements(ctx: Context, sequence: Value, places: Value) -> Value:
    """The elements of the last dim at these places, which a vector has for all rows."""
    rank = len(dims_of(sequence))
    if rank == 1:
        return ctx.op("take", sequence, places, axis=0)
    return ctx.op("gather_elements", sequence, places, axis=rank - 1)


def _passed(ctx: Context, element: Value, x: Value, right: bool) -> Value:
    # As in PyTorch, all elements are before NaN.
    return ctx.op("logical_not", ctx.op("greater" if right else "greater_equal", element, x))


def _counted(ctx: Context, sequence: Value, x: Value, right: bool) -> Value:
    rank = len(dims_of(sequence))
    if rank > 1:
        sequence = ctx.op("expand_dims", sequence, axis=[rank - 1])
    passed = _passed(ctx, sequence, ctx.op("expand_dims", x, axis=[-1]), right)
    return ctx.op("sum", ctx.astype(passed, "int64"), axis=[-1])


@converts("aten.histc.default")
def histc(ctx: Context, x: Value, bins: int = 100, min: Any = 0, max: Any = 0) -> Value:
    """The numbers of elements in bins of equal width between two bounds.

    Equal bounds stand for the extrema of the elements.
    """
    own = Formula(ctx, ctx.flat(x))
    wide = own.astype("float64" if ctx.dtype == "float64" else "float32")
    low, high = wide.number(min), wide.number(max)
    if min == max:
        low, high = wide.op("min"), wide.op("max")
        low, high = (low.equals(high).where(v + d, v) for v, d in ((low, -1), (high, 1)))
    place = ((wide - low) * bins / (high - low)).astype("int64").op("minimum", bins - 1)
    # Elements out of the bounds, and NaN, have a place that does not exist.
    place = ((wide >= low) & (wide <= high)).where(place, bins)
    start = ctx.broadcast(ctx.number(0, "int64"), [IntExpr.of(bins)])
    ones = ctx.broadcast(ctx.number(1, "int64"), dims_of(place.value))
    counts = ctx.op("scatter_elements", start, place.value, ones, axis=0, reduction="add")
    return ctx.astype(counts, ctx.dtype)


@converts("aten.mode.default")
def mode(ctx: Context, x: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The smallest of the most frequent elements along a dim, and the last index of each."""
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    rank = len(dims_of(x))
    axis = axis_of(dim, rank)
    one, other = (ctx.op("expand_dims", x, axis=[a]) for a in (axis + 1, axis))
    equal = ctx.astype(ctx.op("equal", one, other), "int64")
    counts = Formula(ctx, ctx.op("sum", equal, axis=[axis + 1]))
    most = ctx.op("max", counts.value, axis=[axis], keepdims=True)
    is_frequent = counts.equals(Formula(ctx, most))
    found = _smallest(ctx, x, is_frequent, axis)
    places = ctx.op("arange", start=0, end=dims_of(x)[axis], step=1, dtype="int64")
    places = ctx.reshape(places, [dims_of(x)[a] if a == axis else ONE for a in range(rank)])
    matching = Formula(ctx, x).equals(Formula(ctx, found))
    last = ctx.op("max", matching.where(Formula(ctx, places), 0).value, axis=[axis], keepdims=True)
    kept = (found, last)
    return kept if keepdim else tuple(ctx.op("squeeze", t, axis=[axis]) for t in kept)  # pyright: ignore[reportReturnType]


def _smallest(ctx: Context, x: Value, chosen: Formula, axis: int) -> Value:
    """The smallest of the chosen elements along an axis."""
    dtype = dtype_of(x)
    inner = ctx.astype(x, "uint8") if dtype == "bool" else x
    largest = ctx.op("max", inner, axis=[axis], keepdims=True)
    kept = chosen.where(Formula(ctx, inner), Formula(ctx, largest))
    return ctx.astype(ctx.op("min", kept.value, axis=[axis], keepdims=True), dtype)


@converts("aten.nanmedian.dim")
def nanmedian_dim(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, ...]:
    """The medians along a dim, the lower of two, of elements other than NaN, and their indices."""
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    axis = axis_of(dim, len(dims_of(x)))
    values, order = sort(ctx, x, axis)  # NaNs come last
    number = ctx.op("equal", x, x)
    count = Formula(ctx, ctx.op("sum", ctx.astype(number, "int64"), axis=[axis], keepdims=True))
    place = (count - 1).op("maximum", 0).op("right_shift", 1).value
    found = [ctx.op("gather_elements", t, place, axis=axis) for t in (values, order)]
    return tuple(t if keepdim else ctx.op("squeeze", t, axis=[axis]) for t in found)


@converts("aten.nanmedian.default")
def nanmedian(ctx: Context, x: Value) -> Value:
    """The median of all elements other than NaN, the lower of two."""
    return nanmedian_dim(ctx, ctx.flat(x), 0)[0]

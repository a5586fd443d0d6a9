"""Scatters with a reduction: sums, products, means and extrema at positions of an index."""

from __future__ import annotations

from typing import Any

from ....dialects.dtypes import FLOATS, integer_range
from ....dialects.int_expr import ONE
from ...emitter import Value, axis_of, dims_of, dtype_of, is_tensor
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from .arithmetic import binary

_REDUCTIONS = {
    "add": "add",
    "amax": "max",
    "amin": "min",
    "mean": "add",
    "multiply": "mul",
    "prod": "mul",
    "sum": "add",
}
_NEUTRAL: dict[str, int] = {"add": 0, "mul": 1}


@converts("aten.scatter.reduce", "aten.scatter.value_reduce", "aten.scatter_reduce.two")
def scatter_reduce(
    ctx: Context, x: Value, dim: int, index: Value, src: Any, reduce: str,
    *, include_self: bool = True,
) -> Value:  # fmt: skip
    """`x` with elements of `src` added, multiplied, … at the positions of `index`.

    Without `include_self`, the elements of `x` there are omitted.
    """
    if reduce not in _REDUCTIONS:
        raise Unsupported(f"expected one of {', '.join(_REDUCTIONS)}, got '{reduce}'")
    operator = _REDUCTIONS[reduce]
    base = x if include_self else scattered(ctx, x, dim, index, _neutral(operator, x), "update")
    total = scattered(ctx, base, dim, index, src, operator)
    if reduce != "mean":
        return total
    ones = ctx.broadcast(ctx.number(1, dtype_of(x)), dims_of(x))
    start = ones if include_self else scattered(ctx, ones, dim, index, 0, "update")
    count = scattered(ctx, start, dim, index, 1, "add")
    return binary(ctx, "divide" if dtype_of(x) in FLOATS else "floor_divide", total, count)


def _neutral(operator: str, x: Value) -> float | int:
    dtype = dtype_of(x)
    if operator in _NEUTRAL:
        return _NEUTRAL[operator]
    if dtype in FLOATS:
        return float("-inf" if operator == "max" else "inf")
    return integer_range(dtype)[0 if operator == "max" else 1]


@converts("aten.scatter.src", "aten.scatter.value")
def scatter(ctx: Context, x: Value, dim: int, index: Value, src: Any) -> Value:
    """`x` with elements of `src` at the positions of `index`."""
    return scattered(ctx, x, dim, index, src, "update")


@converts("aten.scatter_add.default")
def scatter_add(ctx: Context, x: Value, dim: int, index: Value, src: Value) -> Value:
    """`x` with elements of `src` added at the positions of `index`."""
    return scattered(ctx, x, dim, index, src, "add")


@converts("aten.index_reduce.default")
def index_reduce(
    ctx: Context, x: Value, dim: int, index: Value, source: Value, reduce: str,
    *, include_self: bool = True,
) -> Value:  # fmt: skip
    """`x` with slices of `source` multiplied, … into the slices at these indices of a dim."""
    if not dims_of(x):
        x, source = (ctx.reshape(t, [ONE]) for t in (x, source))
        return ctx.reshape(
            index_reduce(ctx, x, 0, index, source, reduce, include_self=include_self), []
        )
    rank = len(dims_of(x))
    axis = axis_of(dim, rank)
    index = ctx.reshape(
        index, [*[ONE] * axis, *(dims_of(index) or [ONE]), *[ONE] * (rank - axis - 1)]
    )
    places = ctx.broadcast(index, dims_of(source))
    return scatter_reduce(ctx, x, axis, places, source, reduce, include_self=include_self)


@converts("aten.put.default")
def put(ctx: Context, x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """`x` with elements of `source` at these indices of the flattened tensor, or added there."""
    places, values = ctx.flat(index), ctx.flat(source)
    values = ctx.fitted(values, dims_of(places))
    reduction = "add" if accumulate else "update"
    found = ctx.op("scatter_elements", ctx.flat(x), places, values, axis=0, reduction=reduction)
    return ctx.reshape(found, dims_of(x))


def scattered(ctx: Context, x: Value, dim: int, index: Value, src: Any, reduction: str) -> Value:
    """`x` with elements of `src` combined with those at the positions of `index`."""
    if not dims_of(x):
        x, index = ctx.reshape(x, [ONE]), ctx.reshape(index, [ONE])
        src = ctx.reshape(src, [ONE]) if is_tensor(src) else src
        return ctx.reshape(scattered(ctx, x, 0, index, src, reduction), [])
    source = ctx.as_tensor(src, dtype_of(x))
    dims = dims_of(index)
    if not dims_of(source):
        source = ctx.broadcast(source, dims)
    for axis, (own, wanted) in enumerate(zip(dims_of(source), dims, strict=True)):
        if own != wanted:
            source = ctx.op(
                "strided_slice", source, axes=[axis], begin=[0], end=[wanted], assume_inbound=True
            )
    axis = axis_of(dim, len(dims_of(x)))
    return ctx.op("scatter_elements", x, index, source, axis=axis, reduction=reduction)

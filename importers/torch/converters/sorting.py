"""Sorts, top-k and medians along a dim."""

from __future__ import annotations

from typing import Any

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE, IntExpr
from ...emitter import Value, axis_of, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from .slicing import part


@converts("aten.topk.default")
def topk(
    ctx: Context, x: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Value, ...]:
    """The `k` largest or smallest elements along a dim, and their indices."""
    if isinstance(k, IntExpr):
        raise Unsupported("expected a number of elements that is known, got a symbol")
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    values, indices = ctx.fields(
        ctx.op("topk", x, k=k, axis=dim, ret_type="both", largest=largest, dtype="int64")
    )
    return values, indices


@converts("aten.sort.default", "aten.sort.stable")
def sort(
    ctx: Context, x: Value, *args: Any, dim: int = -1, descending: bool = False,
    stable: bool | None = None,
) -> tuple[Value, Value]:  # fmt: skip
    """The sorted elements along a dim, and their original indices."""
    given = [a for a in args if a is not None]
    if given and isinstance(given[0], bool):  # `stable`: all sorts here are
        given = given[1:]
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    chosen: tuple[Any, ...] = (*given, *(dim, descending)[len(given) :])
    dim, descending = chosen
    order = ctx.op("argsort", x, axis=dim, descending=descending, dtype="int64")
    return ctx.op("gather_elements", x, order, axis=axis_of(dim, len(dims_of(x)))), order


@converts("aten.kthvalue.default")
def kthvalue(
    ctx: Context, x: Value, k: int, dim: int = -1, keepdim: bool = False
) -> tuple[Value, Value]:
    """The `k`-th smallest elements along a dim, counted from 1, and their indices."""
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    axis = axis_of(dim, len(dims_of(x)))
    parts = [part(ctx, t, axis, IntExpr.of(k - 1), ONE) for t in sort(ctx, x, axis)]
    values, places = (t if keepdim else ctx.op("squeeze", t, axis=[axis]) for t in parts)
    return values, places


@converts("aten.median.dim")
def median_dim(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The medians along a dim, the lower of two, and their indices; NaN if any element is."""
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    axis = axis_of(dim, len(dims_of(x)))
    values, order = sort(ctx, x, axis)
    last = dims_of(x)[axis] - 1
    middle, place = (part(ctx, t, axis, last // 2, ONE) for t in (values, order))
    if dtype_of(x) in FLOATS:
        end, end_place = (part(ctx, t, axis, last, ONE) for t in (values, order))
        broken = ctx.op("isnan", end)  # NaNs come last
        middle = ctx.op("where", broken, end, middle)
        place = ctx.op("where", broken, end_place, place)
    if keepdim:
        return middle, place
    return ctx.op("squeeze", middle, axis=[axis]), ctx.op("squeeze", place, axis=[axis])


@converts("aten.median.default")
def median(ctx: Context, x: Value) -> Value:
    """The median of all elements, the lower of two; NaN if any is."""
    total = ONE
    for dim in dims_of(x):
        total = total * dim
    return median_dim(ctx, ctx.reshape(x, [total]), 0)[0]


@converts("aten.argsort.default", "aten.argsort.stable")
def argsort(ctx: Context, x: Value, *args: Any, **kwargs: Any) -> Value:
    """The indices that sort the elements along a dim."""
    return sort(ctx, x, *args, **kwargs)[1]

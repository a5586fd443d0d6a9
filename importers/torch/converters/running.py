"""Cumulative extrema with their indices, and cumulative sums of exponentials."""

from __future__ import annotations

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE
from ...emitter import Value, axis_of, dims_of, dtype_of
from ..context import Context
from ..formulas import Formula
from ..registry import converts


@converts("aten.cummax.default")
def cummax(ctx: Context, x: Value, dim: int) -> tuple[Value, Value]:
    """The largest elements up to each one along a dim, and their last indices."""
    return _cumulative(ctx, x, dim, False)


@converts("aten.cummin.default")
def cummin(ctx: Context, x: Value, dim: int) -> tuple[Value, Value]:
    """The smallest elements up to each one along a dim, and their last indices."""
    return _cumulative(ctx, x, dim, True)


def _cumulative(ctx: Context, x: Value, dim: int, reverses: bool) -> tuple[Value, Value]:
    if not dims_of(x):
        return x, ctx.number(0, "int64")
    dtype, rank = dtype_of(x), len(dims_of(x))
    axis = axis_of(dim, rank)
    own = Formula(ctx, ctx.astype(x, "uint8") if dtype == "bool" else x)
    own = _reversed(own) if reverses else own
    largest = own.op("cummax", axis=axis)
    # An element is the last largest one if it is as large as its own result.
    is_found = own.equals(largest) | own.op("not_equal", own)
    places = ctx.op("arange", start=0, end=dims_of(x)[axis], step=1, dtype="int64")
    places = ctx.reshape(places, [dims_of(x)[a] if a == axis else ONE for a in range(rank)])
    indices = is_found.where(Formula(ctx, places), 0).op("cummax", axis=axis)
    found = _reversed(largest) if reverses else largest
    return found.astype(dtype).value, indices.value


def _reversed(x: Formula) -> Formula:
    """Numbers in the opposite order, without overflow."""
    return -x if dtype_of(x.value) in FLOATS else ~x


@converts("aten.logcumsumexp.default")
def logcumsumexp(ctx: Context, x: Value, dim: int) -> Value:
    """The logarithm of the cumulative sum of exponentials along a dim."""
    if not dims_of(x):
        return x
    return ctx.op("logcumsumexp", x, axis=axis_of(dim, len(dims_of(x))))

"""Converters of slices, rows and parts of tensors to TVM's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ....dialects.int_expr import ZERO, IntExpr
from ....dialects.relax.operators.slicing import FAR
from ...emitter import Value, axis_of, dims_of
from ..context import Context
from ..registry import converts_as_tvm
from .data_sizes import item, real_number
from .manipulation import roll
from .slicing import narrow, select, slice_, slice_scatter, split, unbind


@converts_as_tvm("aten.slice.Tensor")
def slice_as_given(
    ctx: Context, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    """``x[start:end:step]`` along a dim, with the bounds as they are given."""
    axis = axis_of(dim, len(dims_of(x)))
    first, last = 0 if start is None else start, FAR if end is None else end
    whole = dims_of(x)[axis].constant
    known = isinstance(first, int) and isinstance(last, int)
    if not known or whole is None or (first == 0 and last >= FAR and step == 1):
        return slice_(ctx, x, dim, start, end, step)
    return ctx.op("strided_slice", x, axes=[dim], begin=[first], end=[last], strides=[step])


@converts_as_tvm("aten.slice_scatter.default")
def scatter_slice(
    ctx: Context, x: Value, src: Value, dim: int = 0, start: Any = None, end: Any = None,
    step: int = 1,
) -> Value:  # fmt: skip
    """`x` with a slice replaced by `src`."""
    axis = axis_of(dim, len(dims_of(x)))
    bounds, whole = [0 if start is None else start, FAR if end is None else end], dims_of(x)[axis]
    if whole.constant is None or not all(isinstance(b, int) for b in bounds):
        return slice_scatter(ctx, x, src, dim, start, end, step)
    first, last, _ = slice(*bounds).indices(whole.constant)
    return ctx.op("slice_scatter", x, src, start=first, end=last, step=step, axis=axis)


@converts_as_tvm("aten.copy.default")
def copy(ctx: Context, x: Value, src: Value, *_: Any) -> Value:
    """The values of `src` in the dtype and the shape of `x`."""
    return ctx.op("broadcast_to", ctx.astype(src, ctx.dtype), shape=ctx.dims)


@converts_as_tvm("aten.embedding.default")
def embedding(ctx: Context, weight: Value, indices: Value, *_: Any, **__: Any) -> Value:
    """The rows of a table at these indices, of 32 bits if these hold the number of rows."""
    rows = dims_of(weight)[0].constant
    if rows is not None and rows < 1 << 31:
        indices = ctx.astype(indices, "int32")
    return ctx.op("take", weight, indices, axis=0)


@converts_as_tvm("aten.select.int")
def take(ctx: Context, x: Value, dim: int, index: Any) -> Value:
    """The slice at one index of a dim."""
    first, whole = IntExpr.of(index), dims_of(x)[dim]
    if first.constant is not None and first.constant < 0:
        first = first + whole
    if first.constant is None:
        return select(ctx, x, dim, index)
    return ctx.op("take", x, ctx.number(first, "int64"), axis=dim)


@converts_as_tvm("aten._local_scalar_dense.default", "aten.item.default")
def item_by_take(ctx: Context, x: Value) -> IntExpr | Value:
    """The element of a tensor with one."""
    if not isinstance(ctx.result, torch.SymFloat) or len(dims_of(x)) != 1:
        return item(ctx, x)
    return real_number(ctx, ctx.op("take", x, ctx.number(0, "int64"), axis=0))


@converts_as_tvm("aten.split_with_sizes.default")
def split_tensor(ctx: Context, x: Value, sizes: Any, dim: int = 0) -> tuple[Value, ...]:
    """Consecutive parts along a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    lengths = [ctx.symbols.expr(r.shape[axis]) for r in ctx.result]
    ends = [sum(lengths[: n + 1], ZERO) for n in range(len(lengths) - 1)]
    if not ends or any(not e.is_constant for e in ends):
        return split(ctx, x, sizes, dim)
    return ctx.fields(ctx.op("split", x, indices_or_sections=ends, axis=dim))


@converts_as_tvm("aten.split.Tensor", "aten.chunk.default")
def split_evenly(ctx: Context, x: Value, sizes: Any, dim: int = 0) -> tuple[Value, ...]:
    """Consecutive parts along a dim, which are equally long."""
    axis, count = axis_of(dim, len(dims_of(x))), len(ctx.result)
    lengths = {ctx.symbols.expr(r.shape[axis]).constant for r in ctx.result}
    if count == 1 or len(lengths) != 1 or None in lengths:
        return split(ctx, x, sizes, dim)
    return ctx.fields(ctx.op("split", x, indices_or_sections=count, axis=dim))


@converts_as_tvm("aten.unbind.int")
def unbind_by_split(ctx: Context, x: Value, dim: int = 0) -> tuple[Value, ...]:
    """The slices at all indices of a dim."""
    axis, count = axis_of(dim, len(dims_of(x))), len(ctx.result)
    if count == 1 or not dims_of(x)[axis].is_constant:
        return unbind(ctx, x, dim)
    parts = ctx.op("split", x, indices_or_sections=count, axis=dim)
    return tuple(ctx.op("squeeze", ctx.field(parts, i), axis=[dim]) for i in range(count))


@converts_as_tvm("aten.narrow.default")
def slice_of_length(ctx: Context, x: Value, dim: int, start: Any, length: Any) -> Value:
    """`length` elements along a dim."""
    whole = dims_of(x)[dim].constant
    if not isinstance(start, int) or not isinstance(length, int) or whole is None:
        return narrow(ctx, x, dim, start, length)
    first = start + whole if start < 0 else start
    return ctx.op("strided_slice", x, axes=[dim], begin=[first], end=[first + length])


@converts_as_tvm("aten.roll.default")
def roll_by_slices(
    ctx: Context, x: Value, shifts: Sequence[Any], dims: Sequence[int] = ()
) -> Value:
    """The elements moved along dims, those at the end to the front: slices in the other order."""
    sizes = [d.constant for d in dims_of(x)]
    if None in sizes or 0 in sizes or not all(isinstance(n, int) for n in shifts):
        return roll(ctx, x, shifts, dims)
    if not dims:
        return ctx.reshape(_rolled(ctx, ctx.flat(x), shifts[0], 0), dims_of(x))
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled(ctx, x, shift, dim)
    return x


def _rolled(ctx: Context, x: Value, shift: int, dim: int) -> Value:
    whole = dims_of(x)[dim].constant
    assert whole is not None
    place = -shift % whole
    if place == 0:
        return x
    ends = ((0, place), (place, whole))
    first, last = (ctx.op("strided_slice", x, axes=[dim], begin=[a], end=[b]) for a, b in ends)
    return ctx.op("concat", last, first, axis=dim)

"""Gathers, scatters and selections by indices."""

from __future__ import annotations

import numpy as np

from ....dialects.bounds import is_non_negative
from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE, IntExpr, maximum
from ..context import Context
from ..data_sizes import size_of
from ..parts import numbered, product, row
from ..registry import converts
from ..tensor import Tensor, axis_of

_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


@converts("Gather")
def gather(ctx: Context, data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """The slices of an axis at indices."""
    if not data.rank:
        raise ValueError("expected a tensor of at least one dim, got a number")
    axis = axis_of(axis, data.rank)
    known = indices.known
    if known is None or known.ndim:
        return ctx.emit("take", data, indices, axis=axis)
    index, dim = indices.size("an index"), data.dims[axis]
    if index.is_constant:
        data = _with_index(ctx, data, axis, index.offset)
    place = index + dim if index.is_constant and index.offset < 0 else index
    return row(ctx, data, axis, place)


def _with_index(ctx: Context, data: Tensor, axis: int, index: int) -> Tensor:
    """The tensor with an axis that has an index; calls check it for a symbolic dim.

    They check no index of the first or last element, which all but empty dims have.
    """
    least, dim = index + 1 if index >= 0 else -index, data.dims[axis]
    if dim.is_constant and dim.offset < least:
        raise ValueError(f"expected an index of a dim of {dim}, got {index}")
    if index in (0, -1) or is_non_negative(dim - least):
        return data
    whole = maximum(dim, least)
    return ctx.fitted(data, [whole if a == axis else d for a, d in enumerate(data.dims)])


@converts("GatherElements")
def gather_elements(ctx: Context, data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """The elements at indices along an axis, and at their own places otherwise."""
    return ctx.emit("gather_elements", data, indices, axis=axis_of(axis, data.rank))


@converts("GatherND")
def gather_nd(ctx: Context, data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """The slices at index tuples, of which a batch has its own."""
    indices = ctx.fitted(indices, [*data.dims[:batch_dims], *indices.dims[batch_dims:]])
    return ctx.emit("gather_nd", data, indices, batch_dims=batch_dims)


@converts("Scatter", "ScatterElements")
def scatter_elements(
    ctx: Context,
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> Tensor:
    """The tensor with updates at indices along an axis."""
    updates = ctx.fitted(updates, indices.dims)
    options = {"axis": axis_of(axis, data.rank), "reduction": _reduction(reduction)}
    return ctx.emit("scatter_elements", data, indices, updates, **options)


@converts("ScatterND")
def scatter_nd(
    ctx: Context, data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none"
) -> Tensor:
    """The tensor with updates at index tuples."""
    depth = indices.dims[-1]
    if not depth.is_constant or depth.offset > data.rank:
        raise ValueError(f"expected index tuples for {data.rank} dims, got a length of {depth}")
    updates = ctx.fitted(updates, [*indices.dims[:-1], *data.dims[depth.offset :]])
    return ctx.emit("scatter_nd", data, indices, updates, reduction=_reduction(reduction))


def _reduction(name: str) -> str:
    if name not in _REDUCTIONS:
        raise ValueError(f"expected one of {', '.join(_REDUCTIONS)}, got '{name}'")
    return _REDUCTIONS[name]


@converts("OneHot")
def one_hot(
    ctx: Context, indices: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1
) -> Tensor:
    """The second of two values at the index along a new axis, the first elsewhere."""
    is_float = depth.dtype in FLOATS
    count = IntExpr.of(int(depth.number("a depth"))) if is_float else size_of(ctx, depth, "a depth")
    axis = axis_of(axis, indices.rank + 1)
    places = ctx.astype(indices, "int64")
    wrapped = ctx.elementwise("add", places, ctx.number(count, "int64"))
    is_negative = ctx.elementwise("less", places, ctx.array(0, "int64"))
    places = ctx.elementwise("where", is_negative, wrapped, places)
    dims = indices.dims
    rows = ctx.reshape(places, [*dims[:axis], ONE, *dims[axis:]])
    line = ctx.reshape(numbered(ctx, count), [count, *[ONE] * (len(dims) - axis)])
    off, on = (row(ctx, values, 0, IntExpr.of(i)) for i in (0, 1))
    return ctx.elementwise("where", ctx.elementwise("equal", rows, line), on, off)


@converts("ReverseSequence")
def reverse_sequence(
    ctx: Context, x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0
) -> Tensor:
    """The first elements along time in reverse; each row of the batch has a length."""
    order = [time_axis, batch_axis, *(a for a in range(x.rank) if a not in (time_axis, batch_axis))]
    moved = ctx.permute(x, order)
    steps, batch = moved.dims[:2]
    lengths = ctx.fitted(lengths, [batch])
    time = ctx.reshape(numbered(ctx, steps), [steps, ONE])
    last = ctx.elementwise("subtract", lengths, ctx.array(1, "int64"))
    is_inside = ctx.elementwise("less_equal", time, last)
    places = ctx.elementwise("where", is_inside, ctx.elementwise("subtract", last, time), time)
    found = ctx.emit("index_tensor", moved, places, numbered(ctx, batch))
    return ctx.permute(found, [order.index(a) for a in range(x.rank)])


@converts("TensorScatter")
def tensor_scatter(
    ctx: Context,
    cache: Tensor,
    update: Tensor,
    starts: Tensor | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Tensor:
    """A cache with an update along an axis, from an index of each row of the batch on."""
    if mode not in ("linear", "circular"):
        raise ValueError(f"expected linear or circular, got '{mode}'")
    axis = axis_of(axis, cache.rank)
    order = [0, axis, *(a for a in range(1, cache.rank) if a != axis)]
    moved, new = (ctx.permute(t, order) for t in (cache, update))
    batch, size, *rest = moved.dims
    new = ctx.fitted(new, [batch, new.dims[1], *rest])
    first = ctx.array(np.zeros(1), "int64") if starts is None else ctx.fitted(starts, [batch])
    offsets = ctx.elementwise(
        "subtract", numbered(ctx, size), ctx.reshape(first, [*first.dims, ONE])
    )
    if mode == "circular":
        offsets = ctx.elementwise("floor_mod", offsets, ctx.number(size, "int64"))
    rows = ctx.reshape(numbered(ctx, batch), [batch, ONE])
    taken = ctx.emit("index_tensor", new, rows, offsets)
    kept = _outside(ctx, offsets, new.dims[1])
    kept = ctx.reshape(kept, [*kept.dims, *[ONE] * len(rest)])
    found = ctx.elementwise("where", kept, moved, taken)
    return ctx.permute(found, [order.index(a) for a in range(cache.rank)])


def _outside(ctx: Context, places: Tensor, length: IntExpr) -> Tensor:
    before = ctx.elementwise("less", places, ctx.array(0, "int64"))
    after = ctx.elementwise("greater_equal", places, ctx.number(length, "int64"))
    return ctx.elementwise("logical_or", before, after)


@converts("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(ctx: Context, x: Tensor, indices: Tensor) -> Tensor:
    """The columns at indices of the last axis."""
    places = ctx.reshape(indices, [product(indices.dims)])
    if x.rank == 1:
        x = ctx.reshape(x, [ONE, *x.dims])
    return ctx.emit("take", x, places, axis=x.rank - 1)

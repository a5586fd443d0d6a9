"""Gathers and assignments by tensors of indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from ....dialects.int_expr import ONE
from ...emitter import Value, axis_of, dims_of, dtype_of
from ..context import Context
from ..registry import converts
from .data_sizes import expanded


@converts("aten.embedding.default")
def embedding(ctx: Context, weight: Value, indices: Value, *_: Any, **__: Any) -> Value:
    """The rows of a table at these indices."""
    return ctx.op("take", weight, indices, axis=0)


@converts("aten.index_select.default")
def index_select(ctx: Context, x: Value, dim: int, index: Value) -> Value:
    """The slices at these indices of a dim."""
    if not dims_of(x):
        return x
    axis = axis_of(dim, len(dims_of(x)))
    index = index if dims_of(index) else ctx.op("expand_dims", index, axis=[0])
    return ctx.op("take", x, index, axis=axis)


@converts("aten.take.default")
def take(ctx: Context, x: Value, index: Value) -> Value:
    """The elements at these indices of the flattened tensor."""
    return ctx.op("take", ctx.flat(x), index, axis=0)


@converts("aten.gather.default")
def gather(ctx: Context, x: Value, dim: int, index: Value, *_: Any, **__: Any) -> Value:
    """``x[index[i, j], j]`` for dim 0."""
    if not dims_of(x):
        return ctx.broadcast(ctx.reshape(x, [ONE]), ctx.dims) if ctx.dims else x
    return ctx.op("gather_elements", x, index, axis=dim)


@converts("aten.index.Tensor")
def index(ctx: Context, x: Value, indices: Sequence[Value | None]) -> Value:
    """``x[i0, i1, …]`` with integer tensors, which broadcast, or None for a whole dim."""
    given = {a: t for a, t in enumerate(expanded(ctx, list(indices))) if t is not None}
    axes = list(given)
    if len(axes) == 1:
        return ctx.op("take", x, given[axes[0]], axis=axes[0])
    rank = len(dims_of(x))
    others = [a for a in range(rank) if a not in given]
    found = ctx.op("index_tensor", ctx.permute(x, [*axes, *others]), *given.values())
    return ctx.permute(found, _in_place(axes, rank, len(dims_of(found))))


def _in_place(axes: list[int], rank: int, found: int) -> list[int]:
    """The permutation from a gather with the indices' dims first to PyTorch's order of dims.

    The dims of indices replace those that they index if these are adjacent; else they come first.
    """
    if axes != list(range(axes[0], axes[-1] + 1)):
        return list(range(found))
    width = found - (rank - len(axes))
    after = width + axes[0]
    return [*range(width, after), *range(width), *range(after, found)]


@converts("aten.index_put.default")
def index_put(
    ctx: Context, x: Value, indices: Sequence[Value | None], values: Value,
    accumulate: bool = False,
) -> Value:  # fmt: skip
    """`x` with `values` at the positions of an index."""
    given = [t for t in indices if t is not None]
    if len(given) == 1 and dtype_of(given[0]) == "bool" and not accumulate:
        if (placed := _masked_put(ctx, x, list(indices), values)) is not None:
            return placed
    indices = expanded(ctx, list(indices))
    given = [t for t in indices if t is not None]
    axes, rank = [a for a, t in enumerate(indices) if t is not None], len(dims_of(x))
    order = [*axes, *(a for a in range(rank) if a not in axes)]
    front = ctx.permute(x, order)
    shape = dims_of(ctx.op("index_tensor", front, *given))
    placed = _in_place(axes, rank, len(shape))
    whole = [shape[a] for a in placed]
    values = ctx.broadcast(ctx.fitted(values, whole), whole)
    values = ctx.permute(values, [placed.index(a) for a in range(len(shape))])
    result = ctx.op("index_put", front, *given, values, accumulate=accumulate)
    return ctx.permute(result, [order.index(a) for a in range(rank)])


def _masked_put(ctx: Context, x: Value, indices: list[Value | None], values: Value) -> Value | None:
    """The result for values of the dims after the mask, by a choice; None for other values."""
    axis = next(a for a, t in enumerate(indices) if t is not None)
    mask = indices[axis]
    assert mask is not None
    rank, own = len(dims_of(x)), len(dims_of(mask))
    if len(dims_of(values)) > rank - axis - own:
        return None
    mask = ctx.fitted(mask, dims_of(x)[axis : axis + own])
    mask = ctx.reshape(mask, [*[ONE] * axis, *dims_of(mask), *[ONE] * (rank - axis - own)])
    values = ctx.fitted(ctx.astype(values, dtype_of(x)), dims_of(x))
    return ctx.op("where", mask, values, x)


@converts("aten.masked_scatter.default")
def masked_scatter(ctx: Context, x: Value, mask: Value, source: Value) -> Value:
    """`x` with the elements of `source`, in their order, where the mask holds."""
    dims = ctx.dims
    chosen = ctx.broadcast(mask, dims)
    count = reduce(mul, dims, ONE).constant
    dtype = "int32" if count is not None and count < 1 << 31 else "int64"
    before = ctx.op("cumsum", ctx.flat(chosen), axis=0, dtype=dtype)
    places = ctx.op("subtract", before, ctx.number(1, dtype))
    found = ctx.reshape(ctx.op("take", ctx.flat(source), places, axis=0), dims)
    return ctx.op("where", chosen, found, ctx.broadcast(x, dims))

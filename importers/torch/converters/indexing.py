"""Elements chosen or replaced by tensors of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.int_expr import ONE
from ..context import Context, Value, axis_of, dims_of, dtype_of
from ..registry import Unsupported, converts


@converts("aten.embedding.default")
def embedding(ctx: Context, weight: Value, indices: Value, *_: Any, **__: Any) -> Value:
    """The rows of a table at these indices."""
    return ctx.op("take", weight, indices, axis=0)


@converts("aten.index_select.default")
def index_select(ctx: Context, x: Value, dim: int, index: Value) -> Value:
    """The parts at these places of a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    index = index if dims_of(index) else ctx.op("expand_dims", index, axis=[0])
    return ctx.op("take", x, index, axis=axis)


@converts("aten.gather.default")
def gather(ctx: Context, x: Value, dim: int, index: Value, *_: Any, **__: Any) -> Value:
    """``x[index[i, j], j]`` for dim 0."""
    return ctx.op("gather_elements", x, index, axis=axis_of(dim, len(dims_of(x))))


@converts("aten.index.Tensor")
def index(ctx: Context, x: Value, indices: Sequence[Value | None]) -> Value:
    """``x[i0, i1, …]`` with tensors of integers, which broadcast, or none for a whole dim."""
    given = {axis: t for axis, t in enumerate(indices) if t is not None}
    _refuse_masks(given.values())
    axes = list(given)
    if len(axes) == 1:
        return ctx.op("take", x, given[axes[0]], axis=axes[0])
    rank = len(dims_of(x))
    others = [a for a in range(rank) if a not in given]
    found = ctx.op("index_tensor", ctx.permute(x, [*axes, *others]), *given.values())
    if axes == list(range(axes[0], axes[-1] + 1)):
        # Indices of neighbouring dims leave their result in place, others put it in front.
        width = len(dims_of(found)) - len(others)
        before = axes[0]
        order = [
            *range(width, width + before),
            *range(width),
            *range(width + before, width + len(others)),
        ]
        return ctx.permute(found, order)
    return found


def _refuse_masks(tensors: Any) -> None:
    if any(dtype_of(t) == "bool" for t in tensors):
        raise Unsupported(
            "expected indices that are integers, got a mask",
            "use torch.where(mask, a, b): the shape of the result depends on data",
        )


@converts("aten.index_put.default")
def index_put(
    ctx: Context, x: Value, indices: Sequence[Value | None], values: Value,
    accumulate: bool = False,
) -> Value:  # fmt: skip
    """`x` with `values` at the places of an index."""
    given = [t for t in indices if t is not None]
    if len(given) == 1 and dtype_of(given[0]) == "bool" and not dims_of(values) and not accumulate:
        return _masked_put(ctx, x, list(indices), values)
    _refuse_masks(given)
    if len(given) != len(indices):
        raise Unsupported("expected indices of the leading dims, got a slice among them")
    shape = dims_of(ctx.op("index_tensor", x, *given))
    return ctx.op("index_put", x, *given, ctx.broadcast(values, shape), accumulate=accumulate)


def _masked_put(ctx: Context, x: Value, indices: list[Value | None], values: Value) -> Value:
    axis = next(a for a, t in enumerate(indices) if t is not None)
    mask = indices[axis]
    assert mask is not None
    rank, own = len(dims_of(x)), len(dims_of(mask))
    mask = ctx.reshape(mask, [*[ONE] * axis, *dims_of(mask), *[ONE] * (rank - axis - own)])
    return ctx.op("where", mask, ctx.astype(values, dtype_of(x)), x)


@converts("aten.scatter.src", "aten.scatter.value")
def scatter(ctx: Context, x: Value, dim: int, index: Value, src: Any) -> Value:
    """`x` with elements of `src` at the places of `index`."""
    return _scattered(ctx, x, dim, index, src, "update")


@converts("aten.scatter_add.default")
def scatter_add(ctx: Context, x: Value, dim: int, index: Value, src: Value) -> Value:
    """`x` with elements of `src` added at the places of `index`."""
    return _scattered(ctx, x, dim, index, src, "add")


def _scattered(ctx: Context, x: Value, dim: int, index: Value, src: Any, reduction: str) -> Value:
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

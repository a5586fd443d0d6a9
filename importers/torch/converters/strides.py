"""Views by strides: elements of a tensor's memory at multiples of steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

import torch

from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts


@converts("aten.as_strided.default", "aten.as_strided_copy.default")
def as_strided(
    ctx: Context, x: Value, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any = None
) -> Value:
    """The elements at multiples of strides in the memory of a tensor; a slice of it if in a row."""
    memory, _ = _memory(ctx, x)
    start, count = _start(ctx, size, stride, storage_offset), reduce(mul, size, 1)
    if not _is_row(size, stride):
        return ctx.op("take", memory, _places(ctx, start, size, stride), axis=0)
    if dims_of(memory) != [IntExpr.of(count)]:
        memory = ctx.op("strided_slice", memory, axes=[0], begin=[start], end=[start + count])
    return ctx.reshape(memory, [IntExpr.of(n) for n in size])


@converts("aten.as_strided_scatter.default")
def as_strided_scatter(
    ctx: Context, x: Value, src: Value, size: Sequence[Any], stride: Sequence[Any],
    storage_offset: Any = None,
) -> Value:  # fmt: skip
    """A tensor whose elements at multiples of strides in its memory are those of `src`."""
    memory, order = _memory(ctx, x)
    start = _start(ctx, size, stride, storage_offset)
    places = ctx.flat(_places(ctx, start, size, stride))
    written = ctx.op("scatter_elements", memory, places, ctx.flat(src), axis=0)
    whole = ctx.reshape(written, [dims_of(x)[a] for a in order])
    return ctx.permute(whole, [order.index(a) for a in range(len(order))])


def _memory(ctx: Context, x: Value) -> tuple[Value, list[int]]:
    """The elements in the order of PyTorch's memory, and the order of dims there."""
    base = _base(ctx)
    sizes, strides = list(base.shape), list(base.stride())
    order = sorted(range(len(sizes)), key=lambda a: (-strides[a], sizes[a] == 1, a))
    step = 1
    for axis in reversed(order):
        if sizes[axis] != 1 and strides[axis] != step:
            raise Unsupported(
                "expected a tensor whose elements fill its memory", "call contiguous() before"
            )
        step *= sizes[axis]
    return ctx.flat(ctx.permute(x, order)), order


def _base(ctx: Context) -> torch.Tensor:
    """PyTorch's tensor that the strides are for."""
    base = None if ctx.node is None else ctx.node.args[0]
    value = getattr(base, "meta", {}).get("val")
    if not isinstance(value, torch.Tensor) or any(
        not isinstance(n, int) for n in (*value.shape, *value.stride(), value.storage_offset())
    ):
        raise Unsupported("expected a view of a tensor whose sizes are known, got symbols")
    return value


def _is_row(size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether a view has elements in a row, in their order."""
    step = 1
    for count, own in zip(reversed(size), reversed(stride), strict=True):
        if count != 1 and own != step:
            return False
        step *= count
    return True


def _start(ctx: Context, size: Sequence[Any], stride: Sequence[Any], offset: Any) -> int:
    """The place of the first element; raises Unsupported if a place is outside of the memory."""
    base = _base(ctx)
    start = 0 if offset is None else offset - base.storage_offset()
    known = [n for n in (*size, *stride, start) if isinstance(n, int)]
    if len(known) < 2 * len(size) + 1:
        raise Unsupported("expected sizes and strides that are known, got symbols")
    last = start + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if reduce(mul, size, 1) and not 0 <= start <= last < base.numel():
        raise Unsupported(
            f"expected places in the memory of the tensor, of {base.numel()} elements, "
            f"got {start} to {last}"
        )
    return start


def _places(ctx: Context, start: int, size: Sequence[int], stride: Sequence[int]) -> Value:
    places = ctx.number(start, "int64")
    for count, step in zip(size, stride, strict=True):
        steps = ctx.op("arange", start=0, end=count, step=1, dtype="int64")
        steps = ctx.op("multiply", steps, ctx.number(step, "int64"))
        places = ctx.op("add", ctx.op("expand_dims", places, axis=[-1]), steps)
    return ctx.broadcast(places, [IntExpr.of(n) for n in size])

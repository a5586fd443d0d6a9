"""Parts of tensors along an axis, and their inverse; known values stay known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

import numpy as np

from ...dialects.int_expr import ONE, ZERO, IntExpr
from .context import Context
from .fold_values import alike
from .tensor import Tensor, axis_of


def part(
    ctx: Context, x: Tensor, axis: int, start: IntExpr, length: IntExpr, step: int = 1
) -> Tensor:
    """`length` elements along an axis from a start, which are in bounds."""
    if (start, length, step) == (ZERO, x.dims[axis], 1):
        return x
    if x.known is not None and start.is_constant and length.is_constant:
        chosen = start.offset + np.arange(length.offset) * step
        return ctx.known(np.take(x.known, chosen, axis), x.dtype)
    ends, strides = [start + length * step], None if step == 1 else [step]
    options = {"axes": [axis], "begin": [start], "end": ends, "strides": strides}
    return ctx.emit("strided_slice", x, **options, assume_inbound=True)


def parts(
    ctx: Context, x: Tensor, axis: int, lengths: Sequence[IntExpr], *, is_even: bool
) -> list[Tensor]:
    """Parts along an axis, whose lengths are those of the axis in all.

    With `is_even` their lengths are equal, but for the last, which may be shorter.
    """
    starts = [sum(lengths[:i], ZERO) for i in range(len(lengths))]
    if x.known is None and len(starts) > 1 and all(n.is_constant for n in lengths):
        length, total = lengths[0].offset, sum(n.offset for n in lengths)
        is_even = is_even and length == -(-total // len(starts))
        cuts = len(starts) if is_even else [s.offset for s in starts[1:]]
        return ctx.emit_fields("split", x, indices_or_sections=cuts, axis=axis)
    return [part(ctx, x, axis, s, n) for s, n in zip(starts, lengths, strict=True)]


def row(ctx: Context, x: Tensor, axis: int, index: IntExpr) -> Tensor:
    """The slice at one index of an axis, without the axis."""
    chosen = part(ctx, x, axis, index, ONE)
    return ctx.reshape(chosen, [*x.dims[:axis], *x.dims[axis + 1 :]])


def joined(ctx: Context, tensors: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors in a row along an axis; other dims are equal, or checked on calls."""
    if not tensors:
        raise ValueError("expected tensors to concatenate, got none")
    axis = axis_of(axis, tensors[0].rank)
    if len(tensors) == 1:
        return tensors[0]
    dtypes = list(dict.fromkeys(t.dtype for t in tensors))
    if len(dtypes) > 1:
        raise ValueError(f"expected tensors of one dtype, got {' and '.join(dtypes)}")
    known = [t.known for t in tensors]
    if all(k is not None for k in known):
        values = np.concatenate(alike(*(k for k in known if k is not None)), axis)
        return ctx.known(values, tensors[0].dtype)
    dims = common_dims(tensors)
    fitted = [ctx.fitted(t, [*dims[:axis], t.dims[axis], *dims[axis + 1 :]]) for t in tensors]
    return ctx.emit("concat", *fitted, axis=axis)


def stacked(ctx: Context, tensors: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors of one shape along a new axis of the result."""
    if not tensors:
        raise ValueError("expected tensors to stack, got none")
    axis = axis_of(axis, tensors[0].rank + 1)
    return joined(ctx, [_row(ctx, t, axis) for t in tensors], axis)


def _row(ctx: Context, x: Tensor, axis: int) -> Tensor:
    """The tensor with a dim of 1 before an axis."""
    if x.known is None:
        return ctx.emit("expand_dims", x, axis=[axis])
    return ctx.reshape(x, [*x.dims[:axis], ONE, *x.dims[axis:]])


def common_dims(tensors: Sequence[Tensor]) -> list[IntExpr]:
    """The dims of tensors of one rank: of different ones at an axis the constant."""
    ranks = {t.rank for t in tensors}
    if len(ranks) > 1:
        raise ValueError(f"expected tensors of one rank, got {', '.join(map(str, sorted(ranks)))}")
    columns = zip(*(t.dims for t in tensors), strict=True)
    return [next((d for d in dims if d.is_constant), dims[0]) for dims in columns]


def product(dims: Sequence[IntExpr]) -> IntExpr:
    """The number of elements of a tensor with these dims."""
    return reduce(mul, dims, ONE)


def numbered(ctx: Context, count: IntExpr, start: IntExpr = ZERO) -> Tensor:
    """The integers from a start on, as a vector of int64."""
    return ctx.emit("arange", start=start, end=start + count, step=1, dtype="int64")

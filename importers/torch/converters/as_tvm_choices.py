"""Converters of losses, classes, masks and mixtures to TVM's operators."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

from torch import fx

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE
from ...emitter import Value, dims_of, dtype_of, is_tensor
from ..context import Context
from ..registry import converts_as_tvm
from .arithmetic import add, binary, multiply
from .as_tvm import full_like
from .elementwise import masked_fill
from .indexing import masked_scatter
from .manipulation import reshape
from .searching import bucketize

_REDUCTIONS = ("none", "mean", "sum")
"""The reductions of losses by PyTorch's numbers."""


def _of_classes(
    x: fx.Node, target: fx.Node, weight: Any = None, reduction: int = 1, ignore_index: Any = -100,
    label_smoothing: float = 0.0,
) -> bool:  # fmt: skip
    """Whether the targets of a cross entropy are classes of vectors, and only these count."""
    is_float = target.meta["val"].dtype.is_floating_point
    return x.meta["val"].dim() <= 2 and not is_float and label_smoothing == 0


@converts_as_tvm("aten.cross_entropy_loss.default", when=_of_classes)
def cross_entropy(
    ctx: Context, x: Value, target: Value, weight: Value | None = None, reduction: int = 1,
    ignore_index: int = -100, label_smoothing: float = 0.0,
) -> Value:  # fmt: skip
    """The negative log likelihood of the target's class among the last dim."""
    operands = [ctx.op("nn.log_softmax", x, axis=-1), target, *([] if weight is None else [weight])]
    named = {"reduction": _REDUCTIONS[reduction], "ignore_index": ignore_index}
    return ctx.op("nn.nll_loss", *operands, **named)


@converts_as_tvm("aten.one_hot.default")
def one_hot(ctx: Context, x: Value, num_classes: int = -1) -> Value:
    """1 at the index along a new last dim, 0 elsewhere."""
    return ctx.op("one_hot", x, on_value=1, off_value=0, depth=ctx.dims[-1], axis=-1)


@converts_as_tvm("aten.bucketize.Tensor")
def places(
    ctx: Context, x: Value, boundaries: Value, out_int32: bool = False, right: bool = False
) -> Value:
    """The number of boundaries below each element, or with `right` not above it."""
    if dtype_of(x) != dtype_of(boundaries):
        return bucketize(ctx, x, boundaries, out_int32, right)
    return ctx.op("bucketize", x, boundaries, out_int32=out_int32, right=right)


@converts_as_tvm("aten.lerp.Tensor", "aten.lerp.Scalar")
def lerp(ctx: Context, x: Value, end: Value, weight: Any) -> Value:
    """``x + weight * (end - x)``."""
    step = multiply(ctx, weight, binary(ctx, "subtract", end, x))
    return binary(ctx, "add", x, step, ctx.dtype)


@converts_as_tvm("aten.add.Tensor")
def add_also_bools(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Value:
    """``x + alpha * other``; of bools whether one is true."""
    are_bools = all(is_tensor(v) and dtype_of(v) == "bool" for v in (x, other))
    return ctx.op("add", x, other) if are_bools and alpha == 1 else add(ctx, x, other, alpha)


@converts_as_tvm("aten.mul.Tensor")
def multiply_also_bools(ctx: Context, x: Any, other: Any) -> Value:
    """``x * other``; of bools whether both are true."""
    are_bools = all(is_tensor(v) and dtype_of(v) == "bool" for v in (x, other))
    return ctx.op("multiply", x, other) if are_bools else multiply(ctx, x, other)


@converts_as_tvm("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def filled(ctx: Context, x: Value, mask: Value, value: Any) -> Value:
    """`value` where the mask holds, else `x`."""
    if is_tensor(value) or dims_of(x) != ctx.dims or dtype_of(x) not in FLOATS:
        return masked_fill(ctx, x, mask, value)
    return ctx.op("where", mask, full_like(ctx, x, value), x)


@converts_as_tvm("aten.masked_scatter.default")
def scattered(ctx: Context, x: Value, mask: Value, source: Value) -> Value:
    """`x` with the elements of `source`, in their order, where the mask holds."""
    count = reduce(mul, ctx.dims, ONE).constant
    if dims_of(x) != ctx.dims or dims_of(mask) != ctx.dims or count is None or count >> 31:
        return masked_scatter(ctx, x, mask, source)
    before = ctx.op("cumsum", ctx.flat(mask), axis=0, dtype="int32")
    places = ctx.op("subtract", before, ctx.number(1, "int32"))
    found = ctx.op("take", ctx.flat(source), places, axis=0)
    return ctx.op("where", mask, ctx.reshape(found, ctx.dims), x)


@converts_as_tvm("aten.view.default", "aten.reshape.default")
def reshape_as_given(ctx: Context, x: Value, shape: Any) -> Value:
    """The elements in another shape; `x` if the shape is its own without -1."""
    if -1 in shape and dims_of(x) == ctx.dims:
        return ctx.op("reshape", x, shape=ctx.dims)
    return reshape(ctx, x, shape)

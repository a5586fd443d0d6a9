"""Matrix products."""

from __future__ import annotations

from typing import Any

from ....dialects import relax
from ..context import Context, Value, dims_of, dtype_of, permutation
from ..registry import converts
from .arithmetic import binary


@converts("aten.linear.default")
def linear(ctx: Context, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """``x @ weight.T + bias``."""
    return ctx.op("linear", x, weight, *(() if bias is None else (bias,)))


@converts("aten.mm.default", "aten.bmm.default", "aten.matmul.default", "aten.mv.default",
          "aten.dot.default")  # fmt: skip
def matmul(ctx: Context, x: Value, other: Value) -> Value:
    """``x @ other``; with a transposed matrix it is a linear layer."""
    weight = _transposed_matrix(other)
    if weight is not None:
        return ctx.op("linear", x, weight)
    return ctx.op("matmul", x, other)


def _transposed_matrix(value: Value) -> Value | None:
    """The matrix whose transpose a value is, if it is one."""
    owner = value.owner
    if isinstance(owner, relax.OPERATORS["relax.permute_dims"]) and permutation(owner) == [1, 0]:
        return owner.operands[0]
    return None


@converts("aten.addmm.default")
def addmm(ctx: Context, x: Value, mat1: Value, mat2: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    """``beta * x + alpha * (mat1 @ mat2)``."""
    weight = _transposed_matrix(mat2)
    if weight is not None and (beta, alpha) == (1, 1) and dims_of(x) == dims_of(weight)[:1]:
        return ctx.op("linear", mat1, weight, x)
    return _sum(ctx, x, ctx.op("matmul", mat1, mat2), beta, alpha)


@converts("aten.baddbmm.default", "aten.addmv.default")
def baddbmm(
    ctx: Context, x: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1
) -> Value:
    """``beta * x + alpha * (batch1 @ batch2)``."""
    return _sum(ctx, x, ctx.op("matmul", batch1, batch2), beta, alpha)


@converts("aten.addbmm.default")
def addbmm(
    ctx: Context, x: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1
) -> Value:
    """``beta * x + alpha * sum(batch1 @ batch2)`` over the batch."""
    product = ctx.op("matmul", batch1, batch2)
    return _sum(ctx, x, ctx.op("sum", product, axis=[0]), beta, alpha)


def _sum(ctx: Context, x: Value, product: Value, beta: Any, alpha: Any) -> Value:
    dtype = dtype_of(product)
    if alpha != 1:
        product = binary(ctx, "multiply", product, alpha, dtype)
    if beta == 0:
        return product
    x = x if beta == 1 else binary(ctx, "multiply", x, beta, dtype)
    return ctx.op("add", product, x)


@converts("aten.outer.default", "aten.ger.default")
def outer(ctx: Context, x: Value, vec2: Value) -> Value:
    """The products of all pairs of elements of two vectors."""
    column = ctx.op("expand_dims", x, axis=[1])
    return binary(ctx, "multiply", column, vec2)

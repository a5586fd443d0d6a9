"""Matmuls, and scaled dot product attention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from ....dialects import relax
from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of, dtype_of, permutation
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from .arithmetic import binary


@converts("aten.linear.default")
def linear(ctx: Context, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """``x @ weight.T + bias``."""
    return ctx.op("linear", x, weight, *(() if bias is None else (bias,)))


@converts("aten.mm.default", "aten.bmm.default", "aten.matmul.default", "aten.mv.default",
          "aten.dot.default")  # fmt: skip
def matmul(ctx: Context, x: Value, other: Value) -> Value:
    """``x @ other``; with a transposed matrix, `linear`."""
    weight = _transposed(other)
    if weight is not None:
        return ctx.op("linear", x, weight)
    return ctx.op("matmul", x, other)


@converts("aten._int_mm.default")
def int_mm(ctx: Context, x: Value, other: Value) -> Value:
    """``x @ other`` of int8 or uint8 as int32."""
    if dtype_of(x) != dtype_of(other):
        x, other = (ctx.astype(v, "int16") for v in (x, other))
    return ctx.op("matmul", x, other, out_dtype="int32")


def _transposed(value: Value, axes: Sequence[int] = (1, 0)) -> Value | None:
    """The operand of a transpose with these axes; `None` for other values."""
    owner = value.owner
    if isinstance(owner, relax.OPERATORS["relax.permute_dims"]):
        return owner.operands[0] if permutation(owner) == list(axes) else None
    return None


@converts("aten._grouped_mm.default", "transformers.grouped_mm_fallback.default")
def grouped_mm(
    ctx: Context, x: Value, weight: Value, offs: Value | None = None, bias: Value | None = None,
    out_dtype: Any = None,
) -> Value:  # fmt: skip
    """Rows of `x` times the matrices of their groups, which end at the offsets."""
    if len(dims_of(x)) != 2 or len(dims_of(weight)) != 3 or offs is None or bias is not None:
        raise Unsupported("expected a matrix whose rows are in groups, without a bias")
    own = _transposed(weight, [0, 2, 1])
    if own is not None:
        return ctx.op("grouped_matmul", x, own, offs, transpose_rhs=True)
    return ctx.op("grouped_matmul", x, weight, offs)


@converts("aten.addmm.default", "aten._sparse_addmm.default")
def addmm(ctx: Context, x: Value, mat1: Value, mat2: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    """``beta * x + alpha * (mat1 @ mat2)``."""
    weight = _transposed(mat2)
    if weight is not None and (beta, alpha) == (1, 1) and dims_of(x) == dims_of(weight)[:1]:
        return ctx.op("linear", mat1, weight, x)
    return scaled_sum(ctx, x, ctx.op("matmul", mat1, mat2), beta, alpha)


@converts("aten.baddbmm.default", "aten.addmv.default")
def baddbmm(
    ctx: Context, x: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1
) -> Value:
    """``beta * x + alpha * (batch1 @ batch2)``."""
    return scaled_sum(ctx, x, ctx.op("matmul", batch1, batch2), beta, alpha)


@converts("aten.addbmm.default")
def addbmm(
    ctx: Context, x: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1
) -> Value:
    """``beta * x + alpha * sum(batch1 @ batch2)`` over the batch."""
    product = ctx.op("matmul", batch1, batch2)
    return scaled_sum(ctx, x, ctx.op("sum", product, axis=[0]), beta, alpha)


def scaled_sum(ctx: Context, x: Value, product: Value, beta: Any, alpha: Any) -> Value:
    """``beta * x + alpha * product``."""
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


_HEADS_LAST = [0, 2, 1, 3]


@converts("aten.scaled_dot_product_attention.default")
def scaled_dot_product_attention(
    ctx: Context, query: Value, key: Value, value: Value, attn_mask: Value | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:  # fmt: skip
    """``softmax(query @ key.T * scale + mask) @ value``, in (batch, head, position, feature)."""
    if dropout_p > 0:
        raise Unsupported("attention with dropout", "call model.eval() before the export")
    mask = None if attn_mask is None else _for_batch(ctx, attn_mask)
    query, key, value = (_of_rank_4(ctx, t) for t in _fitting(ctx, query, key, value))
    permuted = [ctx.permute(t, _HEADS_LAST) for t in (query, key, value)]
    bias = () if mask is None else (_bias(ctx, _of_rank_4(ctx, mask), query, key),)
    # PyTorch's causal mask is aligned to the top left corner, for any lengths.
    causal = "TopLeft" if is_causal else None
    result = ctx.op("nn.attention", *permuted, *bias, scale=scale, causal_mask=causal)
    return ctx.reshape(ctx.permute(result, _HEADS_LAST), ctx.dims)


def _fitting(ctx: Context, query: Value, key: Value, value: Value) -> list[Value]:
    """The tensors, with run-time checks of equal batches and equal lengths of keys and values."""
    dims, length = dims_of(query), dims_of(key)[-2]
    kept = 2 if len(dims) < 4 else 3  # the number of heads may differ
    batch = ctx.dims[:-kept]
    query, key, value = (
        ctx.broadcast(t, [*batch, *dims_of(t)[-kept:]]) for t in (query, key, value)
    )
    own = dims_of(value)
    return [query, key, ctx.fitted(value, [*own[:-2], length, own[-1]])]


def _of_rank_4(ctx: Context, x: Value) -> Value:
    dims = dims_of(x)
    if len(dims) == 4:
        return x
    if len(dims) > 4:
        return ctx.reshape(x, [reduce(mul, dims[:-3]), *dims[-3:]])
    # Without a batch, or with batch and heads in one dim.
    return ctx.reshape(x, [*[IntExpr.of(1)] * (4 - len(dims)), *dims])


def _for_batch(ctx: Context, mask: Value) -> Value:
    """The mask broadcast to all dims of the batch, if these are flattened to one."""
    batch, own = ctx.dims[:-3], dims_of(mask)
    if len(batch) < 2 or len(own) < 4:
        return mask
    return ctx.broadcast(mask, [*batch, *own[-3:]])


def _bias(ctx: Context, mask: Value, query: Value, key: Value) -> Value:
    """The mask as an additive bias of shape (batch, head, query, key); batch and head may be 1."""
    dtype = dtype_of(query)
    if dtype_of(mask) == "bool":
        zero, never = ctx.number(0, dtype), ctx.number(float("-inf"), dtype)
        mask = ctx.op("where", mask, zero, never)
    batch, heads, _, _ = dims_of(mask)
    return ctx.broadcast(mask, [batch, heads, dims_of(query)[2], dims_of(key)[2]])


@converts("aten._scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention(
    ctx: Context, query: Value, key: Value, value: Value, dropout_p: float = 0.0,
    is_causal: bool = False, attn_mask: Value | None = None, scale: float | None = None,
    **_: Any,
) -> tuple[Value, None]:  # fmt: skip
    """Attention; its second result, the logarithm of sums, must be unused."""
    whole, ctx.result = ctx.result, ctx.result[0]
    result = scaled_dot_product_attention(
        ctx, query, key, value, attn_mask, dropout_p, is_causal, scale
    )
    ctx.result = whole
    return result, None

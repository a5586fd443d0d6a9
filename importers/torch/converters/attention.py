"""Scaled dot product attention."""

from __future__ import annotations

from typing import Any

from ....dialects.int_expr import IntExpr
from ..context import Context, Value, dims_of, dtype_of
from ..registry import Unsupported, converts

_HEADS_LAST = [0, 2, 1, 3]


@converts("aten.scaled_dot_product_attention.default")
def scaled_dot_product_attention(
    ctx: Context, query: Value, key: Value, value: Value, attn_mask: Value | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:  # fmt: skip
    """``softmax(query @ key.T * scale + mask) @ value``, in (batch, head, place, feature)."""
    if dropout_p > 0:
        raise Unsupported("attention with dropout", "call model.eval() before the export")
    query, key, value = (_of_rank_4(ctx, t) for t in (query, key, value))
    turned = [ctx.permute(t, _HEADS_LAST) for t in (query, key, value)]
    bias = () if attn_mask is None else (_bias(ctx, attn_mask, query, key),)
    # PyTorch's causal mask begins at the top left corner, whatever the lengths are.
    causal = "TopLeft" if is_causal else None
    result = ctx.op("nn.attention", *turned, *bias, scale=scale, causal_mask=causal)
    return ctx.reshape(ctx.permute(result, _HEADS_LAST), ctx.dims)


def _of_rank_4(ctx: Context, x: Value) -> Value:
    dims = dims_of(x)
    if len(dims) == 4:
        return x
    if len(dims) > 4 or len(dims) < 2:
        raise Unsupported(f"expected attention on tensors of rank 2 to 4, got {len(dims)}")
    # Without a batch, or with batch and heads in one dim.
    return ctx.reshape(x, [*[IntExpr.of(1)] * (4 - len(dims)), *dims])


def _bias(ctx: Context, mask: Value, query: Value, key: Value) -> Value:
    """The mask as numbers to add, in (batch, head, query, key), of which any may be 1."""
    dtype = dtype_of(query)
    if dtype_of(mask) == "bool":
        zero, never = ctx.number(0, dtype), ctx.number(float("-inf"), dtype)
        mask = ctx.op("where", mask, zero, never)
    dims = dims_of(mask)
    mask = ctx.reshape(mask, [*[IntExpr.of(1)] * (4 - len(dims)), *dims])
    batch, heads, _, _ = dims_of(mask)
    return ctx.broadcast(mask, [batch, heads, dims_of(query)[2], dims_of(key)[2]])


@converts("aten._scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention(
    ctx: Context, query: Value, key: Value, value: Value, dropout_p: float = 0.0,
    is_causal: bool = False, attn_mask: Value | None = None, scale: float | None = None,
    **_: Any,
) -> tuple[Value, None]:  # fmt: skip
    """Attention whose logarithms of sums nothing may read."""
    whole, ctx.result = ctx.result, ctx.result[0]
    result = scaled_dot_product_attention(
        ctx, query, key, value, attn_mask, dropout_p, is_causal, scale
    )
    ctx.result = whole
    return result, None

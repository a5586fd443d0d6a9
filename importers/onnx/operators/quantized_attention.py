"""Self-attention of quantized tensors, as ONNX Runtime's quantizer writes it."""

from __future__ import annotations

from ....dialects.int_expr import ONE, ZERO
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .quantized_products import matmul_integer_to_float


@converts("QAttention", domain=MICROSOFT)
def quantized_attention(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    x_scale: Tensor,
    w_scale: Tensor,
    mask: Tensor | None = None,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    past: Tensor | None = None,
    *,
    num_heads: int,
    unidirectional: int = 0,
    scale: float = 0.0,
    mask_filter_value: float = -10000.0,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> Tensor:
    """Attention of ``(batch, length, …)`` to itself; queries, keys and values are one matmul."""
    if past is not None or do_rotary or past_present_share_buffer:
        raise Unsupported("past keys, or embeddings of positions")
    if x.rank != 3 or weight.rank != 2:
        raise ValueError(
            f"expected data of rank 3 and weights of 2, got {x.rank} and {weight.rank}"
        )
    joined = matmul_integer_to_float(
        ctx, x, weight, x_scale, w_scale, x_zero_point, w_zero_point, bias
    )
    operands = _heads(ctx, joined, num_heads)
    if mask is not None:
        operands.append(_masked(ctx, x, mask, mask_filter_value, joined.dtype))
    causal = "TopLeft" if unidirectional else None
    found = ctx.emit("nn.attention", *operands, scale=scale or None, causal_mask=causal)
    return ctx.reshape(found, [*x.dims[:2], found.dims[2] * found.dims[3]])


def _heads(ctx: Context, joined: Tensor, count: int) -> list[Tensor]:
    """Queries, keys and values ``(batch, length, heads, size)``."""
    width = joined.dims[2].constant
    if width is None or count < 1 or width % (3 * count):
        raise ValueError(f"expected 3 parts of {count} heads, got a width of {joined.dims[2]}")
    parts = ctx.emit_fields("split", joined, indices_or_sections=3, axis=2)
    return [ctx.reshape(p, [*p.dims[:2], count, width // (3 * count)]) for p in parts]


def _masked(ctx: Context, x: Tensor, mask: Tensor, value: float, dtype: str) -> Tensor:
    """What is added to scores: `value` for keys that are padding."""
    batch, length = x.dims[:2]
    if mask.rank == 1:  # the number of keys
        mask = ctx.fitted(mask, [batch])
        places = ctx.emit("arange", start=ZERO, end=length, step=ONE, dtype=mask.dtype)
        visible = Formula(ctx, ctx.reshape(mask, [batch, ONE])) > places
    elif mask.rank == 2:  # 1 for keys
        visible = Formula(ctx, ctx.fitted(mask, [batch, length])).differs(0)
    else:
        raise Unsupported(f"a mask of rank {mask.rank}")
    added = (1 - visible.to(dtype)) * value
    return ctx.reshape(added.tensor, [batch, ONE, ONE, length])

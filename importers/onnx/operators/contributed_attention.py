"""ONNX Runtime's operators of attention: their masks, packed operands and caches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.int_expr import ONE, ZERO, IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .attention import (
    Heads,
    Visibility,
    attend,
    heads_of,
    joined_heads,
    with_past,
)
from .linear import matmul
from .rotary import Rotation, all_positions
from .slicing import part


def _parts(ctx: Context, x: Tensor, axis: int, sizes: Sequence[IntExpr]) -> list[Tensor]:
    """The parts of a tensor, of these sizes along an axis, which are its dim."""
    total = sum(sizes, ZERO)
    x = ctx.fitted(x, [total if a == axis else d for a, d in enumerate(x.dims)])
    start, found = ZERO, list[Tensor]()
    for size in sizes:
        found.append(part(ctx, x, axis, start, size))
        start = start + size
    return found


def _places(ctx: Context, count: IntExpr) -> Formula:
    numbers = ctx.emit("arange", start=ZERO, end=count, step=ONE, dtype="int64")
    return Formula(ctx, ctx.reshape(numbers, [ONE, ONE, ONE, count]))


def _valid_keys(ctx: Context, mask: Tensor, batch: IntExpr, keys: IntExpr) -> Formula:
    """Whether keys are valid: lengths, ends and starts, or a number for each key or pair."""
    if mask.rank == 3:
        return Formula(ctx, ctx.reshape(mask, [mask.dims[0], ONE, *mask.dims[1:]])).differs(0)
    if mask.rank == 2:
        return Formula(ctx, ctx.reshape(mask, [mask.dims[0], ONE, ONE, mask.dims[1]])).differs(0)
    if mask.rank != 1 or mask.dims[0] not in (batch, batch * 2):
        raise Unsupported("a mask of this shape", "use one with a number for each key")
    bounds = Formula(ctx, mask).to("int64").tensor
    bounds = ctx.reshape(bounds, [mask.dims[0], ONE, ONE, ONE])
    ends = Formula(ctx, part(ctx, bounds, 0, ZERO, batch))
    valid = _places(ctx, keys) < ends
    if mask.dims[0] == batch:
        return valid
    starts = Formula(ctx, part(ctx, bounds, 0, batch, batch))
    return valid & (starts < _places(ctx, keys) + 1)


def _bias(
    ctx: Context, mask: Tensor | None, given: Tensor | None, heads: Heads, hidden: float
) -> Tensor | None:
    """A bias with `hidden` added for keys that are not valid."""
    if mask is None:
        return given
    zero = Formula(ctx, ctx.number(0, heads.query.dtype))
    found = zero.where(_valid_keys(ctx, mask, heads.scores[0], heads.keys), hidden)
    return found.tensor if given is None else (found + given).tensor


def _attended(
    ctx: Context, heads: Heads, past: Tensor | None, bias: Tensor | None, unidirectional: int,
    scale: float,
) -> Tensor:  # fmt: skip
    """The result, with heads joined; queries are behind past keys."""
    seen = Visibility(heads, ZERO if past is None else past.dims[2], [])
    causal = seen.causal() if unidirectional else None
    if unidirectional and causal is None:
        seen.hide_later(ctx)
    return joined_heads(ctx, attend(ctx, heads, seen.bias(ctx, bias), causal, scale or None))


@converts("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(
    ctx: Context,
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_length: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    *,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> Any:
    """Attention of projected queries, keys and values; the keys and values with past ones."""
    if past_length is not None or cache_indirection is not None:
        raise Unsupported("past and present keys in one buffer", "export with separate ones")
    operands = _unpacked(ctx, query, key, value)
    if bias is not None:
        operands = _biased(ctx, operands, bias, num_heads)
    # Keys of rank 4 have their heads first, as past ones.
    parts = [heads_of(ctx, t, num_heads) for t in operands]
    keys, present_key = with_past(ctx, past_key, parts[1])
    values, present_value = with_past(ctx, past_value, parts[2])
    heads = Heads.of(ctx, parts[0], keys, values)
    added = _bias(ctx, mask, attention_bias, heads, mask_filter_value)
    result = _attended(ctx, heads, past_key, added, unidirectional, scale)
    return result, present_key, present_value


def _unpacked(
    ctx: Context, query: Tensor, key: Tensor | None, value: Tensor | None
) -> list[Tensor]:
    """Queries, keys and values that may be packed in the next to last dim of one of them."""
    packed, count = (query, 3) if query.rank == 5 else (key, 2)
    if packed is None:
        raise ValueError("expected keys, or queries, keys and values in one tensor, got none")
    if packed.rank == 5:
        pieces = _parts(ctx, packed, 3, [ONE] * count)
        batch, length, heads, _, size = packed.dims
        found = [ctx.reshape(p, [batch, length, heads * size]) for p in pieces]
        return found if count == 3 else [query, *found]
    if key is None or value is None:
        raise ValueError("expected values, got none")
    return [query, key, value]


def _biased(ctx: Context, operands: Sequence[Tensor], bias: Tensor, count: int) -> list[Tensor]:
    """Queries, keys and values plus their parts of a bias."""
    widths = [t.dims[2] if t.rank == 3 else t.dims[3] * count for t in operands]
    found: list[Tensor] = []
    for operand, own in zip(operands, _parts(ctx, bias, 0, widths), strict=True):
        if operand.rank == 4:
            size = operand.dims[3]
            own = ctx.reshape(own, [count, ONE, size])
        found.append(ctx.elementwise("add", operand, own))
    return found


@converts("Attention", domain=MICROSOFT)
def self_attention(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_length: Tensor | None = None,
    *,
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    past_present_share_buffer: int = 0,
    qkv_hidden_sizes: list[int] | None = None,
    rotary_embedding_dim: int = 0,
    scale: float = 0.0,
    unidirectional: int = 0,
) -> Any:
    """Attention of data to itself; queries, keys and values are one matmul."""
    if do_rotary or past_present_share_buffer or past_length is not None:
        raise Unsupported("rotary embeddings, or past and present keys in one buffer")
    joined = matmul(ctx, x, weight)
    joined = joined if bias is None else ctx.elementwise("add", joined, bias)
    third = joined.dims[2] // IntExpr.of(3)
    widths = [third] * 3 if not qkv_hidden_sizes else [IntExpr.of(w) for w in qkv_hidden_sizes]
    query, key, value = (heads_of(ctx, p, num_heads) for p in _parts(ctx, joined, 2, widths))
    past_key, past_value = None, None
    if past is not None:
        past_key, past_value = (
            ctx.reshape(p, past.dims[1:]) for p in _parts(ctx, past, 0, [ONE, ONE])
        )
    key, present_key = with_past(ctx, past_key, key)
    value, present_value = with_past(ctx, past_value, value)
    heads = Heads.of(ctx, query, key, value)
    added = _bias(ctx, mask, attention_bias, heads, mask_filter_value)
    result = _attended(ctx, heads, past_key, added, unidirectional, scale)
    if ctx.outputs[1:2] != [True]:
        return result
    return result, ctx.emit("stack", present_key, present_value, axis=0)


@converts("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(
    ctx: Context,
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    past_key: Tensor | None,
    past_value: Tensor | None,
    last_keys: Tensor,
    total_length: Tensor,
    cosines: Tensor | None = None,
    sines: Tensor | None = None,
    positions: Tensor | None = None,
    attention_bias: Tensor | None = None,
    head_sink: Tensor | None = None,
    *,
    causal: int = 1,
    do_rotary: int = 0,
    kv_num_heads: int,
    local_window_size: int = -1,
    num_heads: int,
    rotary_interleaved: int = 0,
    scale: float = 0.0,
    smooth_softmax: int = 0,
    softcap: float = 0.0,
) -> Any:
    """Attention of a prompt, or of tokens behind past keys that are all valid.

    Keys of a prompt may have padding behind them, `last_keys` has the last valid one of each batch.
    """
    if head_sink is not None or smooth_softmax > 0:
        raise Unsupported("a softmax with a sink")
    parts = _grouped(ctx, (query, key, value), num_heads, kv_num_heads)
    start = ZERO if past_key is None else past_key.dims[2]
    if do_rotary:
        tables = (cosines, sines)
        parts[:2] = _rotated(ctx, parts[:2], tables, start, positions, rotary_interleaved)
    keys, present_key = with_past(ctx, past_key, parts[1])
    values, present_value = with_past(ctx, past_value, parts[2])
    heads = Heads.of(ctx, parts[0], keys, values)
    seen = Visibility(heads, start, [])
    mask = seen.causal() if causal else None
    if causal and mask is None:
        seen.hide_later(ctx)
    if local_window_size > 0:
        seen.hide_earlier(ctx, local_window_size - 1)
    if not causal:
        counts = ctx.reshape(ctx.astype(last_keys, "int64"), [heads.scores[0], ONE, ONE, ONE])
        seen.hide_from(ctx, Formula(ctx, counts) + 1)
    result = attend(ctx, heads, seen.bias(ctx, attention_bias), mask, scale or None, softcap)
    return joined_heads(ctx, result), present_key, present_value


def _grouped(
    ctx: Context, operands: Sequence[Tensor | None], count: int, key_count: int
) -> list[Tensor]:
    """Queries, keys and values of heads, which may be joined in one tensor."""
    query, key, value = operands
    assert query is not None
    if key is not None and value is not None:
        return [
            heads_of(ctx, query, count), heads_of(ctx, key, key_count),
            heads_of(ctx, value, key_count),
        ]  # fmt: skip
    size = query.dims[2] // IntExpr.of(count + 2 * key_count)
    widths = [size * count, size * key_count, size * key_count]
    parts = _parts(ctx, query, 2, widths)
    return [heads_of(ctx, p, n) for p, n in zip(parts, (count, key_count, key_count), strict=True)]


def _rotated(
    ctx: Context,
    tensors: Sequence[Tensor],
    tables: tuple[Tensor | None, Tensor | None],
    start: IntExpr,
    positions: Tensor | None,
    interleaved: int,
) -> list[Tensor]:
    """Queries and keys rotated at their positions, those from `start` if none are given."""
    cosines, sines = tables
    if cosines is None or sines is None:
        raise ValueError("expected tables of cosines and sines, got none")
    batch, length = tensors[0].dims[:2]
    first = ctx.reshape(ctx.number(start, "int64"), [ONE])
    places = all_positions(ctx, first, batch, length) if positions is None else positions
    rotation = Rotation.of(ctx, cosines, sines, places, interleaved)
    return [rotation.rotate(ctx, t) for t in tensors]

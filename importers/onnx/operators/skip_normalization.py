"""ONNX Runtime's fusions of sums and of embeddings with a normalization."""

from __future__ import annotations

from functools import reduce
from operator import add

from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .normalization import layer_normalization, rms_normalization

Results = tuple[Tensor | None, ...]


def _sum(ctx: Context, *terms: Tensor | None) -> Tensor:
    return reduce(add, (Formula(ctx, t) for t in terms if t is not None)).tensor


@converts("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(
    ctx: Context,
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> Results:
    """Layer normalization of ``x + skip + bias``; the last result is the sum.

    The second and third are the means, and the reciprocals of the standard deviations.
    """
    summed = _sum(ctx, x, skip, bias)
    statistics = Context(ctx.importer, ctx.scope, ctx.opset, ctx.outputs[:3])
    found = layer_normalization(statistics, summed, gamma, beta, epsilon=epsilon)
    return (*found, *[None] * (3 - len(found)), summed)


@converts("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_rms_normalization(
    ctx: Context,
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> Results:
    """``x + skip + bias`` divided by the root of the mean square; the last result is the sum.

    The second are the means, the third the reciprocals of the roots.
    """
    summed = _sum(ctx, x, skip, bias)
    root = Context(ctx.importer, ctx.scope, ctx.opset, [True, any(ctx.outputs[2:3])])
    found = rms_normalization(root, summed, gamma, epsilon=epsilon)
    inverse = found[1] if len(found) > 1 else None
    mean: Tensor | None = None
    if any(ctx.outputs[1:2]):
        wide = Formula.wide(ctx, summed)
        mean = wide.apply("mean", axis=[summed.rank - 1], keepdims=True).tensor
    return found[0], mean, inverse, summed


@converts("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(
    ctx: Context,
    ids: Tensor,
    segment_ids: Tensor | None,
    words: Tensor,
    positions: Tensor,
    segments: Tensor | None,
    gamma: Tensor,
    beta: Tensor,
    mask: Tensor | None = None,
    position_ids: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> Results:
    """Layer normalization of the sum of embeddings of words, positions and segments.

    The second result is the number of unmasked ids of each sample, the third the sum.
    """
    if position_ids is None:
        position_ids = ctx.emit("arange", start=0, end=ids.dims[1], dtype="int64")
    places = ctx.emit("take", positions, position_ids, axis=0)
    terms = [ctx.emit("take", words, ids, axis=0), places]
    if segments is not None and segment_ids is not None:
        terms.append(ctx.emit("take", segments, segment_ids, axis=0))
    summed = _sum(ctx, *terms)
    inner = Context(ctx.importer, ctx.scope, ctx.opset)
    found = layer_normalization(inner, summed, gamma, beta, epsilon=epsilon)[0]
    if not any(ctx.outputs[1:2]):
        return found, None, summed
    return found, _unmasked(ctx, ids, mask), summed


def _unmasked(ctx: Context, ids: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return ctx.broadcast(ctx.number(0, "int32"), ids.dims[:1])
    kept = Formula(ctx, mask).equals(1).to("int32")
    return kept.apply("sum", axis=[1]).tensor

"""Normalizations with weights for channels: batch, instance and group normalization."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import ONE, IntExpr, floordiv
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .normalization import in_one_dtype, require_rank


@converts("BatchNormalization")
def batch_normalization_of_opset_1(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    shift: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    is_test: int = 0,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
) -> tuple[Tensor | None, ...]:
    """Normalization by given statistics."""
    if not is_test:
        raise Unsupported("training", "export the model for inference, with is_test")
    return batch_normalization_of_opset_7(
        ctx, x, scale, shift, mean, variance, epsilon=epsilon, spatial=spatial
    )


@converts("BatchNormalization", since=7)
def batch_normalization_of_opset_7(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    shift: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
) -> tuple[Tensor | None, ...]:
    """Normalization by given statistics, of channels, or of each element of a sample.

    The other results have no value: statistics of the batch are for training.
    """
    if spatial:
        found = _by_statistics(ctx, x, (scale, shift, mean, variance), epsilon)
        return found, None, None, None, None
    factor = (Formula.wide(ctx, variance) + epsilon).apply("rsqrt")
    distance = Formula.wide(ctx, x) - Formula.wide(ctx, mean)
    scaled = distance * factor * Formula.wide(ctx, scale) + Formula.wide(ctx, shift)
    return scaled.to(x.dtype).tensor, None, None, None, None


def _by_statistics(ctx: Context, x: Tensor, weights: Sequence[Tensor], epsilon: float) -> Tensor:
    """The normalization of channels, which are dim 1."""
    if x.rank == 1:
        column = ctx.reshape(x, [*x.dims, ONE])
        return ctx.reshape(_by_statistics(ctx, column, weights, epsilon), x.dims)
    data, *vectors = in_one_dtype(ctx, x, *weights)
    fitted = [ctx.fitted(v, [x.dims[1]]) for v in vectors]
    found = ctx.emit_fields("nn.batch_norm", data, *fitted, axis=1, epsilon=epsilon)[0]
    return ctx.astype(found, x.dtype)


@converts("BatchNormalization", since=14)
def batch_normalization(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    shift: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Normalization by given statistics; in training mode by those of the batch.

    The other results are then the given statistics, moved towards those of the batch.
    """
    if not training_mode:
        return _by_statistics(ctx, x, (scale, shift, mean, variance), epsilon)
    data = Formula.wide(ctx, x)
    axes = [a for a in range(x.rank) if a != 1]
    own = [
        data.apply("mean", axis=axes).tensor,
        data.apply("variance", axis=axes, correction=0).tensor,
    ]
    found = _by_statistics(ctx, x, (scale, shift, *own), epsilon)
    moved = [
        (Formula.wide(ctx, old) * momentum + Formula(ctx, new) * (1 - momentum)).to(old.dtype)
        for old, new in zip((mean, variance), own, strict=True)
    ]
    return found, moved[0].tensor, moved[1].tensor


@converts("InstanceNormalization")
def instance_normalization(
    ctx: Context, x: Tensor, scale: Tensor, shift: Tensor, *, epsilon: float = 1e-5
) -> Tensor:
    """Each channel of each sample with mean 0 and variance 1, scaled and shifted."""
    require_rank(x, 2)
    vectors = [ctx.fitted(v, [x.dims[1]]) for v in (scale, shift)]
    axes = list(range(2, x.rank))
    return ctx.emit("nn.instance_norm", x, *vectors, channel_axis=1, axes=axes, epsilon=epsilon)


@converts("GroupNormalization")
def group_normalization_of_opset_18(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    shift: Tensor,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
) -> Tensor:
    """Groups of channels normalized; the scale and the shift are those of groups."""
    require_rank(x, 2)
    channels = x.dims[1]
    groups = IntExpr.of(num_groups)
    dims = [groups, floordiv(channels, groups)]
    vectors = [
        ctx.reshape(ctx.broadcast(ctx.reshape(v, [groups, ONE]), dims), [channels])
        for v in (ctx.fitted(w, [groups]) for w in (scale, shift))
    ]
    return group_normalization(ctx, x, *vectors, num_groups=num_groups, epsilon=epsilon)


@converts("GroupNormalization", since=21)
def group_normalization(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    shift: Tensor,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    """Groups of channels with mean 0 and variance 1, scaled and shifted."""
    require_rank(x, 2)
    return ctx.emit(
        "nn.group_norm",
        x,
        *(ctx.fitted(v, [x.dims[1]]) for v in (scale, shift)),
        num_groups=num_groups,
        channel_axis=1,
        axes=list(range(2, x.rank)),
        epsilon=epsilon,
    )

"""Normalizations with weights for channels: batch, instance and group normalization."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import ONE, IntExpr, floordiv
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .normalization import in_one_dtype


@converts("BatchNormalization")
def batch_normalization_of_opset_1(
    ctx: Context,
    x: Tensor,
    *weights: Tensor,
    is_test: int = 0,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
) -> Tensor:
    """Normalization by given statistics."""
    if not is_test:
        raise Unsupported("training", "export the model for inference, with is_test")
    return batch_normalization_of_opset_7(ctx, x, *weights, epsilon=epsilon, spatial=spatial)


@converts("BatchNormalization", since=7)
def batch_normalization_of_opset_7(
    ctx: Context,
    x: Tensor,
    *weights: Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
) -> Tensor:
    """Normalization by given statistics, of channels, or of each element of a sample."""
    if any(ctx.outputs[1:]):
        raise Unsupported("statistics of a batch", "export the model for inference")
    if spatial:
        return _by_statistics(ctx, x, weights, epsilon)
    data, scale, shift, mean, variance = (Formula.wide(ctx, t) for t in (x, *weights))
    factor = (variance + epsilon).apply("rsqrt") * scale
    return ((data - mean) * factor + shift).to(x.dtype).tensor


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
    *weights: Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Normalization by given statistics; in training mode by those of the batch.

    The other results are then the given statistics, moved towards those of the batch.
    """
    if not training_mode:
        return _by_statistics(ctx, x, weights, epsilon)
    scale, shift, *running = weights
    data = Formula.wide(ctx, x)
    axes = [a for a in range(x.rank) if a != 1]
    mean = data.apply("mean", axis=axes)
    variance = data.apply("variance", axis=axes, correction=0)
    found = _by_statistics(ctx, x, [scale, shift, mean.tensor, variance.tensor], epsilon)
    moved = [
        (Formula.wide(ctx, old) * momentum + new * (1 - momentum)).to(old.dtype).tensor
        for old, new in zip(running, (mean, variance), strict=True)
    ]
    return found, moved[0], moved[1]


@converts("InstanceNormalization")
def instance_normalization(
    ctx: Context, x: Tensor, scale: Tensor, shift: Tensor, *, epsilon: float = 1e-5
) -> Tensor:
    """Each channel of each sample with mean 0 and variance 1, scaled and shifted."""
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
    channels = x.dims[1]
    groups = IntExpr.of(num_groups)
    dims = [groups, floordiv(channels, groups)]
    vectors = [
        ctx.reshape(ctx.broadcast(ctx.reshape(v, [groups, ONE]), dims), [channels])
        for v in (scale, shift)
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
    return ctx.emit(
        "nn.group_norm",
        x,
        *(ctx.fitted(v, [x.dims[1]]) for v in (scale, shift)),
        num_groups=num_groups,
        channel_axis=1,
        axes=list(range(2, x.rank)),
        epsilon=epsilon,
    )

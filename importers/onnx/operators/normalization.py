"""Normalizations of a sample's last dims, by a norm, and by the channels around."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

from ....dialects.int_expr import ONE
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor, axes_of, axis_of
from ..weights import dtype_of_element
from .reduction import absolute_sum, norm


def widest(*tensors: Tensor) -> str:
    """The dtype to compute in: that of the tensors if it is one, else at least float32."""
    dtypes = {t.dtype for t in tensors}
    if len(dtypes) == 1:
        return tensors[0].dtype
    return "float64" if "float64" in dtypes else "float32"


def in_one_dtype(ctx: Context, *tensors: Tensor) -> list[Tensor]:
    """The tensors in the dtype to compute in."""
    return [ctx.astype(t, widest(*tensors)) for t in tensors]


def require_rank(x: Tensor, least: int) -> None:
    """Raise ValueError for a tensor of fewer dims, such as one without channels."""
    if x.rank < least:
        raise ValueError(f"expected a tensor of at least {least} dims, got {x.rank}")


@converts("LayerNormalization")
@converts("LayerNormalization", domain=MICROSOFT)
def layer_normalization(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    shift: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Tensor, ...]:
    """The dims from `axis` on with mean 0 and variance 1, scaled and shifted.

    The other results are the means, and the reciprocals of the standard deviations.
    """
    axes = list(range(axis_of(axis, x.rank), x.rank))
    given = [scale] if shift is None else [scale, shift]
    data, *weights = in_one_dtype(ctx, x, *given)
    dims = [x.dims[a] for a in axes]
    if all(w.rank <= len(dims) for w in weights):
        weights = [ctx.broadcast(w, dims) for w in weights]
        found = ctx.emit(
            "nn.layer_norm",
            data,
            weights[0],
            weights[-1],
            axes=axes,
            epsilon=epsilon,
            center=shift is not None,
        )
    else:
        found = _scaled(ctx, normalized(ctx, data, axes, epsilon), weights)
    results = [ctx.astype(found, x.dtype)]
    if any(ctx.outputs[1:]):
        results += _statistics(ctx, x, axes, epsilon, dtype_of_element(stash_type))
    return tuple(results)


def _scaled(ctx: Context, x: Formula, weights: Sequence[Tensor]) -> Tensor:
    found = x * weights[0]
    return (found + weights[1] if len(weights) > 1 else found).tensor


def normalized(ctx: Context, x: Tensor, axes: Sequence[int], epsilon: float) -> Formula:
    """The data with mean 0 and variance 1 along axes."""
    ones = ctx.broadcast(ctx.number(1, x.dtype), [x.dims[a] for a in axes])
    return Formula(
        ctx,
        ctx.emit(
            "nn.layer_norm", x, ones, ones,
            axes=list(axes), epsilon=epsilon, center=False, scale=False,
        ),
    )  # fmt: skip


def _statistics(
    ctx: Context, x: Tensor, axes: Sequence[int], epsilon: float, dtype: str
) -> list[Tensor]:
    data = Formula.wide(ctx, x)
    mean = data.apply("mean", axis=list(axes), keepdims=True)
    variance = data.apply("variance", axis=list(axes), keepdims=True, correction=0)
    return [mean.to(dtype).tensor, (variance + epsilon).apply("rsqrt").to(dtype).tensor]


@converts("RMSNormalization", "SimplifiedLayerNormalization")
@converts("SimplifiedLayerNormalization", domain=MICROSOFT)
def rms_normalization(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Tensor, ...]:
    """The dims from `axis` on divided by the root of their mean square, and scaled.

    The other result is the reciprocal of this root.
    """
    axes = list(range(axis_of(axis, x.rank), x.rank))
    data, weight = in_one_dtype(ctx, x, scale)
    dims = [x.dims[a] for a in axes]
    if weight.rank <= len(dims):
        found = ctx.emit(
            "nn.rms_norm", data, ctx.broadcast(weight, dims), axes=axes, epsilon=epsilon
        )
    else:
        ones = ctx.broadcast(ctx.number(1, data.dtype), dims)
        plain = ctx.emit("nn.rms_norm", data, ones, axes=axes, epsilon=epsilon)
        found = ctx.elementwise("multiply", plain, weight)
    results = [ctx.astype(found, scale.dtype)]
    if any(ctx.outputs[1:]):
        wide = Formula.wide(ctx, x)
        square = (wide * wide).apply("mean", axis=axes, keepdims=True)
        root = (square + epsilon).apply("rsqrt")
        results.append(root.to(dtype_of_element(stash_type)).tensor)
    return tuple(results)


@converts("LpNormalization")
def lp_normalization(ctx: Context, x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """Elements divided by the norm along an axis; 0 where it is 0."""
    if p not in (1, 2):
        raise ValueError(f"expected p to be 1 or 2, got {p}")
    data = Formula.wide(ctx, x)
    size = (absolute_sum if p == 1 else norm)(data, [axis_of(axis, x.rank)], True)
    return (data / size).where(size.differs(0), 0).to(x.dtype).tensor


@converts("MeanVarianceNormalization")
def mean_variance_normalization_of_opset_1(
    ctx: Context, x: Tensor, *, across_channels: int = 0, normalize_variance: int = 1
) -> Tensor:
    """Samples, or each of their channels, with mean 0 and by default variance 1."""
    axes = list(range(1 if across_channels else 2, x.rank))
    if normalize_variance:
        return mean_variance_normalization(ctx, x, axes=axes)
    data = Formula.wide(ctx, x)
    return (data - data.apply("mean", axis=axes, keepdims=True)).to(x.dtype).tensor


@converts("MeanVarianceNormalization", since=9)
def mean_variance_normalization(
    ctx: Context, x: Tensor, *, axes: Sequence[int] = (0, 2, 3)
) -> Tensor:
    """The data with mean 0 and variance 1 along axes."""
    data, along = Formula.wide(ctx, x), axes_of(axes, x.rank)
    distance = data - data.apply("mean", axis=along, keepdims=True)
    deviation = data.apply("std", axis=along, keepdims=True, correction=0)
    return (distance / (deviation + 1e-9)).to(x.dtype).tensor


@converts("LRN")
def local_response_normalization(
    ctx: Context,
    x: Tensor,
    *,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
) -> Tensor:
    """Elements divided by a power of the mean square of `size` channels around them."""
    require_rank(x, 2)
    data = Formula.wide(ctx, x)
    batch, channels, *rest = x.dims
    planes = ctx.reshape((data * data).tensor, [batch, ONE, channels, reduce(mul, rest, ONE)])
    before = (size - 1) // 2
    square = ctx.emit(
        "nn.avg_pool2d",
        planes,
        pool_size=[size, 1],
        padding=[before, 0, size - 1 - before, 0],
        count_include_pad=True,
    )
    scale = Formula(ctx, ctx.reshape(square, x.dims)) * alpha + bias
    return (data / scale.with_("power", beta)).to(x.dtype).tensor

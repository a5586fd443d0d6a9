"""Normalizations: batch, layer, group, instance and root mean square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import relax
from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts


def filled(ctx: Context, value: float, dims: Sequence[IntExpr], dtype: str) -> Value:
    """A tensor filled with a number, the default of a missing weight."""
    sizes = [d.constant for d in dims]
    known = [s for s in sizes if s is not None]
    if len(known) < len(sizes) or dtype == "bfloat16":
        return ctx.broadcast(ctx.number(value, dtype), dims)
    return ctx.constant(relax.TensorData.of(np.full(known, value, dtype), dtype))


def weights(
    ctx: Context, weight: Value | None, bias: Value | None, dims: Sequence[IntExpr], dtype: str
) -> tuple[Value, Value]:
    scale = filled(ctx, 1, dims, dtype) if weight is None else ctx.astype(weight, dtype)
    shift = filled(ctx, 0, dims, dtype) if bias is None else ctx.astype(bias, dtype)
    return scale, shift


@converts("aten.layer_norm.default")
def layer_norm(
    ctx: Context, x: Value, normalized_shape: Sequence[Any], weight: Value | None = None,
    bias: Value | None = None, eps: float = 1e-5, cudnn_enable: bool = True,
) -> Value:  # fmt: skip
    """The last dims normalized to mean 0 and variance 1, scaled and shifted."""
    count = len(normalized_shape)
    scale, shift = weights(ctx, weight, bias, dims_of(x)[-count:], dtype_of(x))
    return ctx.op("nn.layer_norm", x, scale, shift, axes=list(range(-count, 0)), epsilon=eps)


@converts("aten.native_layer_norm.default")
def native_layer_norm(
    ctx: Context, x: Value, normalized_shape: Sequence[Any], weight: Value | None,
    bias: Value | None, eps: float,
) -> tuple[Any, None, None]:  # fmt: skip
    """A layer norm; its statistics must be unused."""
    return layer_norm(ctx, x, normalized_shape, weight, bias, eps), None, None


@converts("aten.rms_norm.default")
def rms_norm(
    ctx: Context, x: Value, normalized_shape: Sequence[Any], weight: Value | None = None,
    eps: float | None = None,
) -> Value:  # fmt: skip
    """The last dims divided by their root mean square, and scaled."""
    count = len(normalized_shape)
    scale, _ = weights(ctx, weight, weight, dims_of(x)[-count:], dtype_of(x))
    epsilon = float(np.finfo("float32" if dtype_of(x) != "float64" else "float64").eps)
    return ctx.op(
        "nn.rms_norm",
        x,
        scale,
        axes=list(range(-count, 0)),
        epsilon=epsilon if eps is None else eps,
    )


@converts("aten.group_norm.default")
def group_norm(
    ctx: Context, x: Value, num_groups: int, weight: Value | None = None,
    bias: Value | None = None, eps: float = 1e-5, cudnn_enabled: bool = True,
) -> Value:  # fmt: skip
    """Groups of channels normalized to mean 0 and variance 1, scaled and shifted."""
    dims = dims_of(x)
    scale, shift = weights(ctx, weight, bias, dims[1:2], dtype_of(x))
    return ctx.op(
        "nn.group_norm", x, scale, shift, num_groups=num_groups, channel_axis=1,
        axes=list(range(2, len(dims))), epsilon=eps,
    )  # fmt: skip


@converts("aten.native_group_norm.default")
def native_group_norm(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, n: Any, c: Any, hxw: Any,
    group: int, eps: float,
) -> tuple[Any, None, None]:  # fmt: skip
    """A group norm; its statistics must be unused."""
    return group_norm(ctx, x, group, weight, bias, eps), None, None


@converts("aten.instance_norm.default")
def instance_norm(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, running_mean: Any,
    running_var: Any, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Value:  # fmt: skip
    """Each channel of each sample normalized to mean 0 and variance 1, scaled and shifted."""
    if not use_input_stats:
        return batch_norm(ctx, x, weight, bias, running_mean, running_var, False, momentum, eps)
    channels = dims_of(x)[1].constant
    if channels is None or running_mean is not None:
        raise Unsupported("expected a known number of channels and no running statistics")
    return group_norm(ctx, x, channels, weight, bias, eps)


def _is_of_values(
    x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, *_: Any
) -> bool:
    """Whether a batch norm only has a result: one that moves statistics is decomposed."""
    return not training or running_mean is None


@converts("aten.batch_norm.default", when=_is_of_values)
def batch_norm(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, running_mean: Value | None,
    running_var: Value | None, training: bool, momentum: float, eps: float,
    cudnn_enabled: bool = True,
) -> Value:  # fmt: skip
    """Channels normalized by their mean and variance, running ones or their own."""
    if running_mean is None or running_var is None:
        return normalized_over(
            ctx, x, weight, bias, [a for a in range(len(dims_of(x))) if a != 1], eps
        )
    if training:
        raise Unsupported("batch_norm in training mode", "call model.eval() before the export")
    dtype = dtype_of(x)
    scale, shift = weights(ctx, weight, bias, dims_of(x)[1:2], dtype)
    statistics = [ctx.astype(s, dtype) for s in (running_mean, running_var)]
    given: dict[str, Any] = {"axis": 1, "epsilon": eps, "momentum": momentum}
    return ctx.field(ctx.op("nn.batch_norm", x, scale, shift, *statistics, **given), 0)


def normalized_over(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, axes: Sequence[int],
    eps: float,
) -> Value:  # fmt: skip
    """`x` with mean 0 and variance 1 over axes; scaled and shifted for each channel."""
    scale, shift = weights(ctx, weight, bias, dims_of(x)[1:2], dtype_of(x))
    return ctx.op("nn.instance_norm", x, scale, shift, channel_axis=1, axes=list(axes), epsilon=eps)


@converts("aten._native_batch_norm_legit_no_training.default")
def native_batch_norm(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, running_mean: Value,
    running_var: Value, momentum: float, eps: float,
) -> tuple[Any, None, None]:  # fmt: skip
    """A batch norm in inference; its statistics must be unused."""
    value = batch_norm(ctx, x, weight, bias, running_mean, running_var, False, momentum, eps)
    return value, None, None

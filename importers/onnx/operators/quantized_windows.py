"""Convolutions and pools of quantized tensors; convolutions have int32 sums."""

from __future__ import annotations

from typing import Any

from ....dialects.int_expr import ONE
from ..calls import call
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts, find_converter
from ..tensor import Tensor
from .convolution import convolution
from .quantized import dequantized, is_single, quantized
from .quantized_products import differences, requantized


def _of_channels(ctx: Context, parameter: Tensor, rank: int, axis: int) -> Tensor:
    """A parameter of rank 0, or one for each channel, which are along `axis` of so many dims."""
    if is_single(parameter):
        return ctx.reshape(parameter, [])
    if parameter.rank != 1:
        raise ValueError(f"expected a parameter for each channel, got rank {parameter.rank}")
    return ctx.reshape(parameter, [*parameter.dims, *[ONE] * (rank - axis - 1)])


@converts("ConvInteger")
def convolution_of_integers(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    **attributes: Any,
) -> Tensor:
    """A convolution of ``x - x_zero_point`` and ``weight - w_zero_point`` as int32."""
    left = None if x_zero_point is None else ctx.reshape(x_zero_point, [])
    right = None if w_zero_point is None else _of_channels(ctx, w_zero_point, weight.rank, 0)
    operands = [ctx.astype(t, "int32") for t in differences(ctx, x, weight, left, right)]
    return call(convolution, ctx, operands, attributes)


@converts("QLinearConv")
@converts("QLinearConv", domain=MICROSOFT)
def qlinear_convolution(
    ctx: Context,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    weight: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    bias: Tensor | None = None,
    **attributes: Any,
) -> Tensor:
    """A convolution of quantized tensors as a quantized tensor; the bias is an int32."""
    last = attributes.pop("channels_last", 0)
    x = _with_channels_first(ctx, x) if last else x
    total = convolution_of_integers(ctx, x, weight, x_zero_point, w_zero_point, **attributes)
    if bias is not None:
        total = ctx.elementwise("add", total, _of_channels(ctx, bias, total.rank, 1))
    factor = Formula(ctx, ctx.reshape(x_scale, [])) * _of_channels(ctx, w_scale, total.rank, 1)
    factor = factor / ctx.reshape(scale, [])
    found = requantized(ctx, total, factor, zero_point, zero_point.dtype)
    return _with_channels_last(ctx, found) if last else found


def _with_channels_first(ctx: Context, x: Tensor) -> Tensor:
    return ctx.permute(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _with_channels_last(ctx: Context, x: Tensor) -> Tensor:
    return ctx.permute(x, [0, *range(2, x.rank), 1])


@converts("QLinearAveragePool", domain=MICROSOFT)
def qlinear_average_pool(
    ctx: Context,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None,
    scale: Tensor,
    zero_point: Tensor | None = None,
    **attributes: Any,
) -> Tensor:
    """The mean of each window."""
    last = attributes.pop("channels_last", 0)
    pool = find_converter("", "AveragePool", 19)
    assert pool is not None
    data = dequantized(ctx, x, x_scale, x_zero_point)
    found = call(pool, ctx, [_with_channels_first(ctx, data) if last else data], attributes)
    found = quantized(ctx, found, scale, zero_point, x.dtype)
    return _with_channels_last(ctx, found) if last else found

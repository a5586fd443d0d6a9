"""ONNX Runtime's operators of quantized tensors that compute in float32 between the integers."""

from __future__ import annotations

from collections.abc import Callable

from ..context import Context
from ..registry import MICROSOFT, converts, find_converter
from ..tensor import Tensor, axis_of
from .activation import leaky_relu
from .quantized import dequantized, quantized


def _requantized(
    ctx: Context, y: Tensor, scale: Tensor, zero_point: Tensor | None, dtype: str
) -> Tensor:
    """A result as integers of the dtype of the operands."""
    return quantized(ctx, ctx.astype(y, scale.dtype), scale, zero_point, dtype)


def _binary(operator: str) -> Callable[..., Tensor]:
    def convert(
        ctx: Context,
        a: Tensor,
        a_scale: Tensor,
        a_zero_point: Tensor | None,
        b: Tensor,
        b_scale: Tensor,
        b_zero_point: Tensor | None,
        scale: Tensor,
        zero_point: Tensor | None = None,
    ) -> Tensor:
        left = dequantized(ctx, a, a_scale, a_zero_point)
        right = dequantized(ctx, b, b_scale, b_zero_point)
        found = ctx.elementwise(operator, left, right)
        return _requantized(ctx, found, scale, zero_point, a.dtype)

    return convert


converts("QLinearAdd", domain=MICROSOFT)(_binary("add"))
converts("QLinearMul", domain=MICROSOFT)(_binary("multiply"))


@converts("QLinearSigmoid", domain=MICROSOFT)
def qlinear_sigmoid(
    ctx: Context,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None,
    scale: Tensor,
    zero_point: Tensor | None = None,
) -> Tensor:
    """The sigmoid function."""
    found = ctx.emit("sigmoid", dequantized(ctx, x, x_scale, x_zero_point))
    return _requantized(ctx, found, scale, zero_point, x.dtype)


@converts("QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_leaky_relu(
    ctx: Context,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    alpha: float = 0.01,
) -> Tensor:
    """Negative numbers multiplied by `alpha`."""
    found = leaky_relu(ctx, dequantized(ctx, x, x_scale, x_zero_point), alpha=alpha)
    return _requantized(ctx, found, scale, zero_point, x.dtype)


@converts("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(
    ctx: Context,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    opset: int,
    axis: int = -1,
) -> Tensor:
    """The softmax of an opset, along an axis or, before opset 13, over all axes from it on."""
    softmax = find_converter("", "Softmax", opset)
    assert softmax is not None
    found = softmax(ctx, dequantized(ctx, x, x_scale, x_zero_point), axis=axis)
    return _requantized(ctx, found, scale, zero_point, x.dtype)


@converts("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_global_average_pool(
    ctx: Context,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    channels_last: int = 0,
) -> Tensor:
    """The mean over all axes but the batch and the channels."""
    axes = list(range(1, x.rank - 1) if channels_last else range(2, x.rank))
    found = dequantized(ctx, x, x_scale, x_zero_point)
    found = ctx.emit("mean", found, axis=axes, keepdims=True)
    return _requantized(ctx, found, scale, zero_point, x.dtype)


@converts("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(
    ctx: Context, scale: Tensor, zero_point: Tensor, *inputs: Tensor, axis: int
) -> Tensor:
    """Tensors with their scales and zero points, joined along an axis."""
    if len(inputs) % 3 or not inputs:
        raise ValueError(f"expected three inputs for each tensor, got {len(inputs)}")
    triples = zip(inputs[::3], inputs[1::3], inputs[2::3], strict=True)
    parts = [dequantized(ctx, x, own, shift) for x, own, shift in triples]
    joined = ctx.emit("concat", *parts, axis=axis_of(axis, inputs[0].rank))
    return _requantized(ctx, joined, scale, zero_point, inputs[0].dtype)


@converts("QLinearWhere", domain=MICROSOFT)
def qlinear_where(
    ctx: Context,
    condition: Tensor,
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    y: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    scale: Tensor,
    zero_point: Tensor,
) -> Tensor:
    """`x` where a condition holds, else `y`."""
    left, right = (
        dequantized(ctx, x, x_scale, x_zero_point),
        dequantized(ctx, y, y_scale, y_zero_point),
    )
    found = ctx.elementwise("where", condition, left, right)
    return _requantized(ctx, found, scale, zero_point, x.dtype)

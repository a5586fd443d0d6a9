"""Operators of programs that PT2E has quantized, with one scale or one for each channel."""

from __future__ import annotations

from typing import Any

from ....dialects.dtypes import is_float
from ....dialects.int_expr import ONE
from ...emitter import Value, axis_of, dims_of, dtype_of, is_tensor
from ..context import Context
from ..dtypes import dtype_name
from ..formulas import Formula
from ..registry import converts

FULL = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
"""The ranges of integers that `relax.quantize` gives."""


def quantized(
    ctx: Context, x: Value, scale: Value, zero_point: Value, axis: int, limits: tuple[int, int]
) -> Value:
    """``clamp(round(x / scale) + zero_point, *limits)`` in the dtype of the result.

    PyTorch multiplies by ``1 / scale`` instead, so that numbers between two integers, up to
    rounding, may become the other one; see `by_reciprocal`.
    """
    if ctx.dtype in FULL and not is_float(dtype_of(zero_point)):
        found = ctx.op("quantize", x, scale, zero_point, axis=axis, out_dtype=ctx.dtype)
        if limits == FULL[ctx.dtype]:
            return found
        return Formula(ctx, found).op("maximum", limits[0]).op("minimum", limits[1]).value
    wide = Formula(ctx, ctx.astype(x, "float64"))
    whole = (wide / _spread(ctx, scale, x, axis)).op("round") + _spread(ctx, zero_point, x, axis)
    return whole.op("maximum", limits[0]).op("minimum", limits[1]).astype(ctx.dtype).value


def dequantized(ctx: Context, x: Value, scale: Value, zero_point: Value, axis: int) -> Value:
    """``(x - zero_point) * scale`` in the dtype of the result."""
    if not is_float(dtype_of(zero_point)):
        return ctx.op("dequantize", x, scale, zero_point, axis=axis, out_dtype=ctx.dtype)
    wide = Formula(ctx, ctx.astype(x, "float64")) - _spread(ctx, zero_point, x, axis)
    return (wide * _spread(ctx, scale, x, axis)).astype(ctx.dtype).value


def _spread(ctx: Context, parameter: Value, x: Value, axis: int) -> Formula:
    """A parameter in float64 that broadcasts against a tensor."""
    dims = dims_of(parameter)
    ones = [ONE] * (len(dims_of(x)) - 1 - axis) if dims else []
    return Formula(ctx, ctx.astype(ctx.reshape(parameter, [*dims, *ones]), "float64"))


def by_reciprocal(ctx: Context, x: Value, scale: Value, axis: int) -> Value:
    """``x * (1 / scale)``, rounded as by PyTorch.

    Scales of the largest number make it the half between two integers, so that rounding decides.
    """
    own = ctx.astype(scale, "float32") if dtype_of(scale) == "float64" else scale
    dims = dims_of(own)
    ones = [ONE] * (len(dims_of(x)) - 1 - axis) if dims else []
    divisor = Formula(ctx, ctx.reshape(own, [*dims, *ones]))
    dtype = ctx.common_dtype(x, own)
    return (Formula(ctx, x).astype(dtype) * (divisor.number(1) / divisor).astype(dtype)).value


def _single(ctx: Context, parameter: Any, dtype: str) -> Value:
    """A number, or a tensor of one element, with rank 0."""
    return ctx.reshape(parameter, []) if is_tensor(parameter) else ctx.number(parameter, dtype)


def float32_scale(ctx: Context, scale: Any) -> Any:
    """A scale in float32, in which PyTorch computes with that of a whole tensor."""
    return ctx.astype(scale, "float32") if is_tensor(scale) else scale


@converts(
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
)
def quantize_per_tensor(
    ctx: Context, x: Value, scale: Any, zero_point: Any, low: int, high: int, dtype: Any
) -> Value:
    """A tensor with one scale and one zero point, which are numbers or tensors of one element."""
    own, shift = _single(ctx, scale, "float32"), _single(ctx, zero_point, ctx.dtype)
    if is_tensor(scale):
        wide = ctx.astype(x, "float32")
        x, own = by_reciprocal(ctx, wide, own, -1), ctx.number(1, "float32")
    return quantized(ctx, x, own, shift, -1, (low, high))


@converts(
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.dequantize_per_tensor.tensor2",
)
def dequantize_per_tensor(
    ctx: Context, x: Value, scale: Any, zero_point: Any, low: Any, high: Any, dtype: Any,
    out_dtype: Any = None,
) -> Value:  # fmt: skip
    """Integers with one scale and one zero point as floats."""
    own = _single(ctx, float32_scale(ctx, scale), "float32"), _single(ctx, zero_point, dtype_of(x))
    return dequantized(ctx, x, *own, -1)


@converts("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(
    ctx: Context, x: Value, scales: Value, zero_points: Value, axis: int, low: int, high: int,
    dtype: Any,
) -> Value:  # fmt: skip
    """A tensor with a scale and a zero point for each element of an axis."""
    axis = axis_of(axis, len(dims_of(x)))
    return quantized(ctx, x, float32_scale(ctx, scales), zero_points, axis, (low, high))


@converts("quantized_decomposed.dequantize_per_channel.default")
def dequantize_per_channel(
    ctx: Context, x: Value, scales: Value, zero_points: Value | None, axis: int, low: int,
    high: int, dtype: Any, out_dtype: Any = None,
) -> Value:  # fmt: skip
    """Integers with a scale and a zero point for each element of an axis as floats."""
    shift = ctx.number(0, dtype_of(x)) if zero_points is None else zero_points
    axis = axis_of(axis, len(dims_of(x)))
    return dequantized(ctx, x, float32_scale(ctx, scales), shift, axis)


@converts("quantized_decomposed.choose_qparams.tensor")
def choose_qparams(
    ctx: Context, x: Value, low: int, high: int, eps: float, dtype: Any
) -> tuple[Value, Value]:
    """The scale (float64) and the zero point (int64) of a tensor's range with 0, of shape [1]."""
    least, most = _range(ctx, x)
    scale = ((most - least) / (high - low)).op("maximum", eps)
    shift = low - (least / scale).op("round")
    shift = shift.op("maximum", low).op("minimum", high)
    return _parameters(ctx, scale, shift)


@converts("quantized_decomposed.choose_qparams_symmetric.tensor")
def choose_qparams_symmetric(
    ctx: Context, x: Value, low: int, high: int, eps: float, dtype: Any
) -> tuple[Value, Value]:
    """As `choose_qparams`, for a range around 0, which is 128 as uint8."""
    least, most = _range(ctx, x)
    scale = ((-least).op("maximum", most) / ((high - low) / 2)).op("maximum", eps)
    shift = scale.number(128 if dtype_name(dtype) == "uint8" else 0)
    return _parameters(ctx, scale, shift)


def _range(ctx: Context, x: Value) -> tuple[Formula, Formula]:
    wide = ctx.astype(x, "float32")
    least, most = (Formula(ctx, ctx.op(name, wide)) for name in ("min", "max"))
    return least.op("minimum", 0), most.op("maximum", 0)


def _parameters(ctx: Context, scale: Formula, zero_point: Formula) -> tuple[Value, Value]:
    pairs = ((scale, "float64"), (zero_point, "int64"))
    own = [ctx.reshape(f.astype(dtype).value, [ONE]) for f, dtype in pairs]
    return own[0], own[1]

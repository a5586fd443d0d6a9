"""Operators of quantized programs with a scale for each row or block: of PT2E and of torchao."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import mul
from typing import Any, TypeAlias

from ....dialects.dtypes import is_float
from ....dialects.int_expr import ONE, IntExpr
from ...emitter import Value, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..formulas import Formula
from ..registry import converts
from .quantization import FULL, by_reciprocal, dequantized, float32_scale, quantized

_EPSILON = 2.0**-23
"""The least scale of rows: the distance of 1 from the next float32."""

_Convert: TypeAlias = Callable[[Value, Value, Value, int], Value]
"""A conversion of a tensor with a scale and a zero point along an axis."""


@converts("quantized_decomposed.choose_qparams_per_token.default")
def choose_qparams_per_token(ctx: Context, x: Value, dtype: Any) -> tuple[Value, Value]:
    """The scale (float64) of the int8 numbers of each row, and its zero point of 0 (int64).

    These are the dtypes that PyTorch declares; its own results are in that of the scale.
    """
    dtype_of_scale = "float32" if dtype_of(x) == "float16" else dtype_of(x)
    largest = Formula(ctx, ctx.op("max", ctx.op("abs", x), axis=[-1], keepdims=True))
    scale = largest.astype(dtype_of_scale).op("maximum", 1e-5) / 127
    return scale.astype("float64").value, ctx.op("zeros_like", scale.value, dtype="int64")


@converts(
    "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
    "quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default",
)
def choose_qparams_per_token_asymmetric(ctx: Context, x: Value, dtype: Any) -> tuple[Value, Value]:
    """The scale (float64) and the zero point (int64) of the int8 numbers of each row."""
    low, high = FULL["int8"]
    wide = ctx.astype(x, "float32")
    ends = (ctx.op(name, wide, axis=[-1], keepdims=True) for name in ("min", "max"))
    least, most = (Formula(ctx, end) for end in ends)
    least, most = least.op("minimum", 0), most.op("maximum", 0)
    scale = ((most - least) / (high - low)).op("maximum", _EPSILON)
    first, last = least / scale, most / scale
    is_first = (low + first) + (high + last) > 0
    shift = is_first.where(low - first, high - last)
    shift = shift.op("maximum", low).op("minimum", high).op("round")
    return scale.astype("float64").value, shift.astype("int64").value


@converts("quantized_decomposed.quantize_per_token.default")
def quantize_per_token(
    ctx: Context, x: Value, scales: Value, zero_points: Value, low: int, high: int, dtype: Any
) -> Value:
    """A tensor with a scale and an integral zero point for each row."""
    blocks = [*[ONE] * (len(dims_of(x)) - 1), dims_of(x)[-1]]
    return _quantized_blocks(ctx, x, blocks, scales, zero_points, (low, high))


@converts("quantized_decomposed.dequantize_per_token.default")
def dequantize_per_token(
    ctx: Context, x: Value, scales: Value, zero_points: Value, low: int, high: int, dtype: Any,
    output_dtype: Any,
) -> Value:  # fmt: skip
    """Integers with a scale and an integral zero point for each row as floats."""
    blocks = [*[ONE] * (len(dims_of(x)) - 1), dims_of(x)[-1]]
    return _dequantized_blocks(ctx, x, blocks, scales, zero_points)


@converts("quantized_decomposed.quantize_per_channel_group.default")
def quantize_per_channel_group(
    ctx: Context, x: Value, scales: Value, zero_points: Value, low: int, high: int, dtype: Any,
    group_size: int,
) -> Value:  # fmt: skip
    """A matrix with a scale and an integral zero point for each group of a row."""
    blocks = [ONE, _group(scales, group_size, x)]
    return _quantized_blocks(ctx, x, blocks, scales, zero_points, (low, high))


@converts("quantized_decomposed.dequantize_per_channel_group.default")
def dequantize_per_channel_group(
    ctx: Context, x: Value, scales: Value, zero_points: Value | None, low: int, high: int,
    dtype: Any, group_size: int, output_dtype: Any,
) -> Value:  # fmt: skip
    """A matrix of integers with a scale for each group of a row as floats."""
    blocks = [ONE, _group(scales, group_size, x)]
    return _dequantized_blocks(ctx, x, blocks, scales, zero_points)


def _group(scales: Value, size: int, x: Value) -> IntExpr:
    """The size of groups: a row where this has only one scale."""
    return dims_of(x)[-1] if dims_of(scales)[-1] == ONE else IntExpr.of(size)


@converts("torchao.quantize_affine.default")
def quantize_affine(
    ctx: Context, x: Value, block_size: Sequence[Any], scale: Value, zero_point: Value | None,
    output_dtype: Any, quant_min: int | None = None, quant_max: int | None = None,
) -> Value:  # fmt: skip
    """A tensor whose blocks have a scale and an integral zero point each."""
    low, high = FULL.get(str(output_dtype).removeprefix("torch."), (None, None))
    low, high = low if quant_min is None else quant_min, high if quant_max is None else quant_max
    if low is None or high is None:
        raise Unsupported(f"expected quant_min and quant_max for {output_dtype}, got none")
    return _quantized_blocks(ctx, x, block_size, scale, zero_point, (int(low), int(high)))


@converts("torchao.dequantize_affine.default")
def dequantize_affine(
    ctx: Context, x: Value, block_size: Sequence[Any], scale: Value, zero_point: Value | None,
    input_dtype: Any, quant_min: Any = None, quant_max: Any = None, output_dtype: Any = None,
) -> Value:  # fmt: skip
    """Integers whose blocks have a scale and an integral zero point each as floats."""
    return _dequantized_blocks(ctx, x, block_size, scale, zero_point)


def _quantized_blocks(
    ctx: Context, x: Value, blocks: Sequence[Any], scale: Value, zero_point: Value | None,
    limits: tuple[int, int],
) -> Value:  # fmt: skip
    def convert(x: Value, scale: Value, zero_point: Value, axis: int) -> Value:
        whole = by_reciprocal(ctx, x, scale, axis)
        return quantized(ctx, whole, ctx.number(1, "float32"), zero_point, axis, limits)

    return _in_blocks(ctx, x, blocks, scale, zero_point, convert)


def _dequantized_blocks(
    ctx: Context, x: Value, blocks: Sequence[Any], scale: Value, zero_point: Value | None
) -> Value:
    def convert(x: Value, scale: Value, zero_point: Value, axis: int) -> Value:
        return dequantized(ctx, x, float32_scale(ctx, scale), zero_point, axis)

    return _in_blocks(ctx, x, blocks, scale, zero_point, convert)


def _in_blocks(
    ctx: Context, x: Value, blocks: Sequence[Any], scale: Value, zero_point: Value | None,
    convert: _Convert,
) -> Value:  # fmt: skip
    """Convert blocks, each by its own parameters: along an axis, or as rows of a matrix."""
    sizes = [IntExpr.of(b) for b in blocks]
    empty = zero_point is not None and IntExpr.of(0) in dims_of(zero_point)
    own = [scale, ctx.number(0, "int32") if zero_point is None or empty else zero_point]
    if is_float(dtype_of(own[1])):  # an integer all the same
        own[1] = ctx.astype(own[1], "int32")
    dims = dims_of(x)
    axes = [a for a, (dim, size) in enumerate(zip(dims, sizes, strict=True)) if dim != size]
    if not axes:
        return convert(x, ctx.reshape(own[0], []), ctx.reshape(own[1], []), -1)
    vectors = [ctx.flat(p) if dims_of(p) else p for p in own]
    last = axes[-1]
    if len(axes) == 1 and sizes[last] == ONE:
        return convert(x, vectors[0], vectors[1], last)
    size = sizes[last].constant
    if any(sizes[a] != ONE for a in range(last)) or size is None:
        shape = ", ".join(map(str, sizes))
        raise Unsupported(f"expected blocks of whole rows or of parts of them, got [{shape}]")
    count = reduce(mul, dims[:last], dims[last] // size)
    rows = ctx.reshape(x, [count, reduce(mul, sizes[last:], ONE)])
    return ctx.reshape(convert(rows, vectors[0], vectors[1], 0), dims)

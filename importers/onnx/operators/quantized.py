"""Quantization and dequantization: of a tensor, along an axis, and in blocks."""

from __future__ import annotations

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE, IntExpr
from ..context import Context
from ..formula import HALF, Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor, axis_of
from ..weights import NARROW, NarrowData, dtype_of_element

FULL = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
"""The ranges of quantized integers."""


def is_single(parameter: Tensor) -> bool:
    """Whether a scale or a zero point has one element."""
    return all(d == ONE for d in parameter.dims)


def zero_point_or(ctx: Context, zero_point: Tensor | None, dtype: str) -> Tensor:
    """A zero point, 0 where it is left out; raises ValueError for one of another dtype."""
    if zero_point is None:
        return ctx.number(0, dtype)
    if zero_point.dtype != dtype:
        raise ValueError(f"expected a zero point of {dtype}, got {zero_point.dtype}")
    return zero_point


def _axis(x: Tensor, axis: int) -> int:
    """The axis of a vector; there is one choice for tensors of rank 0 and 1."""
    return axis_of(axis, x.rank) if x.rank > 1 else -1


def narrowed(ctx: Context, parameter: Tensor, x: Tensor, axis: int) -> Tensor:
    """A scale or zero point of rank 0, or of rank 1 with the length of an axis."""
    if is_single(parameter):
        return ctx.reshape(parameter, [])
    if parameter.rank != 1 or not x.rank:
        raise ValueError(
            f"expected a scale and a zero point of rank 0 or 1 for rank {x.rank}, "
            f"got rank {parameter.rank}"
        )
    return ctx.fitted(parameter, [x.dims[_axis(x, axis)]])


def spread(ctx: Context, parameter: Tensor, x: Tensor, axis: int, block: int = 0) -> Tensor:
    """A scale or zero point that broadcasts against `x`; `block` elements of an axis share one."""
    if block and not is_single(parameter):
        return _in_blocks(ctx, parameter, x, axis_of(axis, x.rank), block)
    found = narrowed(ctx, parameter, x, axis)
    at = _axis(x, axis) % max(x.rank, 1)
    return ctx.reshape(found, [*found.dims, *[ONE] * (x.rank - at - 1)]) if found.rank else found


def _in_blocks(ctx: Context, parameter: Tensor, x: Tensor, axis: int, block: int) -> Tensor:
    if parameter.rank != x.rank:
        raise ValueError(f"expected a scale of rank {x.rank} for blocks, got {parameter.rank}")
    count, wanted = parameter.dims[axis], x.dims[axis]
    rest = count * block - wanted
    if block < 0 or (rest.is_constant and not 0 <= rest.offset < block):
        raise ValueError(f"expected blocks of {block} for {wanted} elements, got {count} scales")
    found = ctx.emit("repeat", parameter, repeats=block, axis=axis)
    if rest != IntExpr.of(0):
        found = ctx.emit("strided_slice", found, axes=[axis], begin=[0], end=[wanted])
    return ctx.fitted(found, x.dims)


def dequantized(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    axis: int = 1,
    out_dtype: str = "",
    block: int = 0,
) -> Tensor:
    """``(x - zero_point) * scale``, by default in the dtype of the scale."""
    if scale.dtype not in FLOATS:
        raise ValueError(f"expected a scale of floats, got {scale.dtype}")
    dtype, shift = out_dtype or scale.dtype, zero_point_or(ctx, zero_point, x.dtype)
    if not block or is_single(scale):
        own = (narrowed(ctx, p, x, axis) for p in (scale, shift))
        return ctx.emit("dequantize", x, *own, axis=_axis(x, axis), out_dtype=dtype)
    scale, shift = (spread(ctx, p, x, axis, block) for p in (scale, shift))
    working = "float64" if "float64" in (scale.dtype, dtype) else "float32"
    difference = Formula(ctx, x).to("int32") - ctx.astype(shift, "int32")
    return (difference.to(working) * ctx.astype(scale, working)).to(dtype).tensor


def quantized(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None,
    dtype: str,
    axis: int = 1,
    block: int = 0,
    limits: tuple[int, int] | None = None,
) -> Tensor:
    """``round(x / scale) + zero_point``, saturated to `limits`, by default those of the dtype.

    Operands have one dtype of floats, in which the quotient is rounded.
    """
    shift, limits = zero_point_or(ctx, zero_point, dtype), limits or FULL[dtype]
    blocks = block and not is_single(scale)
    if not blocks and x.dtype not in HALF and limits == FULL[dtype]:
        own = (narrowed(ctx, p, x, axis) for p in (scale, shift))
        return ctx.emit("quantize", x, *own, axis=_axis(x, axis), out_dtype=dtype)
    scale, shift = (spread(ctx, p, x, axis, block) for p in (scale, shift))
    whole = Formula.wide(ctx, (Formula(ctx, x) / scale).apply("round").tensor)
    found = whole + ctx.astype(shift, whole.dtype)
    return found.at_least(limits[0]).at_most(limits[1]).to(dtype).tensor


@converts("DequantizeLinear")
@converts("DequantizeLinear", domain=MICROSOFT)
def dequantize_linear(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Tensor:
    """Integers as floats."""
    dtype = dtype_of_element(output_dtype) if output_dtype else scale.dtype
    return dequantized(ctx, x, scale, zero_point, axis, dtype, block_size)


@converts("QuantizeLinear")
@converts("QuantizeLinear", domain=MICROSOFT)
def quantize_linear(
    ctx: Context,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    saturate: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
) -> Tensor:
    """Floats as integers; the dtype of the scale, or `precision`, is that of the quotient."""
    dtype, limits = _target(zero_point, output_dtype)
    working = dtype_of_element(precision) if precision else scale.dtype
    working = working if working in FLOATS else "float64"
    x, scale = ctx.astype(x, working), ctx.astype(scale, working)
    return quantized(ctx, x, scale, zero_point, dtype, axis, block_size, limits)


def _target(zero_point: Tensor | None, element: int) -> tuple[str, tuple[int, int]]:
    """The dtype of quantized integers, and their range: that of the zero point, or of `element`."""
    data = None if zero_point is None else zero_point.data
    if isinstance(data, NarrowData):
        return data.dtype, data.narrow.limits
    if zero_point is None and element in NARROW:
        return NARROW[element].dtype, NARROW[element].limits
    named = dtype_of_element(element) if element else "uint8"
    dtype = named if zero_point is None else zero_point.dtype
    if dtype not in FULL or (element and named != dtype):
        raise ValueError(
            f"expected a zero point of {named if element else 'integers'}, got {dtype}"
        )
    return dtype, FULL[dtype]


@converts("DynamicQuantizeLinear")
def dynamic_quantize_linear(ctx: Context, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A float32 tensor as uint8, with the scale and the zero point of its range and 0."""
    high = Formula(ctx, ctx.emit("max", x)).at_least(0)
    low = Formula(ctx, ctx.emit("min", x)).at_most(0)
    extent = high - low
    scale = extent.where(extent.differs(0), 1) / 255
    zero_point = (0 - low / scale).at_least(0).at_most(255).apply("round").to("uint8")
    found = quantized(ctx, x, scale.tensor, zero_point.tensor, "uint8")
    return found, scale.tensor, zero_point.tensor

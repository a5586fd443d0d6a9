"""Matmuls of quantized tensors, with int32 sums."""

from __future__ import annotations

from ....dialects.int_expr import ONE
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .linear import product
from .quantized import dynamic_quantize_linear, is_single, zero_point_or


def is_zero(shift: Tensor | None) -> bool:
    """Whether a zero point is known to be 0."""
    return shift is None or (shift.known is not None and not shift.known.any())


def differences(
    ctx: Context, a: Tensor, b: Tensor, a_shift: Tensor | None, b_shift: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Two tensors of 8 bits minus their zero points, which broadcast, in one dtype of integers."""
    for operand in (a, b):
        if operand.dtype not in ("int8", "uint8"):
            raise ValueError(f"expected quantized integers of 8 bits, got {operand.dtype}")
    plain = a.dtype == b.dtype and is_zero(a_shift) and is_zero(b_shift)
    dtype = a.dtype if plain else "int16"
    return _minus(ctx, a, a_shift, dtype), _minus(ctx, b, b_shift, dtype)


def _minus(ctx: Context, x: Tensor, shift: Tensor | None, dtype: str) -> Tensor:
    found = ctx.astype(x, dtype)
    if is_zero(shift):
        return found
    own = ctx.astype(zero_point_or(ctx, shift, x.dtype), dtype)
    return ctx.elementwise("subtract", found, own)


def of_rows(ctx: Context, parameter: Tensor) -> Tensor:
    """A parameter of the left operand of a matmul, of which a vector has one for each row."""
    if is_single(parameter):
        return ctx.reshape(parameter, [])
    return ctx.reshape(parameter, [*parameter.dims, ONE]) if parameter.rank == 1 else parameter


def of_columns(ctx: Context, parameter: Tensor) -> Tensor:
    """A parameter of the right operand of a matmul, of which a vector has one for each column."""
    return ctx.reshape(parameter, []) if is_single(parameter) else parameter


def requantized(
    ctx: Context, total: Tensor, factor: Formula, zero_point: Tensor | None, dtype: str
) -> Tensor:
    """``round(total * factor) + zero_point`` as integers that saturate; the product is exact."""
    exact = Formula(ctx, total).to("float64") * factor.to("float64")
    own = zero_point_or(ctx, zero_point, dtype)
    shift = ctx.astype(ctx.reshape(own, []) if is_single(own) else own, "float64")
    return (exact.apply("round") + shift).to(dtype).tensor


@converts("MatMulInteger")
def matmul_integer(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
) -> Tensor:
    """``(a - a_zero_point) @ (b - b_zero_point)`` as int32."""
    left = None if a_zero_point is None else of_rows(ctx, a_zero_point)
    right = None if b_zero_point is None else of_columns(ctx, b_zero_point)
    return product(ctx, *differences(ctx, a, b, left, right), "int32")


@converts("MatMulInteger16", domain=MICROSOFT)
def matmul_integer_16(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` of int16 as int32."""
    return product(ctx, a, b, "int32")


@converts("QLinearMatMul")
def qlinear_matmul(
    ctx: Context,
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    scale: Tensor,
    zero_point: Tensor,
) -> Tensor:
    """A matmul of quantized tensors as a quantized tensor."""
    total = matmul_integer(ctx, a, b, a_zero_point, b_zero_point)
    factor = _factor(ctx, a_scale, b_scale) / of_rows(ctx, scale)
    return requantized(ctx, total, factor, of_rows(ctx, zero_point), zero_point.dtype)


def _factor(ctx: Context, a_scale: Tensor, b_scale: Tensor) -> Formula:
    return Formula(ctx, of_rows(ctx, a_scale)) * of_columns(ctx, b_scale)


@converts("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """A matmul of quantized tensors as floats."""
    total = Formula(ctx, matmul_integer(ctx, a, b, a_zero_point, b_zero_point))
    found = total.to(a_scale.dtype) * _factor(ctx, a_scale, b_scale)
    return found.tensor if bias is None else (found + bias).tensor


@converts("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(
    ctx: Context,
    a: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """A matmul of floats, which are quantized by their range first, and quantized weights."""
    integers, scale, shift = dynamic_quantize_linear(ctx, a)
    return matmul_integer_to_float(ctx, integers, b, scale, b_scale, shift, b_zero_point, bias)


@converts("QGemm", domain=MICROSOFT)
def qgemm(
    ctx: Context,
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor | None,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor | None,
    c: Tensor | None = None,
    scale: Tensor | None = None,
    zero_point: Tensor | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """``alpha * a @ b + c`` of quantized matrices, as floats where no scale is given."""
    if a.rank != 2 or b.rank != 2:
        raise ValueError(f"expected matrices, got rank {a.rank} and {b.rank}")
    a, b = (ctx.permute(m, [1, 0]) if t else m for m, t in ((a, transA), (b, transB)))
    total = Formula(ctx, matmul_integer(ctx, a, b, a_zero_point, b_zero_point))
    total = total if c is None else total + c
    factor = _factor(ctx, a_scale, b_scale) * alpha
    if scale is None:
        return (total.to("float32") * factor).tensor
    dtype = a.dtype if zero_point is None else zero_point.dtype
    factor = factor / ctx.reshape(scale, [])
    return requantized(ctx, total.tensor, factor, zero_point, dtype)

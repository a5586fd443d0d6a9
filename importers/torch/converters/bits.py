"""Functions of the bits of numbers: signs, exponents, neighbors, and views as other dtypes."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ....dialects.dtypes import FLOATS, bit_width
from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of, dtype_of
from ..context import Context
from ..dtypes import dtype_name, float_of
from ..formulas import Formula
from ..registry import converts

_EXPONENT = 0x7FF << 52
"""The bits of the exponent in float64."""
_HALF = 1022 << 52
"""The exponent of numbers in [0.5, 1)."""


def _bits(ctx: Context, x: Value) -> Formula:
    """The bits as a signed integer of the same width."""
    if dtype_of(x) == "bfloat16":  # the upper half of a float32
        wide = Formula(ctx, ctx.astype(x, "float32")).bitcast("int32")
        return wide.op("right_shift", 16).astype("int16")
    return Formula(ctx, x).bitcast(f"int{bit_width(dtype_of(x))}")


def _of_bits(bits: Formula, dtype: str) -> Value:
    """The number of a dtype whose bits are those of an integer of the same width."""
    return bits.bitcast(dtype).value


@converts("aten.signbit.default")
def signbit(ctx: Context, x: Value) -> Value:
    """Whether numbers are negative, or -0.0, or a NaN whose sign is set."""
    if dtype_of(x) == "bool":
        return ctx.op("logical_and", x, ctx.op("logical_not", x))
    return ((_bits(ctx, x) if dtype_of(x) in FLOATS else Formula(ctx, x)) < 0).value


@converts("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(ctx: Context, x: Value, other: Any) -> Value:
    """The size of `x` with the sign of `other`, also of zeros and NaN."""
    dtype = float_of(ctx.common_dtype(x, other))
    size, sign = (_bits(ctx, ctx.as_tensor(v, dtype)) for v in (x, other))
    highest = -(1 << (bit_width(dtype) - 1))
    return _of_bits((size & ~highest) | (sign & highest), dtype)


@converts("aten.frexp.Tensor")
def frexp(ctx: Context, x: Value) -> tuple[Value, Value]:
    """A number in [0.5, 1) and the exponent of 2 (int32) whose product is `x`."""
    wide = Formula(ctx, ctx.astype(x, "float64"))
    is_denormal = abs(wide) < 2.0**-1022
    bits = is_denormal.where(wide * 2.0**54, wide).bitcast("int64")
    exponent = (bits & _EXPONENT).op("right_shift", 52) - 1022
    exponent = is_denormal.where(exponent - 54, exponent)
    fraction = ((bits & ~_EXPONENT) | _HALF).bitcast("float64")
    is_plain = wide.op("isfinite") & (abs(wide) > 0)
    mantissa = is_plain.where(fraction, wide).astype(dtype_of(x))
    return mantissa.value, is_plain.where(exponent, 0).astype("int32").value


@converts("aten.nextafter.default")
def nextafter(ctx: Context, x: Value, other: Value) -> Value:
    """The next number from `x` in the direction of `other`."""
    dtype = ctx.dtype
    start, end = (Formula(ctx, ctx.broadcast(ctx.astype(v, dtype), ctx.dims)) for v in (x, other))
    bits = _bits(ctx, start.value)
    one = bits.number(1)
    moved = bits + ((end > start).equals(start > 0)).where(one, -one)
    smallest = (end > 0).where(one, one | -(1 << (bit_width(dtype) - 1)))
    moved = start.equals(0).where(smallest, moved)
    found = Formula(ctx, _of_bits(moved, dtype))
    found = start.equals(end).where(end, found)
    return (start.op("isnan") | end.op("isnan")).where(start + end, found).value


@converts("aten.hypot.default")
def hypot(ctx: Context, x: Value, other: Value) -> Value:
    """The length of the vector ``(x, other)``, without overflow in between."""
    wide = "float64" if ctx.dtype == "float64" else "float32"
    first, second = (abs(Formula(ctx, ctx.astype(v, wide))) for v in (x, other))
    large, small = first.op("maximum", second), first.op("minimum", second)
    ratio = small / large.equals(0).where(large.number(1), large)
    found = large * (ratio * ratio + 1).op("sqrt")
    is_infinite = first.op("isinf") | second.op("isinf")
    return is_infinite.where(found.number(float("inf")), found).astype(ctx.dtype).value


@converts("aten.angle.default")
def angle(ctx: Context, x: Value) -> Value:
    """The angle of real numbers: pi below 0, else 0."""
    wide = Formula(ctx, ctx.astype(x, ctx.dtype))
    found = (wide < 0).where(wide.number(3.141592653589793), 0)
    return wide.op("isnan").where(wide, found).value


@converts("aten.view.dtype")
def view_dtype(ctx: Context, x: Value, dtype: Any) -> Value:
    """The bytes of the tensor, of the machine's order, as numbers of another dtype."""
    return viewed(ctx, x, dtype_name(dtype))


def viewed(ctx: Context, x: Value, dtype: str) -> Value:
    """The bytes of a tensor as numbers of another dtype; the last dim changes with the width."""
    if dtype_of(x) == dtype:
        return x
    own, new = (_bytes_of(d) * 8 for d in (dtype_of(x), dtype))
    bits = Formula(ctx, ctx.astype(x, "uint8")) if dtype_of(x) == "bool" else _unsigned(ctx, x)
    if new < own:
        bits = _divided(ctx, bits, own, new)
    elif new > own:
        bits = _joined(ctx, bits, own, new)
    if dtype == "bool":
        return bits.op("not_equal", 0).value
    return _of_bits(bits, dtype) if dtype in FLOATS else bits.astype(dtype).value


def _bytes_of(dtype: str) -> int:
    return max(bit_width(dtype) // 8, 1)


def _unsigned(ctx: Context, x: Value) -> Formula:
    bits = _bits(ctx, x) if dtype_of(x) in FLOATS else Formula(ctx, x)
    return bits.astype(f"uint{bit_width(dtype_of(x))}")


def _divided(ctx: Context, bits: Formula, own: int, new: int) -> Formula:
    parts = [bits.op("right_shift", n).astype(f"uint{new}").value for n in range(0, own, new)]
    *outer, last = dims_of(bits.value)
    stacked = ctx.op("stack", *parts, axis=len(outer) + 1)
    return Formula(ctx, ctx.reshape(stacked, [*outer, last * len(parts)]))


def _joined(ctx: Context, bits: Formula, own: int, new: int) -> Formula:
    *outer, last = dims_of(bits.value)
    count = new // own
    apart = ctx.reshape(bits.value, [*outer, last // count, IntExpr.of(count)])
    pieces = ctx.fields(ctx.op("split", apart, indices_or_sections=count, axis=len(outer) + 1))
    wide = [Formula(ctx, ctx.op("squeeze", p, axis=[len(outer) + 1])) for p in pieces]
    shifted = [p.astype(f"uint{new}").op("left_shift", own * n) for n, p in enumerate(wide)]
    return reduce(lambda a, b: a | b, shifted)

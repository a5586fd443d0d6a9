"""Arithmetic, comparison and logic of two operands, with PyTorch's promotion of dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects.dtypes import FLOATS
from ...emitter import Value, dtype_of, is_tensor
from ..context import Context
from ..dtypes import float_of
from ..registry import converts

_COMPARISONS = {
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "ne": "not_equal",
}
_BITWISE = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
_LOGICAL = {f"logical_{n}": f"logical_{n}" for n in ("and", "or", "xor")}
_OF_BOOLS = {"add": "logical_or", "maximum": "logical_or", "minimum": "logical_and",
             "multiply": "logical_and"}  # fmt: skip


def binary(ctx: Context, operator: str, x: Any, y: Any, dtype: str | None = None) -> Value:
    """An operator in the operands' common dtype, or in `dtype`.

    As in PyTorch, it computes in float32 if a number is inexact in float16 or bfloat16.
    """
    common = dtype or ctx.common_dtype(x, y)
    if common == "bool" and operator in _OF_BOOLS:
        operator = _OF_BOOLS[operator]
    inner = ctx.widened((x, y), common)
    result = ctx.op(operator, ctx.as_tensor(x, inner), ctx.as_tensor(y, inner))
    return ctx.astype(result, common)


def _scaled(ctx: Context, y: Any, alpha: Any, dtype: str) -> Any:
    if alpha == 1:
        return y
    return y * alpha if not is_tensor(y) else binary(ctx, "multiply", y, alpha, dtype)


@converts("aten.add.Tensor", "aten.add.Scalar")
def add(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Value:
    """``x + alpha * other``."""
    dtype = ctx.common_dtype(x, other)
    return binary(ctx, "add", x, _scaled(ctx, other, alpha, dtype), dtype)


@converts("aten.sub.Tensor", "aten.sub.Scalar")
def subtract(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Value:
    """``x - alpha * other``."""
    dtype = ctx.common_dtype(x, other)
    return binary(ctx, "subtract", x, _scaled(ctx, other, alpha, dtype), dtype)


@converts("aten.rsub.Tensor", "aten.rsub.Scalar")
def reverse_subtract(ctx: Context, x: Any, other: Any, alpha: Any = 1) -> Value:
    """``other - alpha * x``."""
    return subtract(ctx, other, x, alpha)


@converts("aten.mul.Tensor", "aten.mul.Scalar")
def multiply(ctx: Context, x: Any, other: Any) -> Value:
    """``x * other``."""
    return binary(ctx, "multiply", x, other)


@converts("aten.div.Tensor", "aten.div.Scalar")
def divide(ctx: Context, x: Any, other: Any) -> Value:
    """``x / other`` as a float."""
    return binary(ctx, "divide", x, other, float_of(ctx.common_dtype(x, other)))


@converts("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def divide_rounding(ctx: Context, x: Any, other: Any, rounding_mode: str | None = None) -> Value:
    """``x / other``, rounded down or towards zero."""
    if rounding_mode is None:
        return divide(ctx, x, other)
    dtype = ctx.common_dtype(x, other)
    if rounding_mode == "floor":
        return binary(ctx, "floor_divide", x, other, dtype)
    if dtype in FLOATS:
        return ctx.op("trunc", binary(ctx, "divide", x, other, dtype))
    return binary(ctx, "divide", x, other, dtype)


@converts("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(ctx: Context, x: Any, other: Any) -> Value:
    """``x // other``."""
    return binary(ctx, "floor_divide", x, other)


@converts("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def remainder(ctx: Context, x: Any, other: Any) -> Value:
    """``x % other`` with the sign of `other`."""
    return binary(ctx, "floor_mod", x, other)


@converts("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(ctx: Context, x: Any, other: Any) -> Value:
    """The remainder with the sign of `x`."""
    return binary(ctx, "mod", x, other)


@converts("aten.maximum.default", "aten.max.other")
def maximum(ctx: Context, x: Value, other: Value) -> Value:
    """The larger of two, NaN where either is."""
    return binary(ctx, "maximum", x, other)


@converts("aten.minimum.default", "aten.min.other")
def minimum(ctx: Context, x: Value, other: Value) -> Value:
    """The smaller of two, NaN where either is."""
    return binary(ctx, "minimum", x, other)


@converts("aten.atan2.default")
def atan2(ctx: Context, x: Value, other: Value) -> Value:
    """The angle of the point ``(other, x)``."""
    return binary(ctx, "atan2", x, other, float_of(ctx.common_dtype(x, other)))


@converts("aten.fmax.default")
def fmax(ctx: Context, x: Value, other: Value) -> Value:
    """The larger of two; NaN is ignored if only one is."""
    return _unless_nan(ctx, "maximum", x, other)


@converts("aten.fmin.default")
def fmin(ctx: Context, x: Value, other: Value) -> Value:
    """The smaller of two; NaN is ignored if only one is."""
    return _unless_nan(ctx, "minimum", x, other)


def _unless_nan(ctx: Context, operator: str, x: Value, other: Value) -> Value:
    dtype = ctx.dtype
    x, other = ctx.astype(x, dtype), ctx.astype(other, dtype)
    if dtype not in FLOATS:
        return binary(ctx, operator, x, other, dtype)
    chosen = ctx.op("where", ctx.op("isnan", other), x, ctx.op(operator, x, other))
    return ctx.op("where", ctx.op("isnan", x), other, chosen)


@converts("aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar")
def power(ctx: Context, x: Any, exponent: Any) -> Value:
    """``x ** exponent``; small integral exponents become multiplications, as in PyTorch."""
    dtype = ctx.common_dtype(x, exponent)
    if is_tensor(exponent) or (dtype not in FLOATS and exponent not in (2, 3)):
        return binary(ctx, "power", x, exponent, dtype)
    x = ctx.astype(x, dtype)
    match exponent:
        case 1:
            return x
        case 2:
            return ctx.op("multiply", x, x)
        case 3:
            return ctx.op("multiply", ctx.op("multiply", x, x), x)
        case 0.5:
            return ctx.op("sqrt", x)
        case -0.5:
            return ctx.op("rsqrt", x)
        case -1:
            return ctx.op("divide", ctx.number(1, dtype), x)
        case _:
            return binary(ctx, "power", x, exponent, dtype)


@converts("aten.addcmul.default")
def addcmul(ctx: Context, x: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    """``x + value * tensor1 * tensor2``."""
    return add(ctx, x, multiply(ctx, tensor1, tensor2), value)


@converts("aten.addcdiv.default")
def addcdiv(ctx: Context, x: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    """``x + value * tensor1 / tensor2``."""
    return add(ctx, x, divide(ctx, tensor1, tensor2), value)


def _comparison(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Any, other: Any) -> Value:
        common = ctx.common_dtype(x, other)
        inner = "uint8" if common == "bool" else common
        return ctx.op(operator, ctx.as_tensor(x, inner), ctx.as_tensor(other, inner))

    return convert


def _bitwise(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Any, other: Any) -> Value:
        common = ctx.common_dtype(x, other)
        chosen = operator.replace("bitwise", "logical") if common == "bool" else operator
        return ctx.op(chosen, ctx.as_tensor(x, common), ctx.as_tensor(other, common))

    return convert


def _logical(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Value, other: Value) -> Value:
        return ctx.op(operator, truth(ctx, x), truth(ctx, other))

    return convert


def _shift(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Any, other: Any) -> Value:
        return binary(ctx, operator, x, other)

    return convert


def truth(ctx: Context, x: Value) -> Value:
    """Whether elements are other than 0."""
    if dtype_of(x) == "bool":
        return x
    return ctx.astype(x, "bool")


for _name, _operator in _COMPARISONS.items():
    converts(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_comparison(_operator))
for _name, _operator in _BITWISE.items():
    converts(
        *(f"aten.bitwise_{_name}.{o}" for o in ("Tensor", "Scalar", "Scalar_Tensor")),
        *(f"aten.__{_name}__.{o}" for o in ("Tensor", "Scalar")),
    )(_bitwise(_operator))
for _name, _operator in _LOGICAL.items():
    converts(f"aten.{_name}.default")(_logical(_operator))
for _name in ("left", "right"):
    converts(
        *(f"aten.bitwise_{_name}_shift.{o}" for o in ("Tensor", "Tensor_Scalar")),
        f"aten.__{_name[0]}shift__.Scalar",
        f"aten.__{_name[0]}shift__.Tensor",
    )(_shift(f"{_name}_shift"))


@converts("aten.logical_not.default")
def logical_not(ctx: Context, x: Value) -> Value:
    """Whether elements are 0."""
    return ctx.op("logical_not", truth(ctx, x))


@converts("aten.bitwise_not.default")
def bitwise_not(ctx: Context, x: Value) -> Value:
    """All bits inverted; the negation of bools."""
    return ctx.op("logical_not" if dtype_of(x) == "bool" else "bitwise_not", x)

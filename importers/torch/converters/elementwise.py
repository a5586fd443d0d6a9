"""Unary elementwise operators, selection, and dtype conversion."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import torch

from ....dialects.dtypes import FLOATS
from ...emitter import Value, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..dtypes import dtype_name, float_of
from ..registry import converts
from .arithmetic import binary

_OF_FLOATS = (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
)
_ROUNDING = ("ceil", "floor", "round", "trunc")
_TESTS = {"isfinite": True, "isinf": False, "isnan": False}
"""Tests of floats, and their result for integers."""


def _float_function(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Value) -> Value:
        return ctx.op(operator, ctx.astype(x, float_of(dtype_of(x))))

    return convert


def _rounding(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Value) -> Value:
        return ctx.op(operator, x) if dtype_of(x) in FLOATS else x

    return convert


def _test(operator: str, otherwise: bool) -> Callable[..., Value]:
    def convert(ctx: Context, x: Value) -> Value:
        if dtype_of(x) in FLOATS:
            return ctx.op(operator, x)
        return ctx.broadcast(ctx.number(otherwise, "bool"), ctx.dims)

    return convert


for _name in _OF_FLOATS:
    converts(f"aten.{_name}.default")(_float_function(_name))
for _name in _ROUNDING:
    converts(f"aten.{_name}.default")(_rounding(_name))
for _name, _otherwise in _TESTS.items():
    converts(f"aten.{_name}.default")(_test(_name, _otherwise))


@converts("aten.round.decimals")
def round_decimals(ctx: Context, x: Value, decimals: int) -> Value:
    """`x` rounded to a number of decimals."""
    power = ctx.number(10.0 ** abs(decimals), dtype_of(x))
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return ctx.op(back, ctx.op("round", ctx.op(there, x, power)), power)


@converts("aten.neg.default")
def negative(ctx: Context, x: Value) -> Value:
    """``-x``."""
    return ctx.op("negative", x)


@converts("aten.abs.default")
def absolute(ctx: Context, x: Value) -> Value:
    """``|x|``."""
    return x if dtype_of(x) in ("bool", "uint8") else ctx.op("abs", x)


@converts("aten.sign.default", "aten.sgn.default")
def sign(ctx: Context, x: Value) -> Value:
    """-1, 0 or 1."""
    return x if dtype_of(x) == "bool" else ctx.op("sign", x)


@converts("aten.square.default")
def square(ctx: Context, x: Value) -> Value:
    """``x * x``."""
    return binary(ctx, "multiply", x, x)


@converts("aten.reciprocal.default")
def reciprocal(ctx: Context, x: Value) -> Value:
    """``1 / x``."""
    return binary(ctx, "divide", 1, x, float_of(dtype_of(x)))


@converts("aten.log10.default")
def log10(ctx: Context, x: Value) -> Value:
    """The logarithm to base 10."""
    dtype = float_of(dtype_of(x))
    inner = ctx.astype(x, "float32" if dtype in ("float16", "bfloat16") else dtype)
    return ctx.astype(binary(ctx, "multiply", ctx.op("log", inner), 1 / log(10)), dtype)


@converts("aten.exp2.default")
def exp2(ctx: Context, x: Value) -> Value:
    """``2 ** x``."""
    return binary(ctx, "power", 2.0, x, float_of(dtype_of(x)))


@converts("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(ctx: Context, condition: Value, x: Any, other: Any) -> Value:
    """`x` where the condition holds, else `other`."""
    dtype = ctx.common_dtype(x, other)
    condition = ctx.astype(condition, "bool")
    return ctx.op("where", condition, ctx.as_tensor(x, dtype), ctx.as_tensor(other, dtype))


@converts("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(ctx: Context, x: Value, mask: Value, value: Any) -> Value:
    """`value` where the mask holds, else `x`, in the dtype of `x`."""
    return ctx.op("where", mask, ctx.as_tensor(value, dtype_of(x)), x)


@converts("aten.clamp.default", "aten.clamp.Tensor", "aten.clip.default")
def clamp(ctx: Context, x: Value, min: Any = None, max: Any = None) -> Value:
    """`x` clamped to two bounds, of which one may be missing."""
    bounds = [b for b in (min, max) if b is not None]
    dtype = ctx.common_dtype(x, *bounds)
    x = ctx.astype(x, dtype)
    if min is not None:
        x = ctx.op("maximum", x, ctx.as_tensor(min, dtype))
    return x if max is None else ctx.op("minimum", x, ctx.as_tensor(max, dtype))


@converts("aten.clamp_min.default", "aten.clamp_min.Tensor")
def clamp_min(ctx: Context, x: Value, min: Any) -> Value:
    """Elements that are at least a bound."""
    return clamp(ctx, x, min)


@converts("aten.clamp_max.default", "aten.clamp_max.Tensor")
def clamp_max(ctx: Context, x: Value, max: Any) -> Value:
    """Elements that are at most a bound."""
    return clamp(ctx, x, None, max)


@converts("aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default", "aten.to.device",
          "aten.type_as.default", "aten.to.other")  # fmt: skip
def to(ctx: Context, x: Value, *args: Any, dtype: torch.dtype | None = None, **_: Any) -> Value:
    """The same values in the dtype of the result."""
    if ctx.result.device.type != "cpu":
        raise Unsupported(f"expected a tensor on the cpu, got one on {ctx.result.device}")
    return ctx.astype(x, ctx.dtype)


@converts(
    "aten.alias.default",
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.detach.default",
    "aten.detach_.default",
    "aten.lift_fresh.default",
    "aten.lift_fresh_copy.default",
    "aten.lift.default",
    "aten.positive.default",
)
def identity(ctx: Context, x: Value, **_: Any) -> Value:
    """The same values."""
    return x


@converts("aten.copy.default")
def copy(ctx: Context, x: Value, src: Value, *_: Any) -> Value:
    """The values of `src` in the dtype and the shape of `x`."""
    return ctx.broadcast(ctx.astype(src, dtype_of(x)), dims_of(x))


@converts("prims.convert_element_type.default")
def convert_element_type(ctx: Context, x: Value, dtype: torch.dtype) -> Value:
    """The values in another dtype."""
    return ctx.astype(x, dtype_name(dtype))

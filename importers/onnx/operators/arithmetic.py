"""Elementwise operators of one and two tensors, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ....dialects.dtypes import FLOATS
from ..context import Context
from ..registry import converts
from ..tensor import Tensor

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseNot": "bitwise_not",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "IsNaN": "isnan",
    "Log": "log",
    "Neg": "negative",
    "Not": "logical_not",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}
_BINARY = {
    "Add": "add",
    "And": "logical_and",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Mul": "multiply",
    "Or": "logical_or",
    "Sub": "subtract",
    "Xor": "logical_xor",
}


def _unary(operator: str) -> Callable[..., Tensor]:
    def convert(ctx: Context, x: Tensor) -> Tensor:
        return ctx.emit(operator, x)

    return convert


def _binary(operator: str) -> Callable[..., Tensor]:
    def convert(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
        return ctx.elementwise(operator, a, b)

    return convert


for _name, _operator in _UNARY.items():
    converts(_name)(_unary(_operator))
for _name, _operator in _BINARY.items():
    converts(_name)(_binary(_operator))


@converts("Div")
def divide(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
    """``a / b``; integers truncate towards 0."""
    if a.dtype in FLOATS:
        return ctx.elementwise("divide", a, b)
    if a.dtype.startswith("uint"):
        return ctx.elementwise("floor_divide", a, b)
    quotient = ctx.elementwise("floor_divide", ctx.emit("abs", a), ctx.emit("abs", b))
    signs = ctx.elementwise("multiply", ctx.emit("sign", a), ctx.emit("sign", b))
    return ctx.elementwise("multiply", quotient, signs)


def _folding(operator: str) -> Callable[..., Tensor]:
    def convert(ctx: Context, *inputs: Tensor) -> Tensor:
        return reduce(lambda a, b: ctx.elementwise(operator, a, b), inputs)

    return convert


for _name, _operator in {"Max": "maximum", "Min": "minimum", "Sum": "add"}.items():
    converts(_name)(_folding(_operator))


@converts("Mean")
def mean(ctx: Context, *inputs: Tensor) -> Tensor:
    """The mean of tensors, element by element."""
    total = reduce(lambda a, b: ctx.elementwise("add", a, b), inputs)
    return ctx.elementwise("divide", total, ctx.number(len(inputs), total.dtype))

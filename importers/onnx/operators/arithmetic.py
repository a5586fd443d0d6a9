"""Elementwise operators of one and two tensors, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

from ....dialects.dtypes import FLOATS, is_unsigned
from ....dialects.int_expr import ONE
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor, axis_of

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


def _aligned(converter: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A converter for opsets before 7, where the second operand has the first's dims from `axis`.

    By default these are the last dims, as in later opsets.
    """

    def convert(
        ctx: Context, a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0
    ) -> Tensor:
        if broadcast and axis is not None:
            after = a.rank - axis_of(axis, a.rank) - b.rank
            b = ctx.reshape(b, [*b.dims, *[ONE] * after])
        return converter(ctx, a, b)

    return convert


def divide(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
    """``a / b``; integers truncate towards 0."""
    return ctx.elementwise("divide", a, b)


def power(ctx: Context, x: Tensor, exponent: Tensor) -> Tensor:
    """``x ** exponent`` in the dtype of `x`; small constant exponents become multiplications."""
    base = Formula(ctx, x)
    if exponent.known is not None and exponent.known.size == 1 and exponent.rank <= x.rank:
        found = _known_power(Formula.wide(ctx, x), exponent.number("the exponent"))
        if found is not None:
            return found.to(x.dtype).tensor
    if x.dtype in FLOATS:
        return base.with_("power", ctx.astype(exponent, x.dtype)).tensor
    if exponent.dtype in FLOATS:
        found = base.to("float64").with_("power", ctx.astype(exponent, "float64"))
        return _whole(found).to(x.dtype).tensor
    if is_unsigned(x.dtype) and not is_unsigned(exponent.dtype):
        # A negative exponent has no value in the dtype of `x`: the result is 0, or 1 for 1.
        found = base.with_("power", ctx.astype(exponent, x.dtype))
        return found.where(-1 < Formula(ctx, exponent), base.equals(1).to(x.dtype)).tensor
    wide = exponent.dtype if exponent.dtype in ("int64", "uint64") else x.dtype
    return base.to(wide).with_("power", ctx.astype(exponent, wide)).to(x.dtype).tensor


def _whole(x: Formula) -> Formula:
    """Numbers that are integers but for a rounding error as these, so that a cast keeps them."""
    nearest = x.apply("round")
    return nearest.where((x - nearest).apply("abs") < x.apply("abs") * 1e-14, x)


def _known_power(base: Formula, exponent: float) -> Formula | None:
    if exponent == 1:
        return base
    if exponent == 2:
        return base * base
    if exponent == 3:
        return base * base * base
    if base.dtype not in FLOATS:
        return None
    powers = {0.5: "sqrt", -0.5: "rsqrt"}
    if exponent in powers:
        return base.apply(powers[exponent])
    return 1 / base if exponent == -1 else None


for _name, _operator in _UNARY.items():
    converts(_name)(_unary(_operator))
for _name, _converter in {
    "Div": divide,
    "Pow": power,
    **{name: _binary(operator) for name, operator in _BINARY.items()},
}.items():
    converts(_name)(_aligned(_converter))
    converts(_name, since=7)(_converter)


@converts("Erf")
def error_function(ctx: Context, x: Tensor) -> Tensor:
    """The error function; of integers rounded towards 0."""
    if x.dtype in FLOATS:
        return ctx.emit("erf", x)
    return Formula(ctx, x).to("float64").apply("erf").to(x.dtype).tensor


def _folding(operator: str) -> Callable[..., Tensor]:
    def convert(ctx: Context, first: Tensor, *others: Tensor) -> Tensor:
        return reduce(lambda a, b: ctx.elementwise(operator, a, b), others, first)

    return convert


for _name, _operator in {"Max": "maximum", "Min": "minimum", "Sum": "add"}.items():
    converts(_name)(_folding(_operator))


@converts("Mean")
def mean(ctx: Context, first: Tensor, *others: Tensor) -> Tensor:
    """The mean of tensors, element by element."""
    total = reduce(add, (Formula.wide(ctx, x) for x in (first, *others)))
    return (total / (1 + len(others))).to(first.dtype).tensor


@converts("Mod")
def modulo(ctx: Context, a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    """The remainder, with the sign of `b`, or that of `a` with `fmod`."""
    return ctx.elementwise("mod" if fmod else "floor_mod", a, b)


@converts("BitShift")
def bit_shift(ctx: Context, x: Tensor, count: Tensor, *, direction: str) -> Tensor:
    """Bits moved to the "LEFT" or "RIGHT"."""
    if direction not in ("LEFT", "RIGHT"):
        raise ValueError(f"expected direction LEFT or RIGHT, got '{direction}'")
    return ctx.elementwise(f"{direction.lower()}_shift", x, count)


@converts("Reciprocal")
def reciprocal(ctx: Context, x: Tensor) -> Tensor:
    """``1 / x``."""
    return (1 / Formula(ctx, x)).tensor


@converts("IsInf")
def is_infinite(
    ctx: Context, x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1
) -> Tensor:
    """Whether elements are infinite, of one sign or of both."""
    if detect_negative and detect_positive:
        return ctx.emit("isinf", x)
    if not detect_negative and not detect_positive:
        return ctx.broadcast(ctx.number(False, "bool"), x.dims)
    infinity = float("inf") if detect_positive else -float("inf")
    return Formula(ctx, x).equals(infinity).tensor


@converts("Where")
def where(ctx: Context, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """`x` where a condition holds, else `y`."""
    return ctx.elementwise("where", condition, x, y)


@converts("Clip")
def clip_to_numbers(
    ctx: Context, x: Tensor, *, min: float | None = None, max: float | None = None
) -> Tensor:
    """Elements between two numbers."""
    return ctx.emit("clip", x, min=min, max=max)


@converts("Clip", since=11)
def clip(ctx: Context, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """Elements between two bounds, of which each may be missing."""
    bounds = [b for b in (low, high) if b is not None]
    if x.dtype in FLOATS and all(b.known is not None and b.known.size == 1 for b in bounds):
        least, most = (None if b is None else b.number("a bound") for b in (low, high))
        return clip_to_numbers(ctx, x, min=least, max=most)
    for bound in bounds:
        if bound.rank > 1 or (bound.rank == 1 and bound.dims[0] != ONE):
            shape = ", ".join(map(str, bound.dims))
            raise ValueError(f"expected a bound that is one number, got shape ({shape})")
    found = Formula(ctx, x)
    found = found if low is None else found.at_least(ctx.reshape(low, []))
    found = found if high is None else found.at_most(ctx.reshape(high, []))
    return found.tensor

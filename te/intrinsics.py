"""The scalar functions that scripts and tensor expressions may call, one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce

from xdsl.dialects import arith, math
from xdsl.ir import Operation

from ..dialects.dtypes import bit_width, check_dtype, is_float, is_unsigned
from .arithmetic import binary, bitwise_not, cast, const, convert, promote
from .expr import Call, ExprLike, Let, PrimExpr, Var
from .fixed_point import q_multiply_shift, q_multiply_shift_per_axis
from .limits import infinity, max_value, min_value
from .literals import FloatImm, IntImm


@dataclass(frozen=True)
class Intrinsic:
    """A function: the number of its arguments and the operation it becomes."""

    arity: int
    operation: type[Operation]


INTRINSICS: dict[str, Intrinsic] = {
    "exp": Intrinsic(1, math.ExpOp),
    "exp2": Intrinsic(1, math.Exp2Op),
    "expm1": Intrinsic(1, math.ExpM1Op),
    "log": Intrinsic(1, math.LogOp),
    "log2": Intrinsic(1, math.Log2Op),
    "log10": Intrinsic(1, math.Log10Op),
    "log1p": Intrinsic(1, math.Log1pOp),
    "sqrt": Intrinsic(1, math.SqrtOp),
    "rsqrt": Intrinsic(1, math.RsqrtOp),
    "sin": Intrinsic(1, math.SinOp),
    "cos": Intrinsic(1, math.CosOp),
    "tan": Intrinsic(1, math.TanOp),
    "asin": Intrinsic(1, math.AsinOp),
    "acos": Intrinsic(1, math.AcosOp),
    "atan": Intrinsic(1, math.AtanOp),
    "sinh": Intrinsic(1, math.SinhOp),
    "cosh": Intrinsic(1, math.CoshOp),
    "tanh": Intrinsic(1, math.TanhOp),
    "asinh": Intrinsic(1, math.AsinhOp),
    "acosh": Intrinsic(1, math.AcoshOp),
    "atanh": Intrinsic(1, math.AtanhOp),
    "erf": Intrinsic(1, math.ErfOp),
    "floor": Intrinsic(1, math.FloorOp),
    "ceil": Intrinsic(1, math.CeilOp),
    "trunc": Intrinsic(1, math.TruncOp),
    "round": Intrinsic(1, math.RoundEvenOp),
    "nearbyint": Intrinsic(1, math.RoundEvenOp),
    "fabs": Intrinsic(1, math.AbsFOp),
    "neg": Intrinsic(1, arith.NegfOp),
    "pow": Intrinsic(2, math.PowFOp),
    "atan2": Intrinsic(2, math.Atan2Op),
    "copysign": Intrinsic(2, math.CopySignOp),
    "fma": Intrinsic(3, math.FmaOp),
    "ipow": Intrinsic(2, math.IPowIOp),
    "popcount": Intrinsic(1, math.CtPopOp),
    "clz": Intrinsic(1, math.CountLeadingZerosOp),
}
"""Functions by TVM's name; those on floats take integers after a conversion to float32."""

INTEGER_ONLY = ("ipow", "popcount", "clz")
FLOAT_ONLY = (
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "asinh", "acosh", "atanh"),
)
"""Functions that do not take integers, as those of TVM do not."""


def call_intrinsic(name: str, *args: ExprLike) -> PrimExpr:
    """Apply an intrinsic.

    Raises TypeError for a wrong number of arguments or a dtype that it does not take.
    """
    intrinsic = INTRINSICS[name]
    if len(args) != intrinsic.arity:
        raise TypeError(f"'{name}' expects {intrinsic.arity} arguments, got {len(args)}")
    exprs = _common([convert(a) for a in args])
    dtype = exprs[0].dtype
    if name in INTEGER_ONLY:
        if is_float(dtype):
            raise TypeError(f"'{name}' expects an integer, got {dtype}")
        return Call(name, tuple(exprs), dtype)
    if name in FLOAT_ONLY and not is_float(dtype):
        raise TypeError(f"'{name}' expects a float, got {dtype}")
    if name == "fma" and not is_float(dtype):
        return exprs[0] * exprs[1] + exprs[2]
    if not is_float(dtype):
        exprs = [cast("float32", e) for e in exprs]
    return Call(name, tuple(exprs), exprs[0].dtype)


def _common(exprs: list[PrimExpr]) -> list[PrimExpr]:
    for i in range(1, len(exprs)):
        exprs[0], exprs[i] = promote(exprs[0], exprs[i])
    return [promote(e, exprs[0])[0] for e in exprs]


def absolute(value: ExprLike) -> PrimExpr:
    """``|value|``; `math.absf` or `math.absi`, and nothing for an unsigned integer."""
    expr = convert(value)
    if is_unsigned(expr.dtype):
        return expr
    return (
        call_intrinsic("fabs", expr) if is_float(expr.dtype) else Call("abs", (expr,), expr.dtype)
    )


def power(base: ExprLike, exponent: ExprLike) -> PrimExpr:
    """``base ** exponent``. Of integers it wraps, and a negative exponent gives 0, 1 or -1."""
    x, y = promote(convert(base), convert(exponent))
    if is_float(x.dtype):
        return call_intrinsic("pow", x, y)
    wide = "int64" if is_unsigned(x.dtype) and bit_width(x.dtype) < 64 else x.dtype
    return cast(x.dtype, call_intrinsic("ipow", cast(wide, x), cast(wide, y)))


def select(condition: ExprLike, on_true: ExprLike, on_false: ExprLike) -> PrimExpr:
    """Both sides are computed, one is taken; `arith.select`, TVM's ``Select``."""
    return _choice("select", condition, on_true, on_false)


def if_then_else(condition: ExprLike, on_true: ExprLike, on_false: ExprLike) -> PrimExpr:
    """Only the side that is taken is computed, so it may guard an access; `scf.if`."""
    return _choice("if_then_else", condition, on_true, on_false)


def _choice(op: str, condition: ExprLike, on_true: ExprLike, on_false: ExprLike) -> PrimExpr:
    test = boolean(condition)
    a, b = promote(convert(on_true), convert(on_false))
    return Call(op, (test, a, b), a.dtype)


def boolean(value: ExprLike) -> PrimExpr:
    """The truth value of an expression: numbers are true where they are not 0."""
    expr = convert(value)
    return expr if expr.dtype == "bool" else binary("ne", expr, const(0, expr.dtype))


def logical_and(*values: ExprLike) -> PrimExpr:
    """True where all are; both sides are computed."""
    return _logical("bitwise_and", values)


def logical_or(*values: ExprLike) -> PrimExpr:
    """True where one is; both sides are computed."""
    return _logical("bitwise_or", values)


def _logical(op: str, values: tuple[ExprLike, ...]) -> PrimExpr:
    result = boolean(values[0])
    for value in values[1:]:
        result = binary(op, result, boolean(value))
    return result


def logical_not(value: ExprLike) -> PrimExpr:
    """True where `value` is false."""
    return binary("bitwise_xor", boolean(value), const(True))


def sigmoid(value: ExprLike) -> PrimExpr:
    """``1 / (1 + exp(-value))``."""
    expr = convert(value)
    x = expr if is_float(expr.dtype) else cast("float32", expr)
    return const(1.0, x.dtype) / (const(1.0, x.dtype) + call_intrinsic("exp", -x))


def exp10(value: ExprLike) -> PrimExpr:
    """``10 ** value`` of a float."""
    expr = convert(value)
    return power(const(10, expr.dtype if is_float(expr.dtype) else "float32"), expr)


def hypot(a: ExprLike, b: ExprLike) -> PrimExpr:
    """``sqrt(a * a + b * b)``, whose squares may overflow."""
    x, y = promote(convert(a), convert(b))
    return call_intrinsic("sqrt", x * x + y * y)


def nextafter(a: ExprLike, b: ExprLike) -> PrimExpr:
    """The number next to `a` in the direction of `b`, and `b` if they are equal; C's ``nextafter``.

    Raises TypeError for integers.
    """
    x, y = promote(convert(a), convert(b))
    if not is_float(x.dtype):
        raise TypeError(f"'nextafter' expects a float, got {x.dtype}")
    integer = f"int{bit_width(x.dtype)}"
    one, negative = const(1, integer), min_value(integer)
    # Integers of the same bits count numbers away from 0.
    away = binary("eq", boolean(y > x), boolean(x > 0))
    moved = reinterpret(integer, x) + select(away, one, -one)
    smallest = select(y > 0, one, one + negative)
    found = reinterpret(x.dtype, select(binary("eq", x, const(0, x.dtype)), smallest, moved))
    found = select(binary("eq", x, y), y, found)
    return select(logical_or(isnan(x), isnan(y)), x + y, found)


def fmod(a: ExprLike, b: ExprLike) -> PrimExpr:
    """The remainder with the sign of `a`; C's ``fmod``."""
    return binary("truncmod", a, b)


def isnan(value: ExprLike) -> PrimExpr:
    """True where `value` is NaN."""
    expr = convert(value)
    return binary("ne", expr, expr) if is_float(expr.dtype) else const(False)


def isinf(value: ExprLike) -> PrimExpr:
    """True where `value` is an infinity."""
    expr = convert(value)
    if not is_float(expr.dtype):
        return const(False)
    return binary("eq", absolute(expr), const(float("inf"), expr.dtype))


def isfinite(value: ExprLike) -> PrimExpr:
    """True where `value` is neither NaN nor an infinity."""
    expr = convert(value)
    if not is_float(expr.dtype):
        return const(True)
    return binary("lt", absolute(expr), const(float("inf"), expr.dtype))


def ceildiv(a: ExprLike, b: ExprLike) -> PrimExpr:
    """``a / b`` of integers, rounded up."""
    x, y = promote(convert(a), convert(b))
    return binary("floordiv", x + y - 1, y)


def reinterpret(dtype: str, value: ExprLike) -> PrimExpr:
    """The bits of `value` read as another dtype of the same width; `arith.bitcast`."""
    expr = convert(value)
    if bit_width(check_dtype(dtype)) != bit_width(expr.dtype):
        raise TypeError(f"expected a value as wide as {dtype}, got {expr.dtype}")
    return expr if expr.dtype == dtype else Call("reinterpret", (expr,), dtype)


def dp4a(vec1: ExprLike, vec2: ExprLike, acc: ExprLike = 0) -> PrimExpr:
    """``acc`` and the sum of the products of four pairs of bytes, as int32; `tir.dp4a`.

    Words hold four 8-bit integers: an int32 signed ones, an uint32 unsigned ones. TVM's ``T.dp4a``
    has vectors of int8x4 and uint8x4 instead. Raises TypeError for other words.
    """
    words = [convert(vec1), convert(vec2)]
    for word in words:
        if word.dtype not in ("int32", "uint32"):
            raise TypeError(f"expected 'dp4a' of words of int32 or uint32, got {word.dtype}")
    product = Call("dp4a", tuple(words), "int32")
    if isinstance(acc, int) and acc == 0:
        return product
    total = convert(acc)
    if not isinstance(acc, int) and total.dtype not in ("int32", "uint32"):
        raise TypeError(f"expected 'dp4a' with a sum of int32 or uint32, got {total.dtype}")
    return product + cast("int32", total)


def bfdot(vec1: ExprLike, vec2: ExprLike, acc: ExprLike = 0.0) -> PrimExpr:
    """``acc`` and the sum of the products of two pairs of bf16, as float32; `tir.bfdot`.

    Words of uint32 hold two bf16, the first in the low half. Raises TypeError for other words.
    """
    words = [convert(vec1), convert(vec2)]
    for word in words:
        if word.dtype != "uint32":
            raise TypeError(f"expected 'bfdot' of words of uint32, got {word.dtype}")
    product = Call("bfdot", tuple(words), "float32")
    if isinstance(acc, int | float) and acc == 0:
        return product
    total = convert(acc)
    if not isinstance(acc, int | float) and total.dtype != "float32":
        raise TypeError(f"expected 'bfdot' with a sum of float32, got {total.dtype}")
    return cast("float32", total) + product


def let(function: Callable[[PrimExpr], PrimExpr], value: ExprLike) -> PrimExpr:
    """``function(value)``, in which `value` is computed once."""
    expr = convert(value)
    var = Var("let", expr.dtype)
    return Let(var, expr, convert(function(var)))


def same(value: ExprLike) -> PrimExpr:
    """The value itself: ``T.likely(x)``, ``T.let(x)``."""
    return convert(value)


def cast_to(value: ExprLike, dtype: str) -> PrimExpr:
    """`cast` with the value first, as in ``T.cast(x, "int32")``."""
    return cast(dtype, value)


BINARY_FUNCTIONS: dict[str, str] = {
    "floordiv": "floordiv",
    "floormod": "floormod",
    "indexdiv": "floordiv",
    "indexmod": "floormod",
    "truncdiv": "truncdiv",
    "truncmod": "truncmod",
    "min": "min",
    "max": "max",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "shift_left": "shift_left",
    "shift_right": "shift_right",
    "LT": "lt",
    "LE": "le",
    "GT": "gt",
    "GE": "ge",
    "EQ": "eq",
    "NE": "ne",
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "FloorDiv": "floordiv",
    "FloorMod": "floormod",
    "Min": "min",
    "Max": "max",
}
"""Functions of two arguments and the operation of `binary` that each is."""


def _binary_function(op: str) -> Callable[[ExprLike, ExprLike], PrimExpr]:
    return lambda a, b: binary(op, a, b)


def _fold_function(op: str) -> Callable[..., PrimExpr]:
    def function(a: ExprLike, b: ExprLike, *more: ExprLike) -> PrimExpr:
        return reduce(partial(binary, op), more, binary(op, a, b))

    return function


def _intrinsic_function(name: str) -> Callable[..., PrimExpr]:
    return lambda *args: call_intrinsic(name, *args)


FUNCTIONS: dict[str, Callable[..., PrimExpr]] = {
    **{name: _intrinsic_function(name) for name in INTRINSICS if name not in ("neg", "ipow")},
    **{name: _binary_function(op) for name, op in BINARY_FUNCTIONS.items()},
    "min": _fold_function("min"),
    "max": _fold_function("max"),
    "abs": absolute,
    "power": power,
    "Select": select,
    "if_then_else": if_then_else,
    "And": logical_and,
    "Or": logical_or,
    "Not": logical_not,
    "all": logical_and,
    "any": logical_or,
    "bitwise_not": bitwise_not,
    "ceildiv": ceildiv,
    "sigmoid": sigmoid,
    "exp10": exp10,
    "hypot": hypot,
    "nextafter": nextafter,
    "fmod": fmod,
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "min_value": min_value,
    "max_value": max_value,
    "infinity": infinity,
    "likely": same,
    "let": same,
    "bind": same,
    "reinterpret": reinterpret,
    "dp4a": dp4a,
    "bfdot": bfdot,
    "q_multiply_shift": q_multiply_shift,
    "q_multiply_shift_per_axis": q_multiply_shift_per_axis,
    "Cast": cast,
    "cast": cast_to,
    "FloatImm": FloatImm,
    "IntImm": IntImm,
}
"""Every function that scripts call as ``T.name``; tensor expressions use the same ones."""

"""Which formula computes each function, in f32 and f64, fast and accurate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects import math
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.llvm_ext.types import element_type
from ..builder import FunctionBuilder
from ..floats import Function
from ..native_calls import call_symbol
from ..types import Properties, lane_count, string
from . import exponential, inverse, logarithm, power, rational, trigonometric
from .formats import SINGLE
from .library import library
from .terms import Real

Formula = Callable[..., Real]


@dataclass(frozen=True)
class MathFunction:
    """A function by its name in C, and how it is computed.

    `accurate` is for f32 within an ulp, by default the one for f64, rounded; that of f64 is the C
    library's, if there is none here.
    """

    name: str
    single: Formula
    double: Formula
    accurate: Formula | None = None
    accurate_double: Formula | None = None

    def formula(self, is_single: bool, is_accurate: bool) -> Formula:
        """The formula for one format."""
        if not is_accurate:
            return self.single if is_single else self.double
        if not is_single:
            return self.accurate_double or library(self.name)
        return self.accurate or _in_double(self.double)


def _in_double(formula: Formula) -> Formula:
    return lambda *args: formula(*(a.double() for a in args)).single()


def _both(name: str, formula: Formula) -> MathFunction:
    return MathFunction(name, formula, formula)


def _trigonometric(name: str, formula: Formula) -> MathFunction:
    return _both(name, partial(formula, library=library(name)))


POWER = _both("pow", power.power)

MATH_FUNCTIONS: dict[type[Operation], MathFunction] = {
    math.AcosOp: _both("acos", inverse.acos),
    math.AcoshOp: _both("acosh", logarithm.acosh),
    math.AsinOp: _both("asin", inverse.asin),
    math.AsinhOp: _both("asinh", logarithm.asinh),
    math.Atan2Op: _both("atan2", inverse.atan2),
    math.AtanOp: _both("atan", inverse.atan),
    math.AtanhOp: _both("atanh", logarithm.atanh),
    math.CbrtOp: MathFunction("cbrt", _in_double(power.cbrt), power.cbrt),
    math.CosOp: _trigonometric("cos", trigonometric.cos),
    math.CoshOp: _both("cosh", exponential.cosh),
    math.ErfOp: MathFunction("erf", rational.erf, library("erf"), rational.erf_accurate),
    math.Exp2Op: _both("exp2", exponential.exp2),
    math.ExpM1Op: _both("expm1", exponential.expm1),
    math.ExpOp: _both("exp", exponential.exp),
    math.Log10Op: _both("log10", logarithm.log10),
    math.Log1pOp: _both("log1p", logarithm.log1p),
    math.Log2Op: _both("log2", logarithm.log2),
    math.LogOp: _both("log", logarithm.log),
    math.PowFOp: POWER,
    math.RsqrtOp: MathFunction(
        "rsqrt", power.rsqrt, power.rsqrt, accurate_double=power.rsqrt_accurate
    ),
    math.SinOp: _trigonometric("sin", trigonometric.sin),
    math.SinhOp: _both("sinh", exponential.sinh),
    math.TanOp: _trigonometric("tan", trigonometric.tan),
    math.TanhOp: MathFunction("tanh", rational.tanh, exponential.tanh),
}
"""The functions of `math` that are computed by formulas or by the C library."""

_INLINED: Properties = {"passthrough": ArrayAttr([string("alwaysinline")])}


def as_function(function: MathFunction) -> Function:
    """A function as LLVM code: a call of a small function of the module, which LLVM inlines."""

    def apply(f: FunctionBuilder, args: Sequence[SSAValue], flags: Properties) -> SSAValue:
        type_ = args[0].type
        return call_symbol(f, _definition(f, function, type_, len(args)), args, type_)

    return apply


def _definition(f: FunctionBuilder, function: MathFunction, type_: Attribute, arity: int) -> str:
    count = lane_count(type_)
    symbol = f"xrelax.math.{function.name}.{f'v{count}' if count else ''}{element_type(type_)}"
    if symbol in f.module.helpers:
        return symbol
    f.module.helpers.add(symbol)
    w = FunctionBuilder(f.module, symbol, symbol)
    args = [Real(w, w.add_argument(type_)) for _ in range(arity)]
    formula = function.formula(args[0].format is SINGLE, f.module.accurate_math)
    w.finish(status=formula(*args).value, properties=_INLINED)
    return symbol

"""The `math` dialect: our own formulas, and LLVM's intrinsics for what a few instructions do.

f16 and bf16 are computed in f32.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm, math, vector
from xdsl.dialects.builtin import f64, i1, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import llvm_ext
from ...dialects.llvm_ext import CastKind
from ...dialects.llvm_ext.types import element_type, like
from .builder import FunctionBuilder, Lowering
from .casts import is_double
from .control import carried_loop
from .floats import intrinsic, lower_function, narrow, widen
from .integers import combine, compare, select
from .math.library import per_lane
from .math.table import MATH_FUNCTIONS, POWER, as_function
from .native_calls import call_symbol
from .types import (
    EQ,
    PLAIN,
    SLT,
    cast_kind,
    fastmath,
    integer_width,
    is_small_float,
)


def _fma(f: FunctionBuilder, op: Operation) -> None:
    """``x * y + z`` rounded once; for f16 and bf16 in f64, which holds the product exactly."""
    args, flags = f.values(op.operands), fastmath(op)
    type_ = args[0].type
    if not is_small_float(type_):
        f.define(op.results[0], f.intrinsic("llvm.fma", args, type_, flags))
        return
    wide = like(type_, f64)
    x, y, z = (widen(f, a, wide) for a in args)
    product = f.emit(llvm.FMulOp, (x, y), wide, flags)
    f.define(op.results[0], narrow(f, f.emit(llvm.FAddOp, (product, z), wide, flags), type_))


def _float_power(f: FunctionBuilder, op: math.FPowIOp) -> None:
    # `llvm.powi` needs a routine of the compiler's runtime library, which a JIT does not have.
    base, exponent = f.values(op.operands)
    working = base.type if is_double(base.type) else like(base.type, f64)
    wide = base if is_double(base.type) else widen(f, base, working)
    power = f.emit(llvm_ext.CastOp, (exponent,), working, cast_kind(CastKind.SITOFP))
    result = as_function(POWER)(f, (wide, power), PLAIN)
    f.define(op.results[0], result if is_double(base.type) else narrow(f, result, base.type))


def _integer_power(f: FunctionBuilder, op: math.IPowIOp) -> None:
    args = f.values(op.operands)
    symbol = _power_helper(f, element_type(args[0].type))

    def scalar(f: FunctionBuilder, args: Sequence[SSAValue]) -> SSAValue:
        return call_symbol(f, symbol, args, args[0].type)

    f.define(op.results[0], per_lane(f, args, scalar))


def _power_helper(f: FunctionBuilder, type_: Attribute) -> str:
    """The function of the module that computes integer powers of a type by squaring; wraps.

    A negative exponent gives the truncated reciprocal: 0, or 1 and -1 for bases 1 and -1.
    """
    symbol = f"xrelax.helper.ipow.{type_}"
    if symbol in f.module.helpers:
        return symbol
    f.module.helpers.add(symbol)
    w = FunctionBuilder(f.module, symbol, symbol)
    base, exponent = w.add_argument(type_), w.add_argument(type_)
    zero, one = w.integer(0, type_), w.integer(1, type_)
    source = Block(arg_types=[i64, type_, type_, type_])
    var, result, factor, left = source.args

    def step() -> Sequence[SSAValue]:
        product, power, rest = w.values([result, factor, left])
        is_odd = compare(w, EQ, combine(w, llvm.AndOp, rest, one), one)
        multiplied = select(w, is_odd, combine(w, llvm.MulOp, product, power), product)
        return [
            multiplied,
            combine(w, llvm.MulOp, power, power),
            combine(w, llvm.LShrOp, rest, one),
        ]

    # A negative exponent is squared through like a large one; its result is not used.
    upper = w.integer(integer_width(type_))
    carry, inits = [result, factor, left], [one, base, exponent]
    total = carried_loop(w, var, carry, w.integer(0), upper, inits, step)[0]
    is_negative = compare(w, SLT, exponent, zero)
    is_odd = compare(w, EQ, combine(w, llvm.AndOp, exponent, one), one)
    is_one = compare(w, EQ, base, one)
    is_minus_one = compare(w, EQ, base, w.integer(-1, type_))
    alternating = select(w, is_odd, base, one)
    reciprocal = select(w, is_one, one, select(w, is_minus_one, alternating, zero))
    w.finish(status=select(w, is_negative, reciprocal, total))
    return symbol


def _counter(name: str, *, has_flag: bool) -> Lowering:
    def lower(f: FunctionBuilder, op: Operation) -> None:
        value = f.value(op.operands[0])
        # The flag would make a result of 0, or of the smallest number, undefined.
        args = (value, f.integer(0, i1)) if has_flag else (value,)
        f.define(op.results[0], f.intrinsic(name, args, value.type))

    return lower


_INTRINSICS: dict[type[Operation], str] = {
    math.AbsFOp: "fabs",
    math.CeilOp: "ceil",
    math.CopySignOp: "copysign",
    math.FloorOp: "floor",
    math.RoundEvenOp: "roundeven",
    math.RoundOp: "round",
    math.SqrtOp: "sqrt",
    math.TruncOp: "trunc",
}

MATH: dict[type[Operation], Lowering] = {
    **{op: lower_function(intrinsic(f"llvm.{name}")) for op, name in _INTRINSICS.items()},
    **{op: lower_function(as_function(function)) for op, function in MATH_FUNCTIONS.items()},
    math.AbsIOp: _counter("llvm.abs", has_flag=True),
    math.CountLeadingZerosOp: _counter("llvm.ctlz", has_flag=True),
    math.CountTrailingZerosOp: _counter("llvm.cttz", has_flag=True),
    math.CtPopOp: _counter("llvm.ctpop", has_flag=False),
    math.FPowIOp: _float_power,
    math.FmaOp: _fma,
    math.IPowIOp: _integer_power,
    vector.FMAOp: _fma,
}
"""How the functions of `math` are lowered."""

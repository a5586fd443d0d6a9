"""`arith` on floats, elementwise on vectors.

Arithmetic on f16 and bf16 is done in f32 and rounded after each operation, on every target. The
result equals that of hardware for the type, since f32 has more than twice the precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign

from xdsl.dialects import arith, llvm
from xdsl.dialects.llvm import FastMathAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import llvm_ext
from ...dialects.arith import RemFOp
from ...dialects.llvm_ext import CastKind, FCmpPredicate, FCmpPredicateAttr
from .builder import FunctionBuilder, Lowering
from .constants import number_of
from .divisions import divide
from .types import Properties, cast_kind, fastmath, in_f32, is_small_float, mask_like

Function = Callable[[FunctionBuilder, Sequence[SSAValue], Properties], SSAValue]
"""Computes a float from floats of the same type, which is not f16 or bf16."""


def widen(f: FunctionBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    """A float in a wider type."""
    return f.emit(llvm_ext.CastOp, (value,), type_, cast_kind(CastKind.FPEXT))


def narrow(f: FunctionBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    """A float rounded to a narrower type."""
    return f.emit(llvm_ext.CastOp, (value,), type_, cast_kind(CastKind.FPTRUNC))


def in_working_type(f: FunctionBuilder, value: SSAValue) -> SSAValue:
    """A float in the type in which it is computed with."""
    return widen(f, value, in_f32(value.type)) if is_small_float(value.type) else value


def apply(
    f: FunctionBuilder, function: Function, args: Sequence[SSAValue], flags: Properties
) -> SSAValue:
    """The function of floats of one type, rounded to that type."""
    type_ = args[0].type
    if not is_small_float(type_):
        return function(f, args, flags)
    wide = in_f32(type_)
    return narrow(f, function(f, [widen(f, a, wide) for a in args], flags), type_)


def instruction(kind: type[Operation]) -> Function:
    """An instruction as a function of floats."""
    return lambda f, args, flags: f.emit(kind, args, args[0].type, flags)


def intrinsic(name: str) -> Function:
    """An LLVM intrinsic as a function of floats."""
    return lambda f, args, flags: f.intrinsic(name, args, args[0].type, flags)


def lower_function(function: Function) -> Lowering:
    """The lowering of an operation that is a function of floats of one type."""

    def lower(f: FunctionBuilder, op: Operation) -> None:
        f.define(op.results[0], apply(f, function, f.values(op.operands), fastmath(op)))

    return lower


_ORDERED: Properties = {"predicate": FCmpPredicateAttr(FCmpPredicate.ORD)}
_NOT_BELOW: Properties = {"predicate": FCmpPredicateAttr(FCmpPredicate.UGT)}
"""Greater, or not comparable."""
_BEYOND: dict[str, Properties] = {
    "maximum": {"predicate": FCmpPredicateAttr(FCmpPredicate.OGT)},
    "minimum": {"predicate": FCmpPredicateAttr(FCmpPredicate.OLT)},
}


def chooses_extrema(f: FunctionBuilder, flags: Properties) -> bool:
    """Whether `maximum` and `minimum` are lowered to comparisons and selects.

    That is if NaN may occur, no instruction propagates it, and signs of 0 are insignificant.
    """
    return FastMathFlag.NO_SIGNED_ZEROS in _known(flags) and _tests_for_nan(f, flags)


def _tests_for_nan(f: FunctionBuilder, flags: Properties) -> bool:
    """Whether results depend on tests for NaN: it may occur, and no instruction propagates it."""
    return FastMathFlag.NO_NANS not in _known(flags) and not f.module.isa.propagates_nan


def _known(flags: Properties) -> set[FastMathFlag]:
    fast = flags.get("fastmathFlags")
    return set(fast.data) if isinstance(fast, FastMathAttr) else set()


def _is_zero(value: SSAValue) -> bool:
    """Whether a value is the constant 0, which is above -0."""
    number = number_of(value)
    return number == 0 and copysign(1, number) > 0


def beyond(f: FunctionBuilder, name: str, total: SSAValue, value: SSAValue) -> SSAValue:
    """The value if it is beyond the total, otherwise, or if either is NaN, the total."""
    is_beyond = f.emit(llvm_ext.FCmpOp, (value, total), mask_like(value.type), _BEYOND[name])
    return f.emit(llvm_ext.SelectOp, (is_beyond, value, total), value.type)


def _extremum(name: str) -> Function:
    """The larger or smaller one of a total and a value, or NaN.

    The NaN test is of the value, so that it does not depend on the total. The maximum with 0 is one
    comparison and a select, which choose NaN too; LLVM would test for it apart.
    """
    plain = intrinsic(f"llvm.{name}")

    def apply(f: FunctionBuilder, args: Sequence[SSAValue], flags: Properties) -> SSAValue:
        total, value = args
        if name == "maximum" and _is_zero(value) and _tests_for_nan(f, flags):
            is_above = f.emit(llvm_ext.FCmpOp, args, mask_like(value.type), _NOT_BELOW)
            return f.emit(llvm_ext.SelectOp, (is_above, *args), value.type)
        if not chooses_extrema(f, flags):
            return plain(f, args, flags)
        chosen = beyond(f, name, total, value)
        is_number = f.emit(llvm_ext.FCmpOp, (value, value), mask_like(value.type), _ORDERED)
        return f.emit(llvm_ext.SelectOp, (is_number, chosen, value), value.type)

    return apply


FLOAT_FUNCTIONS: dict[type[Operation], Function] = {
    arith.AddfOp: instruction(llvm.FAddOp),
    arith.SubfOp: instruction(llvm.FSubOp),
    arith.MulfOp: instruction(llvm.FMulOp),
    arith.DivfOp: divide,
    arith.NegfOp: instruction(llvm.FNegOp),
    RemFOp: instruction(llvm.FRemOp),
    arith.MaximumfOp: _extremum("maximum"),
    arith.MinimumfOp: _extremum("minimum"),
    arith.MaxnumfOp: intrinsic("llvm.maxnum"),
    arith.MinnumfOp: intrinsic("llvm.minnum"),
}
"""The float operations of `arith`."""

_PREDICATES: tuple[Properties | None, ...] = tuple(
    None if name in ("false", "true") else {"predicate": FCmpPredicateAttr(FCmpPredicate(name))}
    for name in "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
)
"""Float comparisons by the number that `arith.cmpf` gives them."""


def _lower_cmpf(f: FunctionBuilder, op: arith.CmpfOp) -> None:
    number = op.predicate.value.data
    predicate = _PREDICATES[number]
    lhs, rhs = f.value(op.lhs), f.value(op.rhs)
    if predicate is None:
        type_ = mask_like(lhs.type)
        f.define(op.result, f.integer(-1 if number else 0, type_))
        return
    f.define(op.result, _compare(f, lhs, rhs, {**predicate, **fastmath(op)}))


def _lower_fcmp(f: FunctionBuilder, op: llvm_ext.FCmpOp) -> None:
    f.define(op.res, _compare(f, f.value(op.lhs), f.value(op.rhs), op.properties))


def _compare(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue, properties: Properties) -> SSAValue:
    args = (in_working_type(f, lhs), in_working_type(f, rhs))
    return f.emit(llvm_ext.FCmpOp, args, mask_like(lhs.type), properties)


def _lower_select(f: FunctionBuilder, op: Operation) -> None:
    args = f.values(op.operands)
    f.define(op.results[0], f.emit(llvm_ext.SelectOp, args, args[1].type))


FLOATS: dict[type[Operation], Lowering] = {
    **{kind: lower_function(function) for kind, function in FLOAT_FUNCTIONS.items()},
    arith.CmpfOp: _lower_cmpf,
    arith.SelectOp: _lower_select,
    llvm_ext.FCmpOp: _lower_fcmp,
    llvm_ext.SelectOp: _lower_select,
}
"""The lowerings of `arith` on floats, and of selects of any type."""

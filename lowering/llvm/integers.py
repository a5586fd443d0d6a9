"""`arith` on integers and indices, elementwise on vectors, without undefined results.

Data never causes a trap: division by 0 gives 0, as does its remainder, the smallest number
divided by -1 wraps, and shifts by the width or more give 0, or the sign for `shrsi`.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, llvm
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext
from .builder import FunctionBuilder, Lowering
from .constants import integer_of
from .types import (
    EQ,
    ICMP,
    NE,
    SGE,
    SLT,
    UGT,
    Properties,
    integer_width,
    mask_like,
)

Binary = Callable[[FunctionBuilder, SSAValue, SSAValue], SSAValue]


def combine(f: FunctionBuilder, kind: type[Operation], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """An instruction on two values of one type."""
    return f.emit(kind, (lhs, rhs), lhs.type)


def compare(f: FunctionBuilder, predicate: Properties, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """An integer comparison."""
    return f.emit(llvm.ICmpOp, (lhs, rhs), mask_like(lhs.type), predicate)


def select(
    f: FunctionBuilder, condition: SSAValue, then: SSAValue, otherwise: SSAValue
) -> SSAValue:
    """One of two values, lane by lane if the condition is a vector."""
    return f.emit(llvm_ext.SelectOp, (condition, then, otherwise), then.type)


def _plain(kind: type[Operation]) -> Binary:
    return lambda f, lhs, rhs: combine(f, kind, lhs, rhs)


def _extremum(name: str) -> Binary:
    return lambda f, lhs, rhs: f.intrinsic(f"llvm.{name}", (lhs, rhs), lhs.type)


class _Divisor:
    """A safe divisor; the quotient is 0 where `is_zero`, if that is given."""

    def __init__(self, f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue, is_signed: bool):
        type_ = rhs.type
        known = integer_of(rhs)
        self.is_zero: SSAValue | None = None
        self.value = rhs
        if known is not None and known not in (0, -1):
            return
        zero, one = f.integer(0, type_), f.integer(1, type_)
        self.is_zero = unusable = compare(f, EQ, rhs, zero)
        if is_signed:
            smallest = f.integer(-(1 << (integer_width(type_) - 1)), type_)
            is_smallest = compare(f, EQ, lhs, smallest)
            is_minus_one = compare(f, EQ, rhs, f.integer(-1, type_))
            overflows = combine(f, llvm.AndOp, is_smallest, is_minus_one)
            unusable = combine(f, llvm.OrOp, unusable, overflows)
        self.value = select(f, unusable, one, rhs)

    def guard(self, f: FunctionBuilder, quotient: SSAValue) -> SSAValue:
        """The quotient, or 0 for a division by 0."""
        if self.is_zero is None:
            return quotient
        return select(f, self.is_zero, f.integer(0, quotient.type), quotient)


def _quotient(kind: type[Operation], is_signed: bool) -> Binary:
    def lower(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        divisor = _Divisor(f, lhs, rhs, is_signed)
        return divisor.guard(f, combine(f, kind, lhs, divisor.value))

    return lower


def _remainder(kind: type[Operation], is_signed: bool) -> Binary:
    def lower(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        # An unusable divisor was replaced by 1, which leaves nothing.
        return combine(f, kind, lhs, _Divisor(f, lhs, rhs, is_signed).value)

    return lower


def _rounded(moves: Properties, step: int) -> Binary:
    """Signed division that adds `step` to a quotient that is not exact and has that sign."""

    def lower(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        divisor = _Divisor(f, lhs, rhs, True)
        quotient = combine(f, llvm.SDivOp, lhs, divisor.value)
        rest = combine(f, llvm.SRemOp, lhs, divisor.value)
        zero = f.integer(0, lhs.type)
        signs = combine(f, llvm.XOrOp, rest, divisor.value)
        inexact, side = compare(f, NE, rest, zero), compare(f, moves, signs, zero)
        is_off = combine(f, llvm.AndOp, inexact, side)
        moved = combine(f, llvm.AddOp, quotient, f.integer(step, lhs.type))
        return divisor.guard(f, select(f, is_off, moved, quotient))

    return lower


_round_down = _rounded(SLT, -1)


def _floor_divide(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    known = integer_of(rhs)
    if known is not None and known > 0 and known.bit_count() == 1:
        return combine(f, llvm.AShrOp, lhs, f.integer(known.bit_length() - 1, lhs.type))
    return _round_down(f, lhs, rhs)


def _ceil_divide_unsigned(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    divisor = _Divisor(f, lhs, rhs, False)
    quotient = combine(f, llvm.UDivOp, lhs, divisor.value)
    rest = combine(f, llvm.URemOp, lhs, divisor.value)
    inexact = compare(f, NE, rest, f.integer(0, lhs.type))
    moved = combine(f, llvm.AddOp, quotient, f.integer(1, lhs.type))
    return divisor.guard(f, select(f, inexact, moved, quotient))


def _shift(kind: type[Operation]) -> Binary:
    def lower(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        width, type_ = integer_width(lhs.type), lhs.type
        known = integer_of(rhs)
        if known is not None and 0 <= known < width:
            return combine(f, kind, lhs, rhs)
        if kind is llvm.AShrOp:
            count = f.intrinsic("llvm.umin", (rhs, f.integer(width - 1, type_)), type_)
            return combine(f, kind, lhs, count)
        zero = f.integer(0, type_)
        large = compare(f, UGT, rhs, f.integer(width - 1, type_))
        shifted = combine(f, kind, lhs, select(f, large, zero, rhs))
        return select(f, large, zero, shifted)

    return lower


INTEGER_BINARY: dict[type[Operation], Binary] = {
    arith.AddiOp: _plain(llvm.AddOp),
    arith.SubiOp: _plain(llvm.SubOp),
    arith.MuliOp: _plain(llvm.MulOp),
    arith.AndIOp: _plain(llvm.AndOp),
    arith.OrIOp: _plain(llvm.OrOp),
    arith.XOrIOp: _plain(llvm.XOrOp),
    arith.MinSIOp: _extremum("smin"),
    arith.MaxSIOp: _extremum("smax"),
    arith.MinUIOp: _extremum("umin"),
    arith.MaxUIOp: _extremum("umax"),
    arith.DivSIOp: _quotient(llvm.SDivOp, True),
    arith.DivUIOp: _quotient(llvm.UDivOp, False),
    arith.RemSIOp: _remainder(llvm.SRemOp, True),
    arith.RemUIOp: _remainder(llvm.URemOp, False),
    arith.FloorDivSIOp: _floor_divide,
    arith.CeilDivSIOp: _rounded(SGE, 1),
    arith.CeilDivUIOp: _ceil_divide_unsigned,
    arith.ShLIOp: _shift(llvm.ShlOp),
    arith.ShRUIOp: _shift(llvm.LShrOp),
    arith.ShRSIOp: _shift(llvm.AShrOp),
}
"""The computation of each operation on two integers."""


def _lower_binary(kind: type[Operation]) -> Lowering:
    binary = INTEGER_BINARY[kind]

    def lower(f: FunctionBuilder, op: Operation) -> None:
        lhs, rhs = op.operands
        f.define(op.results[0], binary(f, f.value(lhs), f.value(rhs)))

    return lower


def _lower_compare(f: FunctionBuilder, op: arith.CmpiOp) -> None:
    lhs, rhs = f.value(op.lhs), f.value(op.rhs)
    f.define(op.result, compare(f, ICMP[op.predicate.value.data], lhs, rhs))


INTEGERS: dict[type[Operation], Lowering] = {
    **{kind: _lower_binary(kind) for kind in INTEGER_BINARY},
    arith.CmpiOp: _lower_compare,
}
"""How `arith` on integers is lowered."""

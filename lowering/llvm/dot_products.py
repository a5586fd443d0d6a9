"""`tir.dp4a`, and its sum with another number: one instruction, where the target has it."""

from __future__ import annotations

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import ArrayAttr, i8
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext, tir
from ...dialects.llvm_ext import CastKind
from .builder import FunctionBuilder, Lowering
from .casts import cast_kind
from .integers import INTEGERS, combine
from .types import Properties, lane_count, vector_of

_NO_OVERLOADS: Properties = {"overloads": ArrayAttr([])}

_HIGH_BITS = 0x80808080 - (1 << 32)
"""Words of bytes of 128; to flip them turns unsigned bytes to signed ones that are 128 less."""

_BYTES_OF_64 = 0x40404040


def _lower_dot(f: FunctionBuilder, op: tir.DotOp) -> None:
    if _sum_of(op) is None:
        f.define(op.result, _dot(f, op, None))


def _lower_add(f: FunctionBuilder, op: arith.AddiOp) -> None:
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(value.owner, tir.DotOp) and _sum_of(value.owner) is op:
            f.define(op.result, _dot(f, value.owner, f.value(other)))
            return
    INTEGERS[arith.AddiOp](f, op)


def _sum_of(op: tir.DotOp) -> arith.AddiOp | None:
    """The addition that alone uses a dot product, in its block, of which this is the first one."""
    user, *others = [use.operation for use in op.result.uses] or [None]
    if not isinstance(user, arith.AddiOp) or others:
        return None
    first = next(v.owner for v in user.operands if isinstance(v.owner, tir.DotOp))
    return user if user.parent is op.parent and first is op else None


def _dot(f: FunctionBuilder, op: tir.DotOp, total: SSAValue | None) -> SSAValue:
    lhs, rhs = f.value(op.lhs), f.value(op.rhs)
    signs = op.lhs_unsigned is not None, op.rhs_unsigned is not None
    if signs == (False, True):
        lhs, rhs, signs = rhs, lhs, (True, False)
    total = f.integer(0, lhs.type) if total is None else total
    bits = 32 * lane_count(lhs.type)
    if (name := f.module.isa.dot(*signs, bits)) is not None:
        return _instruction(f, name, total, lhs, rhs)
    if (name := f.module.isa.dot(True, False, bits)) is None:
        return _products(f, total, lhs, rhs, signs)
    flipped = f.integer(_HIGH_BITS, lhs.type)
    if signs[0]:  # rhs is 128 more than its signed bytes
        rest = f.integer(_BYTES_OF_64, lhs.type)
        total = _instruction(f, name, _instruction(f, name, total, lhs, rest), lhs, rest)
        return _instruction(f, name, total, lhs, combine(f, llvm.XOrOp, rhs, flipped))
    excess = _instruction(f, name, f.integer(0, lhs.type), flipped, rhs)
    found = _instruction(f, name, total, combine(f, llvm.XOrOp, lhs, flipped), rhs)
    return combine(f, llvm.SubOp, found, excess)


def _instruction(
    f: FunctionBuilder, name: str, total: SSAValue, lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    bytes_ = vector_of(i8, 4 * lane_count(lhs.type))
    words = [f.emit(llvm_ext.CastOp, (w,), bytes_, cast_kind(CastKind.BITCAST)) for w in (lhs, rhs)]
    return f.intrinsic(name, [total, *words], total.type, _NO_OVERLOADS)


def _products(
    f: FunctionBuilder, total: SSAValue, lhs: SSAValue, rhs: SSAValue, signs: tuple[bool, bool]
) -> SSAValue:
    """The sum of the products of bytes that shifts extract."""
    for number in range(4):
        pair = [_byte(f, w, number, s) for w, s in zip((lhs, rhs), signs, strict=True)]
        total = combine(f, llvm.AddOp, total, combine(f, llvm.MulOp, *pair))
    return total


def _byte(f: FunctionBuilder, word: SSAValue, number: int, is_unsigned: bool) -> SSAValue:
    left = combine(f, llvm.ShlOp, word, f.integer(24 - 8 * number, word.type))
    shift = llvm.LShrOp if is_unsigned else llvm.AShrOp
    return combine(f, shift, left, f.integer(24, word.type))


DOT_PRODUCTS: dict[type[Operation], Lowering] = {arith.AddiOp: _lower_add, tir.DotOp: _lower_dot}
"""How dot products, and additions of them, are lowered."""

"""`tir.dp4a`, `tir.bfdot` and `tir.mmla`, and their sums with another number: one instruction,
where the target has it."""

from __future__ import annotations

from xdsl.dialects import arith, llvm, vector
from xdsl.dialects.builtin import ArrayAttr, BFloat16Type, IntegerType, bf16, i8, i16, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...dialects import llvm_ext, tir
from ...dialects.llvm_ext import CastKind
from .builder import FunctionBuilder, Lowering
from .casts import cast_kind
from .floats import FLOATS
from .integers import INTEGERS, combine
from .types import Properties, i32_array, lane_count, vector_of

_NO_OVERLOADS: Properties = {"overloads": ArrayAttr([])}
_BITCAST = cast_kind(CastKind.BITCAST)

BYTES = 4
"""The bytes of a word."""

_HIGH_BITS = 0x80808080 - (1 << 32)
"""Words of bytes of 128; to flip them turns unsigned bytes to signed ones that are 128 less."""

_BYTES_OF_64 = 0x40404040


Dot = tir.DotOp | tir.BFDotOp | tir.MatrixDotOp
Addition = arith.AddiOp | arith.AddfOp


def _lower_dot(f: FunctionBuilder, op: Dot) -> None:
    if not _is_term(op):
        f.define(op.result, _dot(f, op, None))


def _lower_addition(plain: Lowering) -> Lowering:
    """The lowering of an addition, which may be that of dot products, or a `plain` one."""

    def lower(f: FunctionBuilder, op: Addition) -> None:
        if _is_term(op):
            return
        terms, others = _terms(op)
        if not terms:
            plain(f, op)
            return
        total = f.value(others[0]) if others else None
        for term in terms:
            total = _dot(f, term, total)
        assert total is not None
        f.define(op.result, total)

    return lower


def _is_term(op: Dot | Addition) -> bool:
    """Whether an operation is lowered with the addition that alone uses it, in its block."""
    user, *others = [use.operation for use in op.result.uses] or [None]
    if not isinstance(user, Addition) or others or user.parent is not op.parent:
        return False
    return op in _terms(user)[0] or (isinstance(op, Addition) and _sum_of_dots(op) is not None)


def _terms(op: Addition) -> tuple[list[Dot], list[SSAValue]]:
    """The dot products that an addition adds to another number, if there is one.

    Sums of floats have one at most: the order of additions is kept.
    """
    terms, others = list[Dot](), list[SSAValue]()
    for value in op.operands:
        found = _sum_of_dots(value.owner) if value.has_one_use() else None
        if found is None or (terms and isinstance(op, arith.AddfOp)):
            others.append(value)
        else:
            terms += found
    return (terms, others) if len(others) < 2 else ([], others)


def _sum_of_dots(op: Operation | Block) -> list[Dot] | None:
    """The terms of a sum of nothing but dot products, each used once and in its block."""
    if isinstance(op, Dot):
        return [op]
    if not isinstance(op, arith.AddiOp):
        return None
    parts = list[Dot]()
    for value in op.operands:
        is_inside = value.has_one_use() and value.owner.parent is op.parent
        found = _sum_of_dots(value.owner) if is_inside else None
        if found is None:
            return None
        parts += found
    return parts


def _dot(f: FunctionBuilder, op: Dot, total: SSAValue | None) -> SSAValue:
    if total is None:
        zero, type_ = f.integer(0, f.value(op.lhs).type), op.result.type
        is_same = zero.type == type_
        total = zero if is_same else f.emit(llvm_ext.CastOp, (zero,), type_, _BITCAST)
    if isinstance(op, tir.MatrixDotOp):
        return _matrix_dot(f, op, total)
    if isinstance(op, tir.BFDotOp):
        return _float_dot(f, op, total)
    return _integer_dot(f, op, total)


def _matrix_dot(f: FunctionBuilder, op: tir.MatrixDotOp, total: SSAValue) -> SSAValue:
    """One instruction; `use-matrix-products` makes products only where the target has it."""
    lhs, rhs = f.values(op.operands)
    isa, is_integer = f.module.isa, op.result.type.element_type == i32
    signs = op.lhs_unsigned is not None, op.rhs_unsigned is not None
    name = isa.matrix_dot(*signs) if is_integer else isa.matrix_bfdot()
    if name is None:
        raise PassFailedException("expected a target with an instruction for 'tir.mmla'")
    return _instruction(f, name, total, lhs, rhs, i8 if is_integer else bf16)


def _float_dot(f: FunctionBuilder, op: tir.BFDotOp, total: SSAValue) -> SSAValue:
    lhs, rhs = f.values(op.operands)
    type_ = op.result.type
    name = f.module.isa.bfdot(32 * lane_count(type_))
    if name is not None:
        return _instruction(f, name, total, lhs, rhs, bf16)
    for move, by in ((llvm.ShlOp, 16), (llvm.AndOp, -1 << 16)):  # the low half, and the high one
        halves = [combine(f, move, w, f.integer(by, w.type)) for w in (lhs, rhs)]
        numbers = [f.emit(llvm_ext.CastOp, (h,), type_, _BITCAST) for h in halves]
        total = f.intrinsic("llvm.fmuladd", (*numbers, total), type_)
    return total


def _integer_dot(f: FunctionBuilder, op: tir.DotOp, total: SSAValue) -> SSAValue:
    words, signs = (op.lhs, op.rhs), (op.lhs_unsigned is not None, op.rhs_unsigned is not None)
    if signs == (False, True):
        words, signs = (op.rhs, op.lhs), (True, False)
    lhs, rhs = (f.value(word) for word in words)
    bits = 32 * lane_count(lhs.type)
    if (name := f.module.isa.dot(*signs, bits)) is not None:
        return _instruction(f, name, total, lhs, rhs)
    if (name := f.module.isa.dot(True, False, bits)) is None:
        return _products(f, total, lhs, rhs, signs)
    if signs[0]:  # rhs is 128 more than its signed bytes
        rest = f.integer(_BYTES_OF_64, lhs.type)
        total = _instruction(f, name, _instruction(f, name, total, lhs, rest), lhs, rest)
        return _instruction(f, name, total, lhs, _flipped(f, words[1]))
    high = f.integer(_HIGH_BITS, lhs.type)
    excess = _instruction(f, name, f.integer(0, lhs.type), high, rhs)
    return combine(f, llvm.SubOp, _instruction(f, name, total, _flipped(f, words[0]), rhs), excess)


def _flipped(f: FunctionBuilder, word: SSAValue) -> SSAValue:
    """Words with the other sign; a scalar is flipped before its broadcast.

    LLVM 22.1's code generation does not end if 512 bits are flipped after their broadcast.
    """
    source = word.owner.source if isinstance(word.owner, vector.BroadcastOp) else word
    bits, type_ = f.value(source), f.value(word).type
    found = combine(f, llvm.XOrOp, bits, f.integer(_HIGH_BITS, bits.type))
    return found if bits.type == type_ else f.emit(llvm_ext.SplatOp, (found,), type_)


def _instruction(
    f: FunctionBuilder,
    name: str,
    total: SSAValue,
    lhs: SSAValue,
    rhs: SSAValue,
    element: IntegerType | BFloat16Type = i8,
) -> SSAValue:
    numbers = vector_of(element, 32 // element.bitwidth * lane_count(lhs.type))
    words = [f.emit(llvm_ext.CastOp, (w,), numbers, _BITCAST) for w in (lhs, rhs)]
    return f.intrinsic(name, [total, *words], total.type, _NO_OVERLOADS)


def _products(
    f: FunctionBuilder, total: SSAValue, lhs: SSAValue, rhs: SSAValue, signs: tuple[bool, bool]
) -> SSAValue:
    """The sum of the products of bytes as integers of 16 or 32 bits."""
    if (name := f.module.isa.pair_products(32 * lane_count(lhs.type))) is not None:
        return _pair_products(f, name, total, (lhs, rhs), signs)
    if (name := f.module.isa.pair_sums(all(signs), 32 * lane_count(lhs.type))) is not None:
        return _pair_sums(f, name, total, (lhs, rhs), signs)
    lanes = max(lane_count(lhs.type), 1)
    left, right = (_bytes(f, w, lanes, s) for w, s in zip((lhs, rhs), signs, strict=True))
    products = combine(f, llvm.MulOp, left, right)
    for number in range(BYTES):
        total = combine(f, llvm.AddOp, total, _every_fourth(f, products, number, total))
    return total


def _pair_products(
    f: FunctionBuilder,
    name: str,
    total: SSAValue,
    words: tuple[SSAValue, SSAValue],
    signs: tuple[bool, bool],
) -> SSAValue:
    """The sum of the products of bytes, each of which becomes 16 bits: the even ones, the odd."""
    halves = vector_of(i16, 2 * lane_count(total.type))
    eight = f.integer(8, halves)
    pairs = [f.emit(llvm_ext.CastOp, (w,), halves, _BITCAST) for w in words]
    shifts = [llvm.LShrOp if is_unsigned else llvm.AShrOp for is_unsigned in signs]
    high = [combine(f, shift, p, eight) for p, shift in zip(pairs, shifts, strict=True)]
    moved = [combine(f, llvm.ShlOp, p, eight) for p in pairs]
    low = [combine(f, shift, p, eight) for p, shift in zip(moved, shifts, strict=True)]
    for sides in (low, high):
        products = f.intrinsic(name, sides, total.type, _NO_OVERLOADS)
        total = combine(f, llvm.AddOp, total, products)
    return total


def _pair_sums(
    f: FunctionBuilder,
    name: str,
    total: SSAValue,
    words: tuple[SSAValue, SSAValue],
    signs: tuple[bool, bool],
) -> SSAValue:
    """The sum of the products of bytes as 16 bits, of the low halves of words and the high ones.

    Products fit: those of mixed signs are at least -32640, and those of two unsigned bytes are
    added as unsigned ones.
    """
    lanes = lane_count(total.type)
    sixteen = f.integer(16, total.type)
    for is_high in (False, True):
        sides = list[SSAValue]()
        for word, is_unsigned in zip(words, signs, strict=True):
            moved = combine(f, llvm.LShrOp, word, sixteen) if is_high else word
            half = f.emit(llvm.TruncOp, (moved,), vector_of(i16, lanes))
            bytes_ = f.emit(llvm_ext.CastOp, (half,), vector_of(i8, 2 * lanes), _BITCAST)
            kind = llvm.ZExtOp if is_unsigned else llvm.SExtOp
            sides.append(f.emit(kind, (bytes_,), vector_of(i16, 2 * lanes)))
        products = combine(f, llvm.MulOp, *sides)
        sums = f.intrinsic(name, (products,), total.type, _NO_OVERLOADS)
        total = combine(f, llvm.AddOp, total, sums)
    return total


def _bytes(f: FunctionBuilder, word: SSAValue, lanes: int, is_unsigned: bool) -> SSAValue:
    """The bytes of words as integers of 32 bits."""
    bytes_ = f.emit(llvm_ext.CastOp, (word,), vector_of(i8, BYTES * lanes), _BITCAST)
    kind = llvm.ZExtOp if is_unsigned else llvm.SExtOp
    return f.emit(kind, (bytes_,), vector_of(i32, BYTES * lanes))


def _every_fourth(f: FunctionBuilder, vector: SSAValue, first: int, like: SSAValue) -> SSAValue:
    """Each fourth lane of a vector, in the type of a scalar or vector."""
    if not lane_count(like.type):
        return f.emit(llvm_ext.ExtractElementOp, (vector, f.integer(first)), i32)
    mask: Properties = {"mask": i32_array(*range(first, lane_count(vector.type), BYTES))}
    return f.emit(llvm.ShuffleVectorOp, (vector, vector), like.type, mask)


DOT_PRODUCTS: dict[type[Operation], Lowering] = {
    arith.AddiOp: _lower_addition(INTEGERS[arith.AddiOp]),
    arith.AddfOp: _lower_addition(FLOATS[arith.AddfOp]),
    tir.DotOp: _lower_dot,
    tir.BFDotOp: _lower_dot,
    tir.MatrixDotOp: _lower_dot,
}
"""How dot products, and additions of them, are lowered."""

"""Constants and conversions between integers, indices and floats.

A float out of an integer's range gives the nearest number of that range, and NaN gives 0.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith, llvm, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import llvm_ext
from ...dialects.llvm_ext import CastKind, FCmpPredicate, FCmpPredicateAttr
from ...dialects.llvm_ext.types import element_type, like
from .builder import FunctionBuilder, Lowering
from .divisions import DIGITS
from .floats import in_working_type, narrow, widen
from .integers import select
from .types import (
    cast_kind,
    float_attr,
    integer_attr,
    integer_width,
    is_small_float,
    lane_count,
    lowered,
    mask_like,
)


def _lower_constant(f: FunctionBuilder, op: arith.ConstantOp) -> None:
    value, type_ = op.value, lowered(op.result.type)
    if isinstance(value, FloatAttr):
        constant = f.constant(value, type_)
    elif isinstance(value, IntegerAttr):
        constant = f.constant(integer_attr(value.value.data, type_), type_)
    elif isinstance(value, DenseIntOrFPElementsAttr):
        constant = _dense(f, value, type_)
    else:
        raise f.fail(op, f"expected a constant in the text of the module, got {value}")
    f.define(op.result, constant)


def _dense(f: FunctionBuilder, value: DenseIntOrFPElementsAttr, type_: Attribute) -> SSAValue:
    if isinstance(value.get_element_type(), IndexType):
        numbers = cast("tuple[int, ...]", tuple(value.get_values()))
        vector_type = cast("VectorType[Attribute]", type_)
        value = DenseIntOrFPElementsAttr.from_list(
            VectorType(i64, vector_type.get_shape()), numbers
        )
    return f.constant(value, type_)


def _resize(is_signed: bool) -> Lowering:
    extend = llvm.SExtOp if is_signed else llvm.ZExtOp

    def lower(f: FunctionBuilder, op: Operation) -> None:
        value, type_ = f.value(op.operands[0]), lowered(op.results[0].type)
        before, after = integer_width(value.type), integer_width(type_)
        if before != after:
            value = f.emit(extend if before < after else llvm.TruncOp, (value,), type_)
        f.define(op.results[0], value)

    return lower


def _extend_float(f: FunctionBuilder, op: arith.ExtFOp) -> None:
    f.define(op.result, widen(f, f.value(op.input), op.result.type))


def _truncate_float(f: FunctionBuilder, op: arith.TruncFOp) -> None:
    f.define(op.result, narrow(f, f.value(op.input), op.result.type))


def _integer_to_float(kind: CastKind) -> Lowering:
    def lower(f: FunctionBuilder, op: Operation) -> None:
        value, type_ = f.value(op.operands[0]), op.results[0].type
        # Through f64, f16 and bf16 are rounded once: f32 does not hold every i32.
        is_wide = is_small_float(type_) and integer_width(value.type) > 16
        direct = like(type_, f64) if is_wide else type_
        result = f.emit(llvm_ext.CastOp, (value,), direct, cast_kind(kind))
        f.define(op.results[0], narrow(f, result, type_) if is_wide else result)

    return lower


def _float_to_integer(kind: CastKind) -> Lowering:
    def lower(f: FunctionBuilder, op: Operation) -> None:
        value, type_ = in_working_type(f, f.value(op.operands[0])), lowered(op.results[0].type)
        is_vector = lane_count(type_) > 0 and integer_width(type_) >= 8
        if is_vector and not f.module.isa.saturates_vectors:
            result = _saturated(f, value, type_, kind)
        else:
            result = f.intrinsic(f"llvm.{kind.value}.sat", (value,), type_)
        f.define(op.results[0], result)

    return lower


def _saturated(f: FunctionBuilder, value: SSAValue, type_: Attribute, kind: CastKind) -> SSAValue:
    """Lanes brought into the range of an integer first, where no instruction does."""
    bits = integer_width(type_)
    low, end = (0, 1 << bits) if kind is CastKind.FPTOUI else (-1 << bits - 1, 1 << bits - 1)

    def number(x: float) -> SSAValue:
        element = element_type(value.type)
        return f.splat(f.constant(float_attr(x, element), element), value.type)

    zero, least = number(0.0), number(low)
    inside = value
    if low:  # otherwise the comparison with zero replaces NaN too
        inside = select(f, _compare(f, FCmpPredicate.ORD, value, value), value, zero)
    inside = select(f, _compare(f, FCmpPredicate.OGT, inside, least), inside, least)
    if bits < DIGITS[element_type(value.type)]:  # the largest integer is a float
        most = number(end - 1)
        inside = select(f, _compare(f, FCmpPredicate.OLT, inside, most), inside, most)
        return f.emit(llvm_ext.CastOp, (inside,), type_, cast_kind(kind))
    is_over = _compare(f, FCmpPredicate.OGE, inside, number(end))
    inside = select(f, is_over, zero, inside)
    result = f.emit(llvm_ext.CastOp, (inside,), type_, cast_kind(kind))
    return select(f, is_over, f.integer(end - 1, type_), result)


def _compare(f: FunctionBuilder, how: FCmpPredicate, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    properties = {"predicate": FCmpPredicateAttr(how)}
    return f.emit(llvm_ext.FCmpOp, (lhs, rhs), mask_like(lhs.type), properties)


def _bitcast(f: FunctionBuilder, op: Operation) -> None:
    value, type_ = f.value(op.operands[0]), lowered(op.results[0].type)
    if value.type != type_:
        value = f.emit(llvm_ext.CastOp, (value,), type_, cast_kind(CastKind.BITCAST))
    f.define(op.results[0], value)


def is_double(type_: Attribute) -> bool:
    """Whether a type is f64, or a vector of it."""
    return isinstance(element_type(type_), Float64Type)


CASTS: dict[type[Operation], Lowering] = {
    arith.BitcastOp: _bitcast,
    arith.ConstantOp: _lower_constant,
    arith.ExtFOp: _extend_float,
    arith.ExtSIOp: _resize(True),
    arith.ExtUIOp: _resize(False),
    arith.FPToSIOp: _float_to_integer(CastKind.FPTOSI),
    arith.FPToUIOp: _float_to_integer(CastKind.FPTOUI),
    arith.IndexCastOp: _resize(True),
    arith.SIToFPOp: _integer_to_float(CastKind.SITOFP),
    arith.TruncFOp: _truncate_float,
    arith.TruncIOp: _resize(True),
    arith.UIToFPOp: _integer_to_float(CastKind.UITOFP),
    vector.BitcastOp: _bitcast,
}
"""How constants and conversions are lowered."""

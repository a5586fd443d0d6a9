"""Operations that create, combine or shuffle vectors, and masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, i1, i32
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext, loops
from ...dialects.llvm_ext import FCmpPredicate, FCmpPredicateAttr
from ...dialects.llvm_ext.types import FLOAT_TYPES, element_type
from .builder import FunctionBuilder, Lowering
from .floats import FLOAT_FUNCTIONS, apply, beyond, chooses_extrema
from .index import index_value
from .integers import INTEGER_BINARY, compare
from .types import (
    SLT,
    Properties,
    fastmath,
    float_attr,
    i32_array,
    is_small_float,
    lane_count,
    lowered,
    mask_like,
    vector_of,
)


def _splat(f: FunctionBuilder, op: Operation) -> None:
    value, type_ = f.value(op.operands[0]), lowered(op.results[0].type)
    f.define(
        op.results[0],
        value if lane_count(value.type) else f.emit(llvm_ext.SplatOp, (value,), type_),
    )


def _poison(f: FunctionBuilder, op: Operation) -> None:
    f.define(op.results[0], f.emit(llvm_ext.PoisonOp, (), lowered(op.results[0].type)))


def _position(f: FunctionBuilder, op: vector.ExtractOp | vector.InsertOp) -> SSAValue:
    static = op.static_position.get_values()
    if len(static) != 1:
        raise f.fail(op, f"expected '{op.name}' with one position, got {len(static)}")
    return f.value(op.dynamic_position[0]) if op.dynamic_position else f.integer(static[0])


def _extract(f: FunctionBuilder, op: vector.ExtractOp) -> None:
    args = (f.value(op.vector), _position(f, op))
    f.define(op.result, f.emit(llvm_ext.ExtractElementOp, args, lowered(op.result.type)))


def _extract_element(f: FunctionBuilder, op: llvm_ext.ExtractElementOp) -> None:
    args = f.values(op.operands)
    f.define(op.res, f.emit(llvm_ext.ExtractElementOp, args, lowered(op.res.type)))


def _insert(f: FunctionBuilder, op: vector.InsertOp) -> None:
    args = (f.value(op.dest), f.value(op.source), _position(f, op))
    f.define(op.result, f.emit(llvm.InsertElementOp, args, lowered(op.result.type)))


def _shuffle(f: FunctionBuilder, op: vector.ShuffleOp) -> None:
    order = [int(i) for i in cast(Any, op.mask).get_values()]
    properties: Properties = {"mask": i32_array(*order)}
    args = (f.value(op.v1), f.value(op.v2))
    f.define(op.result, f.emit(llvm.ShuffleVectorOp, args, lowered(op.result.type), properties))


def first_lanes(f: FunctionBuilder, active: SSAValue, count: int) -> SSAValue:
    """The mask whose first `active` lanes, an i64, are active.

    Lane numbers are compared in i32, since they fill fewer registers; the number is clamped first.
    """
    zero, most = f.integer(0), f.integer(count)
    inside = f.intrinsic("llvm.smin", (active, most), active.type)
    inside = f.intrinsic("llvm.smax", (inside, zero), active.type)
    narrow = f.emit(llvm.TruncOp, (inside,), i32)
    type_ = vector_of(i32, count)
    numbers = DenseIntOrFPElementsAttr.from_list(VectorType(i32, [count]), list(range(count)))
    return compare(f, SLT, f.constant(numbers, type_), f.emit(llvm_ext.SplatOp, (narrow,), type_))


def _mask(f: FunctionBuilder, op: loops.MaskOp) -> None:
    active = index_value(f, op.active.data, op.operands_)
    f.define(op.result, first_lanes(f, active, lane_count(op.result.type)))


def _create_mask(f: FunctionBuilder, op: vector.CreateMaskOp) -> None:
    if len(op.mask_dim_sizes) != 1:
        raise f.fail(op, f"expected '{op.name}' of one dim, got {len(op.mask_dim_sizes)}")
    active = f.value(op.mask_dim_sizes[0])
    f.define(op.mask_vector, first_lanes(f, active, lane_count(op.mask_vector.type)))


def _lanewise(f: FunctionBuilder, op: loops.LanewiseOp) -> None:
    """Apply the lowering of the scalar operation, which supports vectors."""
    applied = op.applied(op.inputs, op.result.type)
    f.module.lowerings[type(applied)](f, applied)
    f.define(op.result, f.value(applied.results[0]))
    applied.drop_all_references()


_REDUCE_INTRINSICS = {
    "minsi": "smin",
    "maxsi": "smax",
    "minui": "umin",
    "maxui": "umax",
    "minimumf": "fminimum",
    "maximumf": "fmaximum",
    "minnumf": "fmin",
    "maxnumf": "fmax",
}
_EXTREMA = {"maximumf": "maximum", "minimumf": "minimum"}
_UNORDERED: Properties = {"predicate": FCmpPredicateAttr(FCmpPredicate.UNO)}


def _reduction(f: FunctionBuilder, op: vector.ReductionOp) -> None:
    kind, value = str(op.kind.data.value), f.value(op.vector)
    start = None if op.acc is None else f.value(op.acc)
    element = element_type(value.type)
    is_float = isinstance(element, FLOAT_TYPES)
    combiner, flags = loops.combiner_of(op.kind, op.dest.type), fastmath(op)
    if combiner is None:
        raise f.fail(op, f"expected a reduction of {value.type}, got '{kind}'")
    if is_small_float(element):
        result = _in_order(f, combiner, value, start, flags)
    elif is_float and kind in _EXTREMA and chooses_extrema(f, flags):
        result = _extremum_of_lanes(f, _EXTREMA[kind], combiner, value, start, flags)
    elif is_float and kind in ("add", "mul"):
        result = _float_sum(f, kind, value, start, flags)
    else:
        intrinsic = f"llvm.vector.reduce.{_REDUCE_INTRINSICS.get(kind, kind)}"
        result = f.intrinsic(intrinsic, (value,), element, flags if is_float else {})
        if start is not None:
            result = _combine(f, combiner, (start, result), flags)
    f.define(op.dest, result)


def _extremum_of_lanes(
    f: FunctionBuilder,
    name: str,
    combiner: type[Operation],
    value: SSAValue,
    start: SSAValue | None,
    flags: Properties,
) -> SSAValue:
    """The largest or smallest lane, or NaN: halves are compared, and all lanes with NaN at once."""
    element, count = element_type(value.type), lane_count(value.type)
    mask = f.emit(llvm_ext.FCmpOp, (value, value), mask_like(value.type), _UNORDERED)
    is_unknown = f.intrinsic("llvm.vector.reduce.or", (mask,), i1)
    while count > 1 and count % 2 == 0:
        count //= 2
        type_ = vector_of(element, count)
        halves = [
            f.emit(llvm.ShuffleVectorOp, (value, value), type_, {"mask": i32_array(*order)})
            for order in (range(count), range(count, 2 * count))
        ]
        value = beyond(f, name, *halves)
    total = f.emit(llvm_ext.ExtractElementOp, (value, f.integer(0)), element)
    for lane in range(1, count):
        part = f.emit(llvm_ext.ExtractElementOp, (value, f.integer(lane)), element)
        total = beyond(f, name, total, part)
    nan = f.constant(float_attr(math.nan, element), element)
    result = f.emit(llvm_ext.SelectOp, (is_unknown, nan, total), element)
    return result if start is None else _combine(f, combiner, (start, result), flags)


def _float_sum(
    f: FunctionBuilder, kind: str, value: SSAValue, start: SSAValue | None, flags: Properties
) -> SSAValue:
    """Add lanes in order, after `start`, unless flags allow reassociation."""
    element = element_type(value.type)
    if start is None:
        start = f.constant(float_attr(-0.0 if kind == "add" else 1.0, element), element)
    return f.intrinsic(f"llvm.vector.reduce.f{kind}", (start, value), element, flags)


def _in_order(
    f: FunctionBuilder,
    combiner: type[Operation],
    value: SSAValue,
    start: SSAValue | None,
    flags: Properties,
) -> SSAValue:
    """Combine lanes sequentially, since each step is rounded to the type."""
    element = element_type(value.type)
    total = start
    for lane in range(lane_count(value.type)):
        part = f.emit(llvm_ext.ExtractElementOp, (value, f.integer(lane)), element)
        total = part if total is None else _combine(f, combiner, (total, part), flags)
    assert total is not None
    return total


def _combine(
    f: FunctionBuilder, combiner: type[Operation], args: Sequence[SSAValue], flags: Properties
) -> SSAValue:
    if (function := FLOAT_FUNCTIONS.get(combiner)) is not None:
        return apply(f, function, args, flags)
    return INTEGER_BINARY[combiner](f, *args)


VECTORS: dict[type[Operation], Lowering] = {
    llvm_ext.ExtractElementOp: _extract_element,
    llvm_ext.PoisonOp: _poison,
    llvm_ext.SplatOp: _splat,
    loops.LanewiseOp: _lanewise,
    loops.MaskOp: _mask,
    vector.BroadcastOp: _splat,
    vector.CreateMaskOp: _create_mask,
    vector.ExtractOp: _extract,
    vector.InsertOp: _insert,
    vector.ReductionOp: _reduction,
    vector.ShuffleOp: _shuffle,
}
"""How operations across lanes are lowered."""

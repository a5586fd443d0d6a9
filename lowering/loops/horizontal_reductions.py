"""Accumulations over the lanes of vectors: where they start, and how the lanes become one value."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import BroadcastOp, CombiningKindAttr, CombiningKindFlag, ReductionOp
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ..analysis.reductions import Accumulation, identity
from ..scope import Scope
from .strided_load import shuffle

_KINDS: dict[type[Accumulation], str] = {
    arith.AddfOp: "add",
    arith.AddiOp: "add",
    arith.AndIOp: "and",
    arith.MaxSIOp: "maxsi",
    arith.MaxUIOp: "maxui",
    arith.MaximumfOp: "maximumf",
    arith.MaxnumfOp: "maxnumf",
    arith.MinSIOp: "minsi",
    arith.MinUIOp: "minui",
    arith.MinimumfOp: "minimumf",
    arith.MinnumfOp: "minnumf",
    arith.MulfOp: "mul",
    arith.MuliOp: "mul",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
}
"""What `vector.reduction` calls each accumulation."""


def start(op: Accumulation, width: int, scope: Scope) -> SSAValue:
    """Emit the vector with which an accumulation of `width` lanes starts."""
    element = op.result.type
    number = arith.ConstantOp(identity(op, element))
    spread = BroadcastOp(number.result, VectorType(element, [width]))
    scope.emit(number)
    scope.emit(spread)
    return spread.vector


def is_horizontal_reduction(op: Accumulation, reduction: ReductionOp) -> bool:
    """Whether a reduction of lanes is what an accumulation does, from no other start."""
    return reduction.kind.data.value == _KINDS.get(type(op)) and len(reduction.operands) == 1


def add_lanes(op: Accumulation, total: SSAValue, lanes: SSAValue, scope: Scope) -> SSAValue:
    """Emit what an accumulation makes of a total and the lanes of a vector."""
    kind = CombiningKindAttr(CombiningKindFlag(_KINDS[type(op)]))
    properties = dict(op.properties)
    flags = {k: v for k, v in properties.items() if k == "fastmath"}
    reduced = ReductionOp.create(
        operands=[lanes], result_types=[op.result.type], properties={"kind": kind, **flags}
    )
    combined = type(op).create(
        operands=[total, reduced.dest], result_types=[op.result.type], properties=properties
    )
    scope.emit(reduced)
    scope.emit(combined)
    return combined.result


def combined(op: Accumulation, lhs: SSAValue, rhs: SSAValue, scope: Scope) -> SSAValue:
    """Emit what an accumulation makes of the lanes of two vectors, one by one."""
    new = type(op).create(
        operands=[lhs, rhs], result_types=[lhs.type], properties=dict(op.properties)
    )
    scope.emit(new)
    return new.results[0]


def halved(op: Accumulation, vector: SSAValue, scope: Scope) -> SSAValue:
    """Emit what an accumulation makes of the halves of a vector."""
    count = lanes_of(vector) // 2
    type_ = VectorType(op.result.type, [count])
    parts = [shuffle(vector, vector, range(s, s + count), type_, scope) for s in (0, count)]
    return combined(op, parts[0], parts[1], scope)


def lanes_of(vector: SSAValue) -> int:
    """How many lanes a vector has."""
    assert isa(vector.type, VectorType)
    return vector.type.get_shape()[0]

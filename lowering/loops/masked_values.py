"""The values of masked loads whose memory is promoted to values."""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, VectorType
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects import loops
from ...dialects.int_expr import IntExpr
from ..scope import Scope
from .lane_analysis import ELEMENTWISE
from .places import place_of


def replace_load(op: loops.LoadOp, content: SSAValue, scope: Scope) -> None:
    """Replace a load by the content of its place, and drop it.

    Lanes outside of its mask become 0, unless all that is computed of them is masked off.
    """
    op.result.replace_all_uses_with(_under(op, content, scope))
    op.detach()
    op.erase()


def _under(op: loops.LoadOp, content: SSAValue, scope: Scope) -> SSAValue:
    if op.mask is None or _is_only_stored(op.result, place_of(op, scope).mask, scope):
        return content
    off = zero(op.result.type)
    values = [op.mask, content, off[-1].results[0]]
    new = [*off, loops.LanewiseOp("arith.select", values, op.result.type)]
    assert op.parent is not None
    op.parent.insert_ops_before(new, op)
    return new[-1].results[0]


def _is_only_stored(value: SSAValue, mask: SSAValue | IntExpr | None, scope: Scope) -> bool:
    """Whether a vector, and what is computed of it lane by lane, is only stored by a mask."""
    pending, seen = [value], {value}
    while pending:
        vector = pending.pop()
        for use in vector.uses:
            user = use.operation
            if isinstance(user, loops.StoreOp):
                if place_of(user, scope).mask != mask:
                    return False
                continue
            results = _lane_by_lane(user, vector, seen)
            if results is None:
                return False
            pending += [r for r in results if r not in seen]
            seen.update(results)
    return True


def _lane_by_lane(user: Operation, vector: SSAValue, seen: set[SSAValue]) -> list[SSAValue] | None:
    """What a user makes of the lanes of a vector; `None` if it may combine them.

    Loops may carry those that come from outside, where the mask is the same in all iterations.
    """
    if isinstance(user, loops.ForOp):
        carried = zip(user.inits, user.carry_vars, user.carried, strict=True)
        return [v for init, *inner in carried if init is vector for v in inner]
    if isinstance(user, loops.YieldOp) and isinstance(loop := user.parent_op(), loops.ForOp):
        carried = zip(user.values, loop.carry_vars, strict=True)
        is_entered = all(var in seen for value, var in carried if value is vector)
        return [] if is_entered else None
    if not isinstance(user, (*ELEMENTWISE, loops.LanewiseOp)):
        return None
    (result,) = user.results
    return [result] if _lanes(result) == _lanes(vector) else None  # not so in dot products


def _lanes(value: SSAValue) -> int:
    return value.type.get_shape()[0] if isa(value.type, VectorType) else 1


def zero(type_: Attribute) -> list[Operation]:
    """Operations that create a 0 of a type; the last one has it as its result."""
    if isa(type_, VectorType):
        ops = zero(type_.element_type)
        return [*ops, BroadcastOp(ops[0].results[0], type_)]
    if isa(type_, IntegerType):
        return [ConstantOp(IntegerAttr(0, type_))]
    assert isa(type_, AnyFloat)
    return [ConstantOp(FloatAttr(0.0, type_))]

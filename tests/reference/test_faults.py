"""Passes with one fault each, at every stage: a check of the pipeline names every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, ModuleOp, StringAttr, SymbolRefAttr, f32
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xrelax.dialects import loops, relax, rt, tir
from xrelax.dialects.int_expr import IntExpr
from xrelax.dialects.sym import ExprAttr, expr_array, exprs_of
from xrelax.reference import CheckError, check_pipeline


@dataclass(frozen=True)
class FaultPass(ModulePass):
    """Finds one operation and does something wrong to it."""

    name: ClassVar[str] = "fault"
    op_type: type[Operation]
    where: Callable[[Operation], bool]
    damage: Callable[[Operation], None]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.damage(next(o for o in op.walk() if isinstance(o, self.op_type) and self.where(o)))


@dataclass(frozen=True)
class IdlePass(ModulePass):
    """Changes nothing."""

    name: ClassVar[str] = "idle"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return None


def anywhere(op):
    return True


def inside(name):
    """Whether an operation belongs to the function of that name."""

    def test(op):
        while op is not None and "sym_name" not in op.properties:
            op = op.parent_op()
        return op is not None and op.properties["sym_name"].data == name

    return test


def swap_operands(op):
    op.operands = (op.operands[1], op.operands[0])


def shorten(op):
    op.properties["extent"] = ExprAttr(op.extent.data - 1)


def start_late(op):
    op.properties["min"] = ExprAttr(op.min.data + 1)
    op.properties["extent"] = ExprAttr(op.extent.data - 1)


def start_late_at_loops(op):
    op.properties["lower"] = ExprAttr(op.lower.data + 1)
    op.properties["extent"] = ExprAttr(op.extent.data - 1)


def erase(op):
    op.detach()


def invert_predicate(op):
    flipped = [tir.BoundAttr(ExprAttr(b.rhs.data - 1), b.lhs) for b in op.predicates.data]
    op.properties["predicates"] = ArrayAttr(flipped)


def transpose(op):
    op.properties["indices"] = expr_array(exprs_of(op.indices)[::-1])


def shift_last(op):
    *first, last = exprs_of(op.indices)
    op.properties["indices"] = expr_array([*first, (last + 1) % 2])


def other_constant(op):
    op.properties["value"] = FloatAttr(0.25, f32)


def all_lanes(op):
    op.properties["active"] = ExprAttr(IntExpr.of(4))


def one_lane_less(op):
    op.properties["active"] = ExprAttr(op.active.data - 1)


def alias(op):
    op.properties["offset"] = ExprAttr(IntExpr.of(0))


def overlap(op):
    op.properties["offset"] = ExprAttr(op.offset.data - 4)


def other_callee(op):
    op.properties["callee"] = SymbolRefAttr("total")


def other_packed(op):
    op.properties["callee"] = StringAttr("double")


def swap_with_next(op):
    following = op.next_op
    op.detach()
    following.parent.insert_op_after(op, following)


def swap_inputs(op):
    op.operands = (op.operands[1], op.operands[0], *op.operands[2:])


def no_carry(op):
    op.result.replace_all_uses_with(op.operands[1])


def accumulate_twice(op):
    twin = op.clone()
    op.parent.insert_op_after(twin, op)


def outer(name):
    return lambda op: inside(name)(op) and is_outer(op)


def inner(name):
    return lambda op: inside(name)(op) and not is_outer(op)


def is_outer(op):
    return isinstance(op.parent_op(), tir.PrimFuncOp | loops.FuncOp)


def packed(name):
    return lambda op: op.callee.data == name


@dataclass(frozen=True)
class Fault:
    """Where a program is damaged, how, and what the check says."""

    program: str
    op_type: type[Operation]
    damage: Callable[[Operation], None]
    where: Callable[[Operation], bool] = anywhere
    message: str = "changes result 0"


def drop_predicate(op):
    op.properties["predicates"] = ArrayAttr([])


def is_update(op):
    return inside("sum")(op) and not isinstance(op.parent_op(), tir.InitOp)


def is_guarded(op):
    return bool(op.predicates.data)


def is_second_slot(op):
    return bool(op.offset.data.terms)


def calls_sum(op):
    return op.callee_name == "sum"


NOT_VERIFIED = "left IR that does not verify"
OVERLAP = "breaks 'main'.*memory of its own"
WRITES = "changes argument 'Y'"

FAULTS = {
    "swapped operands of a subtraction": Fault("graph", arith.SubfOp, swap_operands),
    "a wrong bound of a block's loop": Fault("graph", tir.ForOp, shorten, is_outer),
    "a wrong bound": Fault("total", tir.ForOp, shorten, inner("total")),
    "an off-by-one loop start": Fault("total", tir.ForOp, start_late, inner("total")),
    "a late outer loop start": Fault("total", tir.ForOp, start_late, outer("total")),
    "a dropped init": Fault("graph", tir.InitOp, erase),
    "a dropped store": Fault("graph", tir.StoreOp, erase, is_update),
    "an inverted predicate": Fault(
        "graph", tir.BlockOp, invert_predicate, is_guarded, "(breaks|changes)"
    ),
    "a dropped predicate": Fault(
        "graph", tir.BlockOp, drop_predicate, is_guarded, f"({NOT_VERIFIED}|breaks)"
    ),
    "a transposed index": Fault(
        "graph", tir.LoadOp, transpose, inside("difference"), f"(breaks|changes|{NOT_VERIFIED})"
    ),
    "a wrong constant": Fault("graph", arith.ConstantOp, other_constant, inside("sum")),
    "a wrong callee of call_tir": Fault("graph", relax.CallTIROp, other_callee, calls_sum),
    "swapped arguments": Fault("graph", relax.CallTIROp, swap_inputs),
    "a lost accumulation": Fault("graph", arith.AddfOp, no_carry, inside("sum")),
    "a repeated accumulation": Fault(
        "planned", rt.CallPackedOp, accumulate_twice, packed("accumulate")
    ),
    "an aliasing arena slot": Fault("planned", rt.ViewOp, alias, is_second_slot, OVERLAP),
    "an overlapping arena slot": Fault("planned", rt.ViewOp, overlap, is_second_slot, OVERLAP),
    "reordered effects": Fault("planned", rt.CallPackedOp, swap_with_next, packed("double")),
    "a wrong callee of call_dps": Fault("planned", rt.CallDPSOp, other_callee, calls_sum),
    "a wrong packed function": Fault(
        "planned", rt.CallPackedOp, other_packed, packed("accumulate")
    ),
    "a dropped call": Fault("planned", rt.CallDPSOp, erase),
    "a stale mask": Fault(
        "loops", loops.MaskOp, all_lanes, message="breaks 'main'.*indices of dim 1 of 'X'"
    ),
    "a mask of one lane less": Fault("loops", loops.MaskOp, one_lane_less, message=WRITES),
    "a late start at loops": Fault("loops", loops.ForOp, start_late_at_loops, is_outer, WRITES),
    "a dropped vector store": Fault("loops", loops.StoreOp, erase, message=WRITES),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_attributed_to_their_pass(parse, programs, registry, name):
    fault = FAULTS[name]
    broken = FaultPass(fault.op_type, fault.where, fault.damage)
    passes = [("first", IdlePass()), (name, broken), ("last", IdlePass())]
    module = parse(programs[fault.program])
    with pytest.raises(CheckError, match=f"^pass '{name}' {fault.message}") as caught:
        check_pipeline(module, passes, functions=["main"], registry=registry)
    assert "\n" not in str(caught.value)

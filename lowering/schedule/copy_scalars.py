"""Copies of what a block computes, with its axes replaced by index expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.conditions import conjuncts, facts_in_arm
from ...dialects.tir.ranges import ranges_of
from ..scope import Scope, index_constant, rebuild
from .conditions import taken_arm


class ScalarCopier:
    """Copies scalar operations into a block; `meaning` has the axes as expressions over `values`.

    `facts` are expressions over `values` that are at least 0 where the copies run. Of an `scf.if`
    that they and the ranges of values decide, only the taken arm is copied.
    """

    def __init__(
        self,
        values: Values,
        meaning: Mapping[SSAValue, IntExpr],
        facts: Sequence[IntExpr] = (),
    ):
        self.facts = list(facts)
        self.block = Block()
        self.scope = Scope(self.block, values, dict(meaning), in_place=True)
        self.scope.ranges = ranges_of(values.list)

    def copy_all(self, ops: Sequence[Operation]) -> None:
        """Copy operations in order."""
        for op in ops:
            self.copy(op)

    def copy(self, op: Operation) -> None:
        """Copy one operation, with its source location."""
        outer = self.scope.follow(op)
        self._copy(op)
        self.scope.location = outer

    def _copy(self, op: Operation) -> None:
        scope = self.scope
        match op:
            case tir.LoadOp():
                indices = scope.exprs(exprs_of(op.indices), op.operands_)
                new = tir.LoadOp(op.buffer, indices, scope.values.list)
                scope.emit(new)
                scope.define(op.result, new.result)
            case tir.ApplyOp():
                scope.meaning[op.result] = scope.expr(op.expr.data, op.operands)
            case ConstantOp() if (number := index_constant(op)) is not None:
                scope.meaning[op.result] = IntExpr.of(number)
            case scf.IfOp() if op.results:
                self._copy_choice(op)
            case _:
                rebuild(op, scope, lambda inner: self.copy_all(list(inner.ops)))

    def _copy_choice(self, op: scf.IfOp) -> None:
        numbering = Values()
        excesses = conjuncts(op.cond, numbering)
        if excesses is not None:
            excesses = self.scope.exprs(excesses, numbering.list)
        arm = taken_arm(excesses, self.scope.ranges, self.facts)
        if arm is None:
            arms = [region.block for region in op.regions]
            rebuild(op, self.scope, lambda b: self._copy_arm(b, excesses, arms.index(b)))
            return
        *ops, last = op.regions[arm].block.ops
        self.copy_all(ops)
        for old, value in zip(op.results, last.operands, strict=True):
            self.scope.define(old, self.scope.value(value))

    def _copy_arm(self, block: Block, excesses: Sequence[IntExpr] | None, arm: int) -> None:
        outer, self.facts = self.facts, [*self.facts, *facts_in_arm(excesses, arm)]
        self.copy_all(list(block.ops))
        self.facts = outer

    def value(self, old: SSAValue) -> SSAValue:
        """The copy of a value."""
        return self.scope.value(old)

    def insert_before(self, op: Operation) -> list[Operation]:
        """Move the copies before an operation; returns them."""
        parent = op.parent
        assert parent is not None
        moved = list(self.block.ops)
        for new in moved:
            new.detach()
            parent.insert_op_before(new, op)
        return moved

"""Copies of what a block computes, with its axes replaced by index expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.arith import ConstantOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval
from ...dialects.int_expr import Atom, IntExpr
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.ranges import value_range
from ..loops.copy_ops import index_constant, rebuild
from ..loops.scope import Scope


class ScalarCopier:
    """Copies scalar operations into a block; axes mean what `meaning` says over `values`."""

    def __init__(self, values: Values, meaning: Mapping[SSAValue, IntExpr]):
        self.block = Block()
        self.scope = Scope(self.block, values, dict(meaning), in_place=True)
        self.scope.ranges = ranges_of_values(values)

    def copy_all(self, ops: Sequence[Operation]) -> None:
        """Copy operations in order."""
        for op in ops:
            self.copy(op)

    def copy(self, op: Operation) -> None:
        """Copy one operation."""
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
            case _:
                rebuild(op, scope, lambda inner: self.copy_all(list(inner.ops)))

    def value(self, old: SSAValue) -> SSAValue:
        """The copy of a value."""
        return self.scope.value(old)

    def insert_before(self, op: Operation) -> None:
        """Move the copies in front of an operation."""
        parent = op.parent
        assert parent is not None
        for new in list(self.block.ops):
            new.detach()
            parent.insert_op_before(new, op)


def ranges_of_values(values: Values) -> dict[Atom, Interval]:
    """What is known of the values in a numbering."""
    found: dict[Atom, Interval] = {}
    for value in values.list:
        atom = values.expr(value).as_atom
        if atom is not None and (interval := value_range(value)) is not None:
            found[atom] = interval
    return found

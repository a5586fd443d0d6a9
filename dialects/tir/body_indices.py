"""What indices in the body of a block are over values from outside, and their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..bounds import Interval, constant_limit, interval_of
from ..int_expr import ZERO, Arg, Atom, IntExpr, minimum
from ..sym import Values, exprs_of
from .block import BlockOp
from .loop import ApplyOp, ForOp


@dataclass
class BodyIndices:
    """The meaning of values in a body, as far as its operations have been visited in order.

    Loops of the body have ranges, in `ranges`; its axes and expressions are over their variables
    and over values from outside, numbered by `values`.
    """

    body: Block
    values: Values
    by_predicates: bool = False
    """Whether predicates and conditions limit indices."""
    ranges: dict[Atom, Interval] = field(default_factory=lambda: {})
    meaning: dict[SSAValue, IntExpr | None] = field(default_factory=lambda: {})
    guards: tuple[IntExpr, ...] = ()
    """Later operations run only where all of them are at least 0."""
    conditions: tuple[IntExpr, ...] = ()
    """The expressions over variables of loops inside that are at least 0 for an access."""

    def define(self, op: Operation) -> None:
        """Enter the values that an operation defines."""
        if isinstance(op, ForOp):
            lower = self.rebase(op.min.data, op.operands_)
            extent = self.rebase(op.extent.data, op.operands_)
            self._set_range(op.loop_var, lower, extent)
            self._guard(None if extent is None else extent - 1)
        elif isinstance(op, BlockOp):
            for axis_var, binding in zip(op.axis_vars, exprs_of(op.bindings), strict=True):
                self.meaning[axis_var] = self.rebase(binding, op.numbering())
            for bound in op.predicates.data:
                rest = self.rebase(bound.rhs.data - bound.lhs.data - 1, op.numbering())
                self._guard(rest)
                if rest is not None and self.by_predicates:
                    self.conditions = (*self.conditions, rest)
        elif isinstance(op, ApplyOp):
            self.meaning[op.result] = self.rebase(op.expr.data, op.operands)

    def _set_range(self, loop_var: SSAValue, lower: IntExpr | None, extent: IntExpr | None) -> None:
        if lower is None or extent is None:
            self.meaning[loop_var] = None
            return
        first, last = interval_of(lower, self.ranges), interval_of(lower + extent - 1, self.ranges)
        if first is None or last is None:
            self.meaning[loop_var] = None
            return
        if (most := constant_limit(extent)) is not None and most <= 1:
            self.meaning[loop_var] = lower  # the value in the only iteration, if there is one
            return
        atom = self.values.atom(loop_var)
        self.ranges[atom] = Interval(first.lower, last.upper)

    def _guard(self, value: IntExpr | None) -> None:
        """Guard later accesses by ``value >= 0``."""
        span = None if value is None else interval_of(value, self.ranges)
        if span is not None and span.upper.constant is None:
            self.guards = (*self.guards, span.upper)

    def rebase_all(
        self, exprs: Sequence[IntExpr], operands: Sequence[SSAValue]
    ) -> list[IntExpr | None]:
        """Each expression over values from outside; `None` for those that depend on data inside."""
        return [self.rebase(e, operands) for e in exprs]

    def rebase(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr | None:
        """An expression over values from outside; `None` if it depends on data inside."""
        mapping: dict[Atom, IntExpr] = {}
        for index in expr.args():
            meaning = self._meaning(operands[index])
            if meaning is None:
                return None
            mapping[Arg(index)] = meaning
        return expr.substitute(mapping)

    def _meaning(self, value: SSAValue) -> IntExpr | None:
        if value in self.meaning:
            return self.meaning[value]
        if isinstance(value, BlockArgument) or not self.is_inside(value):
            return self.values.expr(value)
        return None

    def is_inside(self, value: SSAValue) -> bool:
        """Whether a value is defined in the body; its arguments are not."""
        if value.owner is self.body:
            return False
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        while block is not None:
            if block is self.body:
                return True
            op = block.parent_op()
            block = op.parent if op is not None else None
        return False

    def interval(self, index: IntExpr | None, dim: IntExpr) -> Interval:
        """The range of an index into a dim: the whole dim for one that is not known."""
        found = None if index is None else interval_of(index, self.ranges)
        if found is None and index is not None and not self._is_varied(index):
            found = Interval(index, index)  # such as ``i * n``
        if found is None:
            return Interval.range(0, dim)
        lower = ZERO if (found.lower.constant or 0) < 0 else found.lower
        excess = (found.upper - dim).constant
        upper = dim - 1 if excess is not None and excess >= 0 else found.upper
        return Interval(lower, self._limited(index, upper))

    def _limited(self, index: IntExpr | None, upper: IntExpr) -> IntExpr:
        """The greatest value of an index where all conditions hold."""
        if index is not None and self._is_varied(index):
            for condition in self.conditions:
                limit = index + condition
                if not self._is_varied(limit):
                    upper = minimum(upper, limit)
        return upper

    def _is_varied(self, expr: IntExpr) -> bool:
        """Whether an expression depends on loops inside."""
        return any(atom in self.ranges for atom in expr.leaves)

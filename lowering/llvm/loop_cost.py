"""Estimate the cost of an iteration of a loop, which decides whether it runs on threads.

The estimate is an expression over symbols and values from outside of the loop, in thousandths of a
cycle, by the `MachineModel` of the target. A vector operation is one instruction, and a scalar one
a fraction of one, since LLVM vectorizes most scalar loops. Errors only move the threshold at which
a loop runs on threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp, DivfOp
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.math import SqrtOp
from xdsl.ir import Block, Operation, SSAValue

from ...backend.targets.machine_model import MachineModel
from ...dialects import loops, tir
from ...dialects.bounds import Interval, interval_of
from ...dialects.int_expr import ZERO, Atom, IntExpr
from ...dialects.sym import Values
from ..scope import is_inside

FUNCTION, DIVISION = 10, 5
"""The cost of a function such as `exp`, and of a division, in plain operations."""
UNKNOWN_TRIPS = 16
"""The assumed trip count of a loop whose bounds depend on data."""


def iteration_cost(loop: loops.ForOp, model: MachineModel) -> tuple[IntExpr, list[SSAValue]]:
    """Thousandths of a cycle of one iteration, over symbols and the values returned with it."""
    estimate = _Estimate(loop, model)
    cost = estimate.body_of(loop)
    return cost, estimate.values.list


@dataclass
class _Estimate:
    outermost: loops.ForOp
    model: MachineModel
    values: Values = field(default_factory=Values)
    ranges: dict[Atom, Interval] = field(default_factory=lambda: {})

    def body_of(self, loop: loops.ForOp) -> IntExpr:
        """The cost of an iteration of a loop; adds the range of its variable."""
        lower, extent = (
            self._bounds(self.values.rebase(e.data, loop.operands_))
            for e in (loop.lower, loop.extent)
        )
        if lower is not None and extent is not None:
            last = lower.upper + extent.upper - 1
            (atom,) = self.values.expr(loop.loop_var).atoms()
            self.ranges[atom] = Interval(lower.lower, last)
        return self._block(loop.body.block) + thousandths(self.model.loop_iteration)

    def _bounds(self, expr: IntExpr) -> Interval | None:
        """The range of a number over values outside of the loop; `None` if it depends on data."""
        found = interval_of(expr, self.ranges)
        if found is None or any(map(self._is_unknown, (found.lower, found.upper))):
            return None
        return found

    def _is_unknown(self, expr: IntExpr) -> bool:
        return any(is_inside(self.values.list[i], self.outermost) for i in expr.args())

    def _block(self, block: Block) -> IntExpr:
        total = ZERO
        for op in block.ops:
            total = total + self._operation(op)
        return total

    def _operation(self, op: Operation) -> IntExpr:
        match op:
            case loops.ForOp():
                trips = self._bounds(self.values.rebase(op.extent.data, op.operands_))
                body = self.body_of(op)
                return body * (UNKNOWN_TRIPS if trips is None else trips.upper)
            case scf.ForOp() | scf.WhileOp():
                return self._regions(op) * UNKNOWN_TRIPS
            case ConstantOp() | loops.YieldOp() | scf.YieldOp() | tir.ApplyOp() | loops.AllocaOp():
                return ZERO
            case tir.OpaqueCallOp():
                return IntExpr.of(thousandths(self.model.foreign_call))
            case _ if op.regions:
                return self._regions(op)
            case _:
                return IntExpr.of(self._plain(op))

    def _regions(self, op: Operation) -> IntExpr:
        total = IntExpr.of(thousandths(self.model.loop_operation))
        for region in op.regions:
            for block in region.blocks:
                total = total + self._block(block)
        return total

    def _plain(self, op: Operation) -> int:
        is_vector = any(isinstance(v.type, VectorType) for v in (*op.operands, *op.results))
        cost = thousandths(self.model.loop_vector if is_vector else self.model.loop_operation)
        if isinstance(op, DivfOp | SqrtOp):
            return cost * DIVISION
        return cost * FUNCTION if op.name.startswith("math.") and op.name != "math.fma" else cost


def thousandths(cycles: float) -> int:
    """Cycles in thousandths of one, the unit in which generated code computes costs."""
    return round(1000 * cycles)

"""Checkpoints of gradients: which values the backward pass recomputes instead of keeping them.

::

    %a = relax.grad.start_checkpoint %x : …
    %y = relax.exp %a : …                           not kept: computed again from %x
    %b = relax.grad.end_checkpoint %y : …
    %z = relax.sin %b : …                           kept

TVM's ``relax.grad.start_checkpoint`` and ``relax.grad.end_checkpoint``.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.attributes import RECOMPUTED
from ...dialects.relax.operators.markers import EndCheckpointOp, StartCheckpointOp
from .gradient_rules import Backward

STRUCTURE = (relax.TupleOp, relax.TupleGetItemOp)
"""Operations that compute nothing."""


class Checkpoints:
    """The marks of a dataflow block, which are removed from it.

    A value is kept if all that it is computed from is kept or ends a checkpoint, and the operand of
    the start of a checkpoint is kept. `marked` has the value that each name of a mark stands for.
    """

    def __init__(self, dataflow: relax.DataflowOp, g: Backward):
        self.marked: dict[str, SSAValue] = {}
        self._g = g
        self._dropped: set[SSAValue] = set()
        self._copies: dict[SSAValue, SSAValue] = {}
        self._find(dataflow)

    def _find(self, dataflow: relax.DataflowOp) -> None:
        marks: list[StartCheckpointOp | EndCheckpointOp] = []
        inside: set[SSAValue] = set()
        for op in dataflow.body.block.ops:
            match op:
                case StartCheckpointOp():
                    self._dropped.discard(_unmarked(op.data))
                    inside.add(op.result)
                    marks.append(op)
                case EndCheckpointOp():
                    marks.append(op)
                case _ if any(o in inside or o in self._dropped for o in op.operands):
                    self._dropped.update(op.results)
                case _:
                    pass
        for mark in marks:
            value = _unmarked(mark.data)
            if mark.result.name_hint is not None:
                self.marked[mark.result.name_hint] = value
            Rewriter.replace_op(mark, [], [value])

    def operation(self, op: Operation) -> Operation:
        """An operation on values that the backward pass has: itself, or a copy that is inserted."""
        operands = [self._value(o) for o in op.operands]
        if op.results[0] in self._dropped:
            owner = self._value(op.results[0]).owner
            assert isinstance(owner, Operation)
            return owner
        return op if operands == list(op.operands) else self._copy(op, operands)

    def finish(self, op: Operation, used: Operation) -> None:
        """Remove a copy of an operation whose result is kept."""
        if used is not op and op.results[0] not in self._dropped:
            Rewriter.replace_op(used, [], op.results)

    def _value(self, value: SSAValue) -> SSAValue:
        if value not in self._dropped:
            return value
        if value not in self._copies:
            assert isinstance(value, OpResult)
            copy = self._copy(value.op, [self._value(o) for o in value.op.operands])
            self._copies[value] = copy.results[0]
        return self._copies[value]

    def _copy(self, op: Operation, operands: list[SSAValue]) -> Operation:
        copy = op.clone(dict(zip(op.operands, operands, strict=True)))
        if not isinstance(op, STRUCTURE):
            copy.attributes[RECOMPUTED] = UnitAttr()
        hint = op.results[0].name_hint
        self._g.inserted(copy).name_hint = None if hint is None else f"{hint}_cp"
        return copy


def _unmarked(value: SSAValue) -> SSAValue:
    """The value that starts and ends of checkpoints stand for."""
    while isinstance(value.owner, StartCheckpointOp | EndCheckpointOp):
        value = value.owner.data
    return value

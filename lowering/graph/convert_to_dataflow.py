"""`convert-to-dataflow`: put pure operations that follow each other into dataflow blocks.

::

    %a = relax.add %x, %x : …
    %b = relax.multiply %a, %x : …
    relax.call_packed "log"(%b) : …

⇒

    %b = relax.dataflow -> T {
      %a = relax.add %x, %x : …
      %b_1 = relax.multiply %a, %x : …
      relax.output %b_1 : T
    }
    relax.call_packed "log"(%b) : …

Fewer than `min_size` operations are unchanged. TVM's ``ConvertToDataflow``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from ...dialects import relax
from ...dialects.relax.closure import is_pure
from ..functions import graph_functions


@dataclass(frozen=True)
class ConvertToDataflowPass(ModulePass):
    """Put pure operations that follow each other into dataflow blocks."""

    name = "convert-to-dataflow"
    min_size: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            _convert(func.body.block, self.min_size)


def _convert(block: Block, min_size: int) -> None:
    group: list[Operation] = []
    for op in list(block.ops):
        if _may_move(op):
            group.append(op)
            continue
        _wrap(group, min_size)
        group = []
        if not isinstance(op, relax.DataflowOp):
            for region in op.regions:
                _convert(region.block, min_size)


def _may_move(op: Operation) -> bool:
    users = [use.operation for result in op.results for use in result.uses]
    if isinstance(op, relax.TupleOp) and all(u.has_trait(IsTerminator) for u in users):
        return False  # the result of the function, which is written where it ends
    return not op.regions and not op.has_trait(IsTerminator) and is_pure(op)


def _wrap(group: Sequence[Operation], min_size: int) -> None:
    """Move operations into a dataflow block, which stands where the last of them was."""
    lines = [op for op in group if not _is_shared_constant(op, group)]
    if sum(not isinstance(op, relax.ConstantOp) for op in lines) < max(min_size, 1):
        return
    outputs = [r for op in lines for r in op.results if _users_outside(r, lines)]
    inner = Block()
    dataflow = relax.DataflowOp(Region(inner), [v.type for v in outputs])
    last = lines[-1]
    assert last.parent is not None
    last.parent.insert_op_after(dataflow, last)
    for value, result in zip(outputs, dataflow.outputs, strict=True):
        result.name_hint = value.name_hint
        for user, index in _users_outside(value, lines):
            user.operands[index] = result
    for op in lines:
        op.detach()
        inner.add_op(op)
    inner.add_op(relax.OutputOp(outputs))


def _is_shared_constant(op: Operation, group: Sequence[Operation]) -> bool:
    """Constants that others use too are no outputs: they stay before the block."""
    return isinstance(op, relax.ConstantOp) and bool(_users_outside(op.result, group))


def _users_outside(value: SSAValue, group: Sequence[Operation]) -> list[tuple[Operation, int]]:
    return [(use.operation, use.index) for use in value.uses if use.operation not in group]

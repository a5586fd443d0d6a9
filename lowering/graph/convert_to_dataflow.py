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

Fewer than `min_size` operations are unchanged, unless they are beside a dataflow block, which they
become part of. TVM's ``ConvertToDataflow``.
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
from .foreign_calls import runs_unused


@dataclass(frozen=True)
class ConvertToDataflowPass(ModulePass):
    """Put pure operations that follow each other into dataflow blocks."""

    name = "convert-to-dataflow"
    min_size: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            group_pure(func.body.block, self.min_size)


def group_pure(block: Block, min_size: int = 2) -> None:
    """Put pure operations of a block, and of those inside of it, into dataflow blocks."""
    group: list[Operation] = []
    for op in list(block.ops):
        if _may_move(op) or isinstance(op, relax.DataflowOp):
            group.append(op)
            continue
        _join(group, min_size)
        group = []
        for region in op.regions:
            group_pure(region.block, min_size)


def _join(group: Sequence[Operation], min_size: int) -> None:
    """Make a dataflow block of operations and of the dataflow blocks among them."""
    blocks = [op for op in group if isinstance(op, relax.DataflowOp)]
    others = [op for op in group if not isinstance(op, relax.DataflowOp | relax.ConstantOp)]
    if not others and len(blocks) < 2:
        return
    lines = [
        line
        for op in group
        for line in (open_dataflow(op) if isinstance(op, relax.DataflowOp) else [op])
    ]
    _wrap(lines, 1 if blocks else min_size)


def open_dataflow(op: relax.DataflowOp) -> list[Operation]:
    """The operations of a dataflow block, which are put in its place."""
    assert op.parent is not None
    lines = list(op.body.block.ops)[:-1]
    for outer, inner in zip(op.outputs, op.output.values, strict=True):
        inner.name_hint = inner.name_hint or outer.name_hint
        outer.replace_all_uses_with(inner)
    for line in lines:
        line.detach()
        op.parent.insert_op_before(line, op)
    op.detach()
    op.erase()
    return lines


def _may_move(op: Operation) -> bool:
    users = [use.operation for result in op.results for use in result.uses]
    if isinstance(op, relax.TupleOp) and all(u.has_trait(IsTerminator) for u in users):
        return False  # the result of the function, which is written where it ends
    if op.regions or op.has_trait(IsTerminator) or isinstance(op, relax.AllocTensorOp):
        return False
    return is_pure(op) and not runs_unused(op)  # inside of a dataflow block it would not run


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

"""`kill-after-last-use`: mark the last use of every tensor and of storage.

::

    %y = relax.memory.alloc_tensor %s[0] : …       %y = relax.memory.alloc_tensor %s[0] : …
    relax.call_packed "f"(%x, %y) : …         ⇒    relax.memory.kill_storage %s : …
    %z = relax.add %x, %y : …                      relax.call_packed "f"(%x, %y) : …
                                                   %z = relax.add %x, %y : …
                                                   relax.memory.kill_tensor %y : …

Parameters, constants, fields of tuples, and what a function returns are not killed, nor what is not
used at all.
TVM's ``KillAfterLastUse``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.relax.tuple import leaves
from ..functions import graph_functions
from .static_plan_block_memory import owners

_TERMINATORS = (relax.ReturnOp, relax.OutputOp, relax.YieldOp)


def kill_in(block: Block) -> None:
    """Mark the last uses of the values of a block, and of the blocks inside it."""
    last: dict[SSAValue, Operation] = {}
    for op in block.ops:
        for inner in op.walk():
            for operand in inner.operands:
                last[operand] = op
        for region in op.regions:
            kill_in(region.block)
    kept = set(_returned(block))
    for value, op in last.items():
        if not isinstance(value.owner, Operation) or value.owner.parent is not block:
            continue
        if value in kept or isinstance(value.owner, relax.ConstantOp):
            continue
        if isinstance(op, relax.KillTensorOp | relax.KillStorageOp | relax.TupleOp):
            continue
        if isinstance(value.type, relax.TensorType):
            _insert_after(relax.KillTensorOp(value), op)
        elif isinstance(value.owner, relax.AllocStorageOp):
            _insert_after(relax.KillStorageOp(value), op)


def _insert_after(kill: Operation, op: Operation) -> None:
    """Insert a kill after the last use, and after the kills of values that ended there before."""
    while isinstance(op.next_op, relax.KillTensorOp | relax.KillStorageOp):
        op = op.next_op
    assert op.parent is not None
    kill.location = op.location
    op.parent.insert_ops_after([kill], op)


def _returned(block: Block) -> Iterator[SSAValue]:
    """What the end of a block passes on, with the tensors in it and those that it views."""
    if isinstance(last := block.last_op, _TERMINATORS):
        for operand in last.operands:
            yield operand
            for leaf in leaves(operand):
                yield from owners(leaf)


@dataclass(frozen=True)
class KillAfterLastUsePass(ModulePass):
    """Insert `relax.memory.kill_tensor` and `relax.memory.kill_storage` after last uses."""

    name = "kill-after-last-use"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            kill_in(func.body.block)

"""The places for the tensors that a block of a graph function makes for its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import relax
from ...dialects.relax.leaves import Leaf, in_memory, leaves

Place = TypeVar("Place")

PRODUCERS = (
    relax.CallTIROp,
    relax.CallTIRInplaceOp,
    relax.CallDPSPackedOp,
    relax.CallOp,
    relax.AllocTensorOp,
    relax.CallPackedOp,
    relax.CallPurePackedOp,
    relax.IfOp,
)
"""Operations that write tensors into memory of our choice."""


def destinations(block: Block, value: SSAValue, places: Sequence[Place]) -> dict[Leaf, Place]:
    """The places for tensors that operations of the block make and that `value`, its result, has.

    Such a tensor, or the one it is a view of, is computed right in its place; the others are copied
    there, such as one that the value has a second time.
    """
    found: dict[Leaf, Place] = {}
    for own, place in zip(leaves(value), places, strict=True):
        leaf = in_memory(own)[-1]
        owner = leaf[0].owner
        if isinstance(owner, PRODUCERS) and _is_in(owner, block):
            found.setdefault(leaf, place)
    return found


def _is_in(op: Operation, block: Block) -> bool:
    """Whether the block runs the operation itself, or in a dataflow block."""
    parent = op.parent_op()
    return op.parent is block or (isinstance(parent, relax.DataflowOp) and parent.parent is block)

"""Which tensors of a graph function can be computed directly in given memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import relax
from ...dialects.relax.tuple import Leaf, in_memory, leaves, tensor_type

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
    relax.LoopOp,
    relax.StringOp,
)
"""Operations that write their results into given memory."""


def destinations(block: Block, value: SSAValue, places: Sequence[Place]) -> dict[Leaf, Place]:
    """The tensors of `value`, the block's result, that can be computed directly in their `places`.

    These are tensors, or sources of views, that operations of the block produce. All others, and
    repeated ones, are copied.
    """
    found: dict[Leaf, Place] = {}
    for own, place in zip(stored(value), places, strict=True):
        for leaf in in_one_place(in_memory(own)[-1]):
            owner = leaf[0].owner
            if leaf in found or not isinstance(owner, PRODUCERS) or not _is_in(owner, block):
                break
            found[leaf] = place
    return found


def in_one_place(leaf: Leaf) -> Iterator[Leaf]:
    """The tensor, and those that only a call in place uses to compute it."""
    found: Leaf | None = leaf
    while found is not None:
        yield found
        found = replaced(found)


def replaced(leaf: Leaf) -> Leaf | None:
    """The intermediate that a call in place replaces by this tensor, if nothing else uses it."""
    owner = leaf[0].owner
    if not isinstance(owner, relax.CallTIRInplaceOp) or owner.positions[leaf[1]] == -1:
        return None
    argument = owner.args[owner.positions[leaf[1]]]
    (origin,) = leaves(argument)
    is_intermediate = (
        isinstance(argument.owner, PRODUCERS) and argument.owner.parent is owner.parent
    )
    is_only_used_here = origin[0] is argument and argument.has_one_use()
    return origin if is_intermediate and is_only_used_here else None


def _is_in(op: Operation, block: Block) -> bool:
    """Whether the block runs the operation itself, or in a dataflow block."""
    parent = op.parent_op()
    return op.parent is block or (isinstance(parent, relax.DataflowOp) and parent.parent is block)


def in_place_of(leaf: Leaf) -> Leaf:
    """The tensor whose memory calls have updated in place to compute this one."""
    while isinstance(owner := leaf[0].owner, relax.CallTIRInplaceOp | relax.CallPurePackedOp):
        if not owner.positions or owner.positions[leaf[1]] == -1:
            break
        (leaf,) = leaves(owner.args[owner.positions[leaf[1]]])
    return leaf


def stored(value: SSAValue) -> list[Leaf]:
    """The tensors of a value whose memory can be planned; of others the shape is unknown."""
    return [leaf for leaf in leaves(value) if tensor_type(leaf).is_known]

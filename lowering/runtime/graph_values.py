"""Where the tensors of a graph function come from, seen through tuples, casts and dataflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...dialects import relax
from ...dialects.relax.operators.reshaping import MemoryViewOp
from ...dialects.relax.types import tensors_in

Leaf: TypeAlias = tuple[SSAValue, int]
"""A tensor by its origin, a parameter or the result of an operation, and its position in there."""

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


def leaves(value: SSAValue) -> list[Leaf]:
    """The tensors of a tensor or tuple value, flattened in order."""
    match value.owner:
        case relax.TupleOp() as op:
            return [leaf for field in op.fields for leaf in leaves(field)]
        case relax.TupleGetItemOp() as op:
            assert isinstance(op.tuple_value.type, TupleType)
            sizes = [len(tensors_in(t)) for t in op.tuple_value.type.types.data]
            start = sum(sizes[: op.index.data])
            return leaves(op.tuple_value)[start : start + sizes[op.index.data]]
        case relax.DataflowOp() as op:
            assert isinstance(value, OpResult)
            return leaves(op.output.values[value.index])
        case relax.MatchCastOp() as op:
            return leaves(op.value)
        case _:
            return [(value, i) for i in range(len(tensors_in(value.type)))]


def in_memory(leaf: Leaf) -> list[Leaf]:
    """The tensor, then those that it is a view of, up to the one that has memory of its own."""
    found = [leaf]
    while isinstance(op := found[-1][0].owner, MemoryViewOp):
        found += leaves(op.x)
    return found


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

"""Where the tensors of a graph function come from, seen through tuples, casts and dataflow."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import OpResult, SSAValue

from .func import DataflowOp
from .operators.reshaping import MemoryViewOp
from .tuple import TupleGetItemOp, TupleOp
from .types import tensors_in
from .values import MatchCastOp

Leaf: TypeAlias = tuple[SSAValue, int]
"""A tensor by its origin, a parameter or the result of an operation, and its position in there."""


def leaves(value: SSAValue) -> list[Leaf]:
    """The tensors of a tensor or tuple value, flattened in order."""
    match value.owner:
        case TupleOp() as op:
            return [leaf for field in op.fields for leaf in leaves(field)]
        case TupleGetItemOp() as op:
            assert isinstance(op.tuple_value.type, TupleType)
            sizes = [len(tensors_in(t)) for t in op.tuple_value.type.types.data]
            start = sum(sizes[: op.index.data])
            return leaves(op.tuple_value)[start : start + sizes[op.index.data]]
        case DataflowOp() as op:
            assert isinstance(value, OpResult)
            return leaves(op.output.values[value.index])
        case MatchCastOp() as op:
            return leaves(op.value)
        case _:
            return [(value, i) for i in range(len(tensors_in(value.type)))]


def in_memory(leaf: Leaf) -> list[Leaf]:
    """The tensor, then those that it is a view of, up to the one that has memory of its own."""
    found = [leaf]
    while isinstance(op := found[-1][0].owner, MemoryViewOp):
        found += leaves(op.x)
    return found

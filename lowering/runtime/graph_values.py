"""Where the tensors of a graph function come from, seen through tuples and dataflow blocks."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import OpResult, SSAValue

from ...dialects import relax
from ...dialects.relax.types import tensors_in

Leaf: TypeAlias = tuple[SSAValue, int]
"""A tensor by its origin, a parameter or the result of an operation, and its position in there."""

PRODUCERS = (relax.CallTIROp, relax.CallDPSPackedOp, relax.CallOp, relax.AllocTensorOp)
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
        case _:
            return [(value, i) for i in range(len(tensors_in(value.type)))]


def result_positions(func: relax.FuncOp) -> dict[Leaf, int]:
    """For each tensor that a call makes and the function returns, its first place in the results.

    Such a tensor is computed right in the memory of that result.
    """
    found: dict[Leaf, int] = {}
    for position, leaf in enumerate(leaves(func.returned)):
        if isinstance(leaf[0].owner, PRODUCERS):
            found.setdefault(leaf, position)
    return found

"""Values of graph functions: across the boundary of dataflow blocks, and what is returned."""

from __future__ import annotations

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects import relax


def canonical(value: SSAValue) -> SSAValue:
    """The value inside a dataflow block for its result, a local function for its own value in it.

    Any other value itself.
    """
    while isinstance(value, OpResult) and isinstance(owner := value.owner, relax.DataflowOp):
        value = owner.output.values[value.index]
    if isinstance(owner := value.owner, relax.OwnFuncOp) and owner.parent is not None:
        return owner.function.result
    return value


def visible(value: SSAValue, op: Operation) -> SSAValue | None:
    """The value or dataflow result that an operation sees for a canonical value; `None` if none."""
    if isinstance(value, BlockArgument):
        return value
    owner = value.owner
    assert isinstance(owner, Operation)
    if _encloses(owner.parent, op):
        return value
    dataflow = owner.parent_op()
    if isinstance(dataflow, relax.DataflowOp) and _encloses(dataflow.parent, op):
        for inner, outer in zip(dataflow.output.values, dataflow.outputs, strict=True):
            if inner is value:
                return outer
    return None


def _encloses(block: Block | None, op: Operation) -> bool:
    around = op.parent
    while around is not None and around is not block:
        parent = around.parent_op()
        around = None if parent is None else parent.parent
    return around is not None


def returned_fields(func: relax.FuncOp) -> list[SSAValue]:
    """The values that a function returns: one, or the fields of a tuple that it ends with."""
    owner = func.returned.owner
    return list(owner.fields) if isinstance(owner, relax.TupleOp) else [func.returned]


def tuple_fields(value: SSAValue, made: list[Operation]) -> list[SSAValue]:
    """The values of a tuple that are no tuples; operations added to `made` extract them."""
    if not isinstance(value.type, TupleType):
        return [value]
    if isinstance(owner := value.owner, relax.TupleOp):
        return [field for part in owner.fields for field in tuple_fields(part, made)]
    found: list[SSAValue] = []
    for index in range(len(value.type.types.data)):
        item = relax.TupleGetItemOp(value, index)
        made.append(item)
        found += tuple_fields(item.result, made)
    return found

"""Types of a graph function derived again, from its parameters and constants down to its result."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Block, Operation, TypeAttribute

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ..substitute import set_type


def refresh_types(func: relax.FuncOp) -> None:
    """Infer results of operators, tuples and dataflow blocks anew, and the function's result type.

    Results of calls keep the types that the program states. Raises Diagnostic with one
    line where an operator does not accept the types of its operands.
    """
    _refresh_block(func.body.block, func.sym_name.data)
    func.result_type = func.returned.type


def _refresh_block(block: Block, function: str) -> None:
    for op in tuple(block.ops):
        if isinstance(op, relax.DataflowOp):
            _refresh_block(op.body.block, function)
            for result, value in zip(tuple(op.outputs), op.output.values, strict=True):
                set_type(result, value.type)
        else:
            _refresh_op(op, function)


def _refresh_op(op: Operation, function: str) -> None:
    match op:
        case relax.OperatorOp():
            types = [o.type for o in op.operands if isinstance(o.type, relax.TensorType)]
            try:
                set_type(op.result, type(op).infer(types, op.attribute_values()))
            except ValueError as error:
                raise Diagnostic(f"in '{function}': {error}") from None
        case relax.TupleOp():
            set_type(
                op.result, TupleType(ArrayAttr([cast(TypeAttribute, f.type) for f in op.fields]))
            )
        case relax.TupleGetItemOp():
            fields = op.tuple_value.type
            if isinstance(fields, TupleType):
                set_type(op.result, fields.types.data[op.index.data])
        case _:
            pass

"""Infer the types of a graph function again, from its parameters and constants to its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Block, Operation, TypeAttribute

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.prim_values import prim_of, tensor_of
from ...dialects.relax.symbols import declared_in
from ...dialects.relax.type_relations import common_type, forget_symbols
from ...dialects.relax.types import type_symbols
from ...dialects.relax.values import shape_type_of
from ..substitute import set_type
from ..verify_calls import call_result_type


def refresh_types(func: relax.FuncOp, functions: Mapping[str, Operation] | None = None) -> None:
    """Infer the result types of operators, tuples, branches and blocks again, and the function's.

    Results of calls keep the types that the program states, except calls of the graph functions in
    `functions`, and results in place. Raises Diagnostic with one line if an operator does not
    accept the types of its operands.
    """
    TypeRefresher(func, functions or {}).block(func.body.block)
    func.result_type = forget_symbols(func.returned.type, set(func.declared_symbols()))


class TypeRefresher:
    """Infers types in program order, also of calls of graph functions in `functions`."""

    def __init__(self, func: relax.FuncOp, functions: Mapping[str, Operation]):
        self.function = func.sym_name.data
        self.declared = set(func.declared_symbols())
        self.functions = functions

    def block(self, block: Block) -> None:
        """Infer the types of a block."""
        for op in tuple(block.ops):
            self.op(op)

    def op(self, op: Operation) -> None:
        """Infer the types of an operation's results and of its regions."""
        match op:
            case relax.DataflowOp():
                self.block(op.body.block)
                for result, value in zip(tuple(op.outputs), op.output.values, strict=True):
                    set_type(result, value.type)
            case relax.IfOp():
                self.choice(op)
            case relax.OperatorOp():
                self._operator(op)
            case relax.CallOp():
                callee = self.functions.get(op.callee_name)
                if isinstance(callee, relax.FuncOp):
                    set_type(op.result, call_result_type(op, callee))
            case relax.CallPurePackedOp() if op.positions:
                set_type(op.result, op.result_in_place())
            case relax.LoopOp():
                set_type(op.result, op.result_on(op.carried))
            case relax.PrimToTensorOp():
                set_type(op.result, tensor_of(op.prim.type))
            case relax.TensorToPrimOp():
                set_type(op.result, prim_of(op.tensor.type))
            case relax.ShapeOfOp():
                set_type(op.result, shape_type_of(op.tensor.type))
            case relax.TupleOp():
                fields = [cast(TypeAttribute, f.type) for f in op.fields]
                set_type(op.result, TupleType(ArrayAttr(fields)))
            case relax.TupleGetItemOp():
                fields = op.tuple_value.type
                if isinstance(fields, TupleType):
                    set_type(op.result, fields.types.data[op.index.data])
            case _:
                pass

    def _operator(self, op: relax.OperatorOp) -> None:
        types = [o.type for o in op.operands if isinstance(o.type, relax.TensorType)]
        try:
            set_type(op.result, type(op).infer(types, op.attribute_values()))
        except ValueError as error:
            raise Diagnostic(f"in '{self.function}': {error}") from None

    def choice(self, op: relax.IfOp) -> None:
        """Infer the types of both branches, and their common type."""
        for branch in op.branches:
            self.branch(branch)
        types = [v.type for v in op.yielded]
        common = common_type(*types)
        if common is None:
            text = " and ".join(map(str, types))
            raise Diagnostic(f"in '{self.function}': expected branches of one type, got {text}")
        inner = {s for branch in op.branches for s in declared_in(branch)} - self.declared
        set_type(op.result, forget_symbols(common, type_symbols(common) - inner))

    def branch(self, block: Block) -> None:
        """Infer the types of a branch."""
        self.block(block)

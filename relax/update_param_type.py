"""`UpdateParamType`: parameters of graph functions get other types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialects.relax import CallOp, ObjectType
from ..ir.expr import Var, view
from ..ir.module import IRModule
from ..ir.struct_info import to_type
from ..ir.transform import Pass, PassContext, PassInfo
from ..lowering.functions import call_graph, callees_first, functions_by_name, graph_functions
from ..lowering.graph.refresh_types import refresh_types
from ..lowering.substitute import set_type


class UpdateParamType(Pass):
    """Parameters get the types that a function gives, and types are inferred again from them.

    `update_fn` gets each parameter of each graph function, and returns a type, or `None` to leave
    it. Calling it raises Diagnostic with one line for an operator that does not accept the new
    types of its operands. TVM's ``relax.transform.UpdateParamType``.
    """

    info = PassInfo("update-param-type")

    def __init__(self, update_fn: Callable[[Var], Any]):
        self.update_fn = update_fn

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        functions = functions_by_name(mod.op)
        graph = {func.sym_name.data: func for func in graph_functions(mod.op)}
        for func in graph.values():
            for param in tuple(func.params):
                if (type_ := self.update_fn(view(param))) is not None:
                    set_type(param, to_type(type_))
        for name in callees_first(call_graph(graph)):
            for op in list(graph[name].walk()):
                if isinstance(op, CallOp):  # whose callee may return another type now
                    set_type(op.result, ObjectType())
            refresh_types(graph[name], functions)
        return mod

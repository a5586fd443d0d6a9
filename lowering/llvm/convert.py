"""Conversion to LLVM: one pass and the table of operations, straight to `llvm`, `llvm_ext`.

    loops.func @relu(%X: !tir.buffer<[n], f32>, %Y: …) symbols [n] noalias {
      %zero = arith.constant 0.0 : f32
      loops.for %i in (0, n) {
        %x = loops.load %X[%i] : … -> f32
        %y = arith.maximumf %x, %zero : f32
        loops.store %y, %Y[%i] : …, f32
      }
    }
⇒
    llvm.func internal @xrelax.relu(%ctx: !llvm.ptr, %X: !llvm.ptr, %Y: !llvm.ptr, %n: i64) -> i32 {
      …
    ^header(%i: i64):
      %more = llvm.icmp "slt" %i, %n
      llvm.cond_br %more, ^body, ^end
    ^body:
      %0 = llvm.getelementptr inbounds %X[%i] : …
      …

New functions are built in one go, callees first, with a map from old to new values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import loops, rt
from ...dialects.diagnostics import Diagnostic
from ..functions import call_graph, callees_first, functions_by_name, verify_recursive
from .alignment import aligned_arguments, arguments_of
from .builder import Lowering
from .calls import CALLS
from .casts import CASTS
from .control import CONTROL
from .dot_products import DOT_PRODUCTS
from .floats import FLOATS
from .functions import declare_recursive, lower_graph_function, lower_kernel
from .index import INDICES
from .integers import INTEGERS
from .interface import collect_tables
from .math_functions import MATH
from .memory import MEMORY
from .module_state import ModuleState
from .planned_loops import PLANNED_LOOPS
from .vectors import VECTORS

LOWERINGS: dict[type[Operation], Lowering] = {
    **CALLS,
    **CASTS,
    **CONTROL,
    **FLOATS,
    **INDICES,
    **INTEGERS,
    **DOT_PRODUCTS,
    **MATH,
    **MEMORY,
    **PLANNED_LOOPS,
    **VECTORS,
}
"""How each operation is lowered."""


def convert_to_llvm(module: ModuleOp, target: Target) -> None:
    """Replace the kernels and graph functions of the module by LLVM functions."""
    functions = functions_by_name(module)
    for op in module.body.block.ops:
        if not isinstance(op, rt.FuncOp | loops.FuncOp | llvm.FuncOp):
            raise Diagnostic("expected kernels and functions on memory in the module", op)
    calls = call_graph(functions)
    verify_recursive(functions, calls)
    order = callees_first(calls)
    tables, is_accurate = collect_tables(module), target.math == "accurate"
    state = ModuleState(LOWERINGS, tables, target.isa, is_accurate, target.model)
    _lower_all(state, functions, order)
    block = module.body.block
    for op in list(block.ops):
        if not isinstance(op, llvm.FuncOp):
            op.detach()
    block.add_ops(state.functions)


def _lower_all(state: ModuleState, functions: Mapping[str, Operation], order: list[str]) -> None:
    aligned = aligned_arguments(functions, reversed(order))
    for func in functions.values():
        if isinstance(func, rt.FuncOp) and func.recursive is not None:
            declare_recursive(state, func)
    for name in order:
        func = functions[name]
        if isinstance(func, loops.FuncOp):
            lower_kernel(state, func, arguments_of(aligned, name, func.params))
        elif isinstance(func, rt.FuncOp):
            lower_graph_function(state, func)


@dataclass(frozen=True)
class ConvertToLLVMPass(ModulePass):
    """Lower kernels and graph functions to the `llvm` and `llvm_ext` dialects.

    `target` is the text of a `Target`, which says how accurate math functions are, and what
    they may be made of.
    """

    name = "convert-to-llvm"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        convert_to_llvm(op, Target(self.target))

"""Kernels read nothing that nobody has written: of scratch memory, and of outputs of calls."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import relax, tir
from ..dialects.diagnostics import Diagnostic
from ..dialects.nesting import operations_in
from ..dialects.tir.unwritten import unwritten_load
from .functions import functions_by_name, graph_functions


def verify_written(module: ModuleOp) -> None:
    """Raise Diagnostic for a load that surely reads an element before anything has written it.

    Scratch memory begins without content, and so do the outputs that a call of a graph function
    passes to a kernel. A kernel that is called with a caller's arrays may read and update them.
    """
    functions = functions_by_name(module)
    outputs = {v for f in graph_functions(module) for v in _new_outputs(f, functions)}
    for func in functions.values():
        if isinstance(func, tir.PrimFuncOp):
            verify_kernel(func, outputs & set(func.params))


def verify_kernel(func: tir.PrimFuncOp, outputs: set[SSAValue] | None = None) -> None:
    """The same for one kernel, of whose parameters `outputs` begin without content."""
    scratch = {op.result for op in operations_in(func) if isinstance(op, tir.AllocBufferOp)}
    found = unwritten_load(func, scratch | (outputs or set()))
    if found is not None:
        raise Diagnostic(found.message, found.access.op)


def _new_outputs(func: relax.FuncOp, functions: Mapping[str, Operation]) -> set[SSAValue]:
    """The parameters of kernels that calls pass new memory for: those after their arguments."""
    found: set[SSAValue] = set()
    for op in func.walk():
        if isinstance(op, relax.CallTIROp | relax.CallTIRInplaceOp | relax.CallDPSPackedOp):
            callee = functions.get(op.callee_name)
            if isinstance(callee, tir.PrimFuncOp):
                buffers = [p for p in callee.params if isinstance(p.type, tir.BufferType)]
                found.update(buffers[len(op.args) :])
    return found

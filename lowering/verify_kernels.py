"""What users can get wrong in kernels, and verifiers of single operations do not see.

Kernels read nothing that nobody has written, of scratch memory and of outputs of calls, and threads
do not accumulate in one element, which would lose some of the terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import relax, tir
from ..dialects.diagnostics import Diagnostic
from ..dialects.nesting import ancestors, operations_in
from ..dialects.tir.unwritten import unwritten_load
from ..dialects.tir.verify_access import buffer_text
from ..dialects.tir.verify_spatial import accumulates, shared_along
from .analysis.independence import conflict_of
from .functions import functions_by_name, graph_functions
from .schedule.blocks import uses_of
from .schedule.loop_checks import loop_text


def verify_kernels(module: ModuleOp) -> None:
    """Raise Diagnostic for a kernel that surely reads what is not written, or loses terms.

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
    for loop in operations_in(func):
        if isinstance(loop, tir.ForOp) and loop.kind.data == "parallel":
            _verify_parallel(loop)
    scratch = {op.result for op in operations_in(func) if isinstance(op, tir.AllocBufferOp)}
    found = unwritten_load(func, scratch | (outputs or set()))
    if found is not None:
        raise Diagnostic(found.message, found.access.op)


def _verify_parallel(loop: tir.ForOp) -> None:
    """Raise Diagnostic where iterations of a parallel loop surely accumulate in one element."""
    stores = [op for op in operations_in(loop) if isinstance(op, tir.StoreOp)]
    private = {s.buffer for s in stores if _is_used_in(s.buffer, loop)}
    if conflict_of(loop, private) is None:
        return
    around = [v for p in ancestors(loop) for v in _variables(p)]
    for store in stores:
        if store.buffer in private or not accumulates(store, loop):
            continue
        if shared_along(store, [loop.loop_var], around) is not None:
            raise Diagnostic(
                f"expected iterations of parallel {loop_text(loop)} to accumulate in elements of "
                f"their own, got several that accumulate in one of {buffer_text(store.buffer)}",
                store,
            )


def _is_used_in(buffer: SSAValue, loop: tir.ForOp) -> bool:
    """Whether a buffer is scratch memory of a loop, of which each thread gets its own."""
    uses = uses_of(buffer)
    return isinstance(buffer.owner, tir.AllocBufferOp) and all(
        loop.is_ancestor(op) for op in (*uses.stores, *uses.loads, *uses.others)
    )


def _variables(op: Operation) -> Sequence[SSAValue]:
    if isinstance(op, tir.BlockOp):
        return op.axis_vars
    return [op.loop_var] if isinstance(op, tir.ForOp) else []


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

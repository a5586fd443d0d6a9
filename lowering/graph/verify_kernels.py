"""What users can get wrong in kernels, and verifiers of single operations do not see.

Kernels read nothing that nobody has written, of scratch memory and of outputs of calls, and threads
read nothing that others write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...dialects import relax, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import exprs_of
from ...dialects.tir.iterations import Iteration, happens
from ...dialects.tir.unwritten import unwritten_load
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import conflict_of
from ..functions import functions_by_name, graph_functions
from ..schedule.blocks import uses_of
from ..schedule.loop_checks import loop_text


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
    for loop in parallel_loops(func):
        _verify_parallel(loop)
    scratch = {op.result for op in operations_in(func) if isinstance(op, tir.AllocBufferOp)}
    found = unwritten_load(func, scratch | (outputs or set()))
    if found is not None:
        raise Diagnostic(found.message, found.access.op)


def _verify_parallel(loop: tir.ForOp) -> None:
    """Raise Diagnostic where an iteration of a parallel loop surely reads what another one writes.

    Threads run iterations in any order: a sum of several in one element loses some of the terms.
    """
    accesses = [op for op in operations_in(loop) if isinstance(op, tir.StoreOp | tir.LoadOp)]
    private: set[SSAValue] = {op.result for op in scratch_of(loop)}
    if conflict_of(loop, private) is None:
        return
    around = [v for p in ancestors(loop) for v in _variables(p)]
    for buffer in dict.fromkeys(a.buffer for a in accesses if a.buffer not in private):
        load = _load_of_another(loop, [a for a in accesses if a.buffer == buffer], around)
        if load is not None:
            raise Diagnostic(
                f"expected iterations of parallel {loop_text(loop)} to read only their own "
                f"elements of {buffer_text(buffer)}, got one that reads what another one writes",
                load,
            )


def _load_of_another(
    loop: tir.ForOp, accesses: Sequence[tir.StoreOp | tir.LoadOp], around: Sequence[SSAValue]
) -> tir.LoadOp | None:
    """A load of one buffer that surely gets what a store in another iteration writes, if any.

    In both iterations the variables `around` the loop are the same.
    """
    writers: dict[tuple[int, ...], set[int]] = {}
    iteration = Iteration()

    def place(at: Iteration, access: tir.StoreOp | tir.LoadOp) -> tuple[int, ...]:
        indices = [at.evaluate(e, access.operands_) for e in exprs_of(access.indices)]
        return (*(at.values[v] for v in around), *indices)

    def note(at: Iteration, store: tir.StoreOp) -> bool:
        writers.setdefault(place(at, store), set()).add(at.values[loop.loop_var])
        return False

    def is_written(at: Iteration, load: tir.LoadOp) -> bool:
        return bool(writers.get(place(at, load), set()) - {at.values[loop.loop_var]})

    for access in accesses:
        if isinstance(access, tir.StoreOp):
            happens(access, partial(note, store=access), iteration)
    for access in accesses:
        if isinstance(access, tir.LoadOp):
            if happens(access, partial(is_written, load=access), iteration):
                return access
    return None


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


def parallel_loops(func: tir.PrimFuncOp) -> list[tir.ForOp]:
    """The parallel loops of a function, outer ones first."""
    ops = operations_in(func)
    return [op for op in ops if isinstance(op, tir.ForOp) and op.kind.data == "parallel"]


def scratch_of(loop: tir.ForOp) -> list[tir.AllocBufferOp]:
    """The scratch memory that nothing but the loop uses, from inside and outside of it."""
    owners = dict.fromkeys(b.owner for b in buffers_in(loop))
    return [
        op
        for op in owners
        if isinstance(op, tir.AllocBufferOp) and all(loop.is_ancestor(o) for o in users_of(op))
    ]


def buffers_in(loop: tir.ForOp) -> list[SSAValue]:
    """What the operations in a loop load, store, view and pass on."""
    used = (v for op in operations_in(loop) for v in op.operands)
    return [v for v in dict.fromkeys(used) if isinstance(v.type, tir.BufferType)]


def users_of(alloc: tir.AllocBufferOp) -> list[Operation]:
    """What loads, stores, views or passes on scratch memory."""
    uses = uses_of(alloc.result)
    return [*uses.stores, *uses.loads, *uses.others]

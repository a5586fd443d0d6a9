"""Checks of kernels that verifiers of single operations cannot make.

A kernel must not read uninitialized elements of scratch memory or of outputs of calls, and no
thread may read elements that another one writes.
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

IS_VERIFIED = "tir.is_verified"
"""The attribute of a kernel that was verified before it was scheduled.

Its schedule may compute elements beyond the shape, which nothing uses, from uninitialized ones.
"""


def verify_kernels(module: ModuleOp) -> None:
    """Raise Diagnostic for a kernel with certain uninitialized reads or data races.

    Scratch memory is uninitialized, and so are the outputs that a call in a graph function passes
    to a kernel. A kernel that users call with their arrays may read and update them.
    """
    functions = functions_by_name(module)
    outputs = {v for f in graph_functions(module) for v in _new_outputs(f, functions)}
    for func in functions.values():
        if isinstance(func, tir.PrimFuncOp):
            verify_kernel(func, outputs & set(func.params))


def verify_kernel(func: tir.PrimFuncOp, outputs: set[SSAValue] | None = None) -> None:
    """The same for one kernel; its parameters `outputs` are uninitialized."""
    for loop in parallel_loops(func):
        _verify_parallel(loop)
    if func.attr(IS_VERIFIED) is not None:
        return
    scratch = {op.result for op in operations_in(func) if isinstance(op, tir.AllocBufferOp)}
    found = unwritten_load(func, scratch | (outputs or set()))
    if found is not None:
        raise Diagnostic(found.message, found.access.op)


def _verify_parallel(loop: tir.ForOp) -> None:
    """Raise Diagnostic if an iteration of a parallel loop certainly reads what another one writes.

    Threads run iterations in any order: if several update one element, terms are lost.
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
    """A load of one buffer that certainly reads what a store in another iteration writes, if any.

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
    """The output parameters of kernels that calls allocate: those after their arguments."""
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
    """The scratch memory, allocated inside or outside of the loop, that only the loop uses."""
    owners = dict.fromkeys(b.owner for b in buffers_in(loop))
    return [
        op
        for op in owners
        if isinstance(op, tir.AllocBufferOp) and all(loop.is_ancestor(o) for o in users_of(op))
    ]


def buffers_in(loop: tir.ForOp) -> list[SSAValue]:
    """The buffers that operations in a loop use."""
    used = (v for op in operations_in(loop) for v in op.operands)
    return [v for v in dict.fromkeys(used) if isinstance(v.type, tir.BufferType)]


def users_of(alloc: tir.AllocBufferOp) -> list[Operation]:
    """The loads, stores, views and calls that use scratch memory."""
    uses = uses_of(alloc.result)
    return [*uses.stores, *uses.loads, *uses.others]

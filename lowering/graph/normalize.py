"""`normalize`: replace calls of PrimFuncs by name by `call_tir`; check calls and kernels.

Marks of last uses are removed. Objects become arguments of calls, see `object_calls`.

::

    %0 = relax.call_dps_packed "linear0"(%x, %w, %b) : …
    %1 = relax.call_dps_packed "env.relu"(%0) : …

⇒ if the module has a PrimFunc ``linear0`` and none named ``env.relu``

::

    %0 = relax.call_tir @linear0(%x, %w, %b) : …
    %1 = relax.call_dps_packed "env.relu"(%0) : …
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax, tir
from ...dialects.relax.type_relations import forget_symbols, says_less
from ..analysis.independence import conflict_of
from ..functions import call_graph, functions_by_name, graph_functions
from ..schedule.regions import refresh_around
from ..verify_calls import verify_calls
from .object_calls import call_objects
from .verify_kernels import buffers_in, parallel_loops, scratch_of, users_of, verify_kernels


def privatize(func: tir.PrimFuncOp) -> None:
    """Move scratch memory into the parallel loops whose iterations would share its elements.

    ::

        T: [m]                                      for i in (0, n) parallel:
        for i in (0, n) parallel:                     T: [m]
          for j in (0, m): T[j] = exp(X[i, j])  ⇒     for j in (0, m): T[j] = exp(X[i, j])
          Y[i] = T[I[i]]                              Y[i] = T[I[i]]

    TVM moves all memory to its uses, in its pass ``PlanAndUpdateBufferAllocationLocation``.
    """
    for loop in parallel_loops(func):
        buffers = set(buffers_in(loop))
        for alloc in [op for op in scratch_of(loop) if not loop.is_ancestor(op)]:
            if conflict_of(loop, buffers - {alloc.result}) is not None:
                _move_into(loop, alloc)


def _move_into(loop: tir.ForOp, alloc: tir.AllocBufferOp) -> None:
    alloc.detach()
    body = loop.body.block
    assert body.first_op is not None
    body.insert_op_before(alloc, body.first_op)
    refresh_around(users_of(alloc))


def resolve_names(module: ModuleOp) -> None:
    """Replace every `call_dps_packed` that names a PrimFunc of the module by a `call_tir`."""
    functions = functions_by_name(module)
    for func in graph_functions(module):
        for op in list(func.walk()):
            if isinstance(op, relax.CallDPSPackedOp) and isinstance(
                functions.get(op.callee_name), tir.PrimFuncOp
            ):
                Rewriter.replace_op(op, relax.CallTIROp(op.callee_name, op.args, op.result.type))


def remove_kills(module: ModuleOp) -> None:
    """Remove the marks of last uses: passes move uses, and the build finds the last ones."""
    for func in graph_functions(module):
        for op in list(func.walk()):
            if isinstance(op, relax.KillTensorOp | relax.KillStorageOp):
                if op.result.first_use is None:
                    Rewriter.erase_op(op)
                else:
                    Rewriter.replace_op(op, relax.TupleOp([]))


def refine_results(module: ModuleOp) -> None:
    """Let functions state all that is known of their results, except where calls state less."""
    called = set(chain.from_iterable(call_graph(functions_by_name(module)).values()))
    for func in graph_functions(module):
        known = forget_symbols(func.returned.type, set(func.declared_symbols()))
        if func.sym_name.data not in called and says_less(func.result_type, known):
            func.result_type = known


@dataclass(frozen=True)
class NormalizePass(ModulePass):
    """Resolve calls by name to the module's PrimFuncs, check every call against its callee.

    Result types of functions that are not called become those of the values that they return.
    Kernels must not read uninitialized elements, nor elements that another thread writes. Scratch
    memory that threads would share is moved into their loop.
    """

    name = "normalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_names(op)
        remove_kills(op)
        verify_calls(op)
        call_objects(op)
        refine_results(op)
        for func in op.body.block.ops:
            if isinstance(func, tir.PrimFuncOp):
                privatize(func)
        verify_kernels(op)

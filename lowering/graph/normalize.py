"""Calls by name of a PrimFunc of the module become `call_tir`; calls and kernels are checked.

::

    %0 = relax.call_dps_packed "linear0"(%x, %w, %b) : …
    %1 = relax.call_dps_packed "env.relu"(%0) : …

⇒ where the module has a PrimFunc `linear0` and none that is called ``env.relu``

::

    %0 = relax.call_tir @linear0(%x, %w, %b) : …
    %1 = relax.call_dps_packed "env.relu"(%0) : …
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax, tir
from ..functions import functions_by_name, graph_functions
from ..verify_calls import verify_calls
from .privatize import privatize
from .verify_kernels import verify_kernels


def resolve_names(module: ModuleOp) -> None:
    """Turn every `call_dps_packed` that names a PrimFunc of the module into a `call_tir`."""
    functions = functions_by_name(module)
    for func in graph_functions(module):
        for op in list(func.walk()):
            if isinstance(op, relax.CallDPSPackedOp) and isinstance(
                functions.get(op.callee_name), tir.PrimFuncOp
            ):
                Rewriter.replace_op(op, relax.CallTIROp(op.callee_name, op.args, op.result.type))


@dataclass(frozen=True)
class NormalizePass(ModulePass):
    """Resolve calls by name to the module's PrimFuncs, check every call against its callee.

    Kernels must not read what nobody has written, nor what another thread writes; scratch memory
    that threads would share is moved into their loop.
    """

    name = "normalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_names(op)
        verify_calls(op)
        for func in op.body.block.ops:
            if isinstance(func, tir.PrimFuncOp):
                privatize(func)
        verify_kernels(op)

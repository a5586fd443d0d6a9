"""Names that a module calls at run time: its own PrimFuncs, or registered functions."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects import relax, tir
from ..dialects.diagnostics import Diagnostic
from ..runtime.registry import get_global_func
from .functions import functions_by_name


def verify_packed_names(module: ModuleOp) -> None:
    """Raise Diagnostic for a call whose name is neither a PrimFunc of the module nor registered."""
    functions = functions_by_name(module)
    for op in module.walk():
        if isinstance(op, relax.CallDPSPackedOp | relax.CallPackedOp | relax.CallPurePackedOp):
            name = op.callee.data
            if isinstance(functions.get(name), tir.PrimFuncOp):
                continue
            if get_global_func(name, allow_missing=True) is None:
                raise Diagnostic(
                    f"expected '{name}' to be a PrimFunc of the module or a registered function, "
                    "got neither",
                    op,
                )

"""`remove-purity-checking`: pure functions are pure whatever operations they have.

::

    relax.func @main(%x: …) -> … {                 relax.func @main(%x: …) -> … attributes
      %y = relax.call_pure_packed "f"(%x) : …  ⇒       {relax.force_pure = true} {
                                                     %y = relax.call_packed "f"(%x) : …

Later passes may then replace values by calls that write memory. TVM's ``RemovePurityChecking``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i1
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ..functions import graph_functions


def remove_purity_checking(func: relax.FuncOp) -> None:
    """Mark a pure function, and those inside it, as pure whatever they do, in place."""
    for op in list(func.walk()):
        is_pure_function = (
            op.impure is None
            if isinstance(op, relax.FuncOp)
            else isinstance(op, relax.LocalFuncOp) and not op.result.type.impure
        )
        if isinstance(op, relax.FuncOp | relax.LocalFuncOp) and is_pure_function:
            attrs = {} if op.attrs is None else dict(op.attrs.data)
            op.attrs = DictionaryAttr(attrs | {"relax.force_pure": IntegerAttr(1, i1)})
        elif isinstance(op, relax.CallPurePackedOp) and not op.positions and func.impure is None:
            call = relax.CallPackedOp(op.callee.data, op.args, op.result.type)
            Rewriter.replace_op(op, call)


@dataclass(frozen=True)
class RemovePurityCheckingPass(ModulePass):
    """Mark every pure function with ``relax.force_pure``."""

    name = "remove-purity-checking"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            remove_purity_checking(func)

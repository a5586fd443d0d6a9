"""`attach-global-symbol`: make private functions public, so that users of a build can call them.

::

    relax.func private @main(%x: …) -> … { … }      ⇒      relax.func @main(%x: …) -> … { … }

TVM's ``AttachGlobalSymbol``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import relax, tir
from ..functions import PRIVATE


@dataclass(frozen=True)
class AttachGlobalSymbolPass(ModulePass):
    """Make every graph function and PrimFunc public."""

    name = "attach-global-symbol"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, relax.FuncOp):
                func.private = None
            elif isinstance(func, tir.PrimFuncOp):
                func.set_attr(PRIVATE, None)

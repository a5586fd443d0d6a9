"""Promote memory to SSA values: accumulators of loops, small scratch buffers.

::

    %t = loops.alloca : !tir.buffer<[2], f32>
    loops.store %a, %t[0]                              ⇒      arith.addf %a, %a
    %b = loops.load %t[0]
    arith.addf %b, %b

See `mem2reg` for scratch buffers, and `promote_accumulators` for loops.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import loops
from .mem2reg import mem2reg
from .promote_accumulators import promote_accumulators


@dataclass(frozen=True)
class PromoteBuffersPass(ModulePass):
    """Keep accumulators and small scratch buffers in registers; their sums may be reordered."""

    name = "promote-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                mem2reg(func)
                promote_accumulators(func)

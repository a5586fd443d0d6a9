"""Promote memory to SSA values: accumulators of loops, small scratch buffers.

::

    %t = loops.alloca : !tir.buffer<[2], f32>
    loops.store %a, %t[0]                              ⇒      arith.addf %a, %a
    %b = loops.load %t[0]
    arith.addf %b, %b

See `mem2reg` for scratch buffers, `promote_accumulators` for loops, and `hoist_reductions` and
`fold_reductions` for accumulations in the lanes of vectors, `join_reductions` for several that are
stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import loops
from .fold_reductions import fold_reductions
from .hoist_reductions import hoist_reductions
from .join_reductions import join_reductions
from .mem2reg import mem2reg
from .promote_accumulators import promote_accumulators


@dataclass(frozen=True)
class PromoteBuffersPass(ModulePass):
    """Keep accumulators and small scratch buffers in registers; reassociate reductions."""

    name = "promote-buffers"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(self.target)
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                mem2reg(func)
                promote_accumulators(func)
                hoist_reductions(func.body.block)
                fold_reductions(func, target)
                join_reductions(func.body.block)

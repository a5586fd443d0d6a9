"""Memory that is only a detour becomes values: accumulators of loops, small scratch buffers.

::

    %t = loops.alloca : !tir.buffer<[2], f32>
    loops.store %a, %t[0]                              ⇒      arith.addf %a, %a
    %b = loops.load %t[0]
    arith.addf %b, %b

See `promote_scratch` for scratch buffers, `promote_accumulators` for loops, and `hoist_totals` and
`fold_totals` for accumulations in the lanes of vectors, `join_totals` for several that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import loops
from .fold_totals import fold_totals
from .hoist_totals import hoist_totals
from .join_totals import join_totals
from .promote_accumulators import promote_accumulators
from .promote_scratch import promote_scratch


@dataclass(frozen=True)
class PromoteBuffersPass(ModulePass):
    """Keep accumulators and small scratch buffers in registers; reassociate reductions."""

    name = "promote-buffers"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(self.target)
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                promote_scratch(func)
                promote_accumulators(func)
                hoist_totals(func.body.block)
                fold_totals(func, target)
                join_totals(func.body.block)

"""Primitives on reductions: where they start, and partial results."""

from __future__ import annotations

from ..blocked_sum import blocked_sum
from ..blocks import ScheduleError
from ..reduction import decompose_reduction
from ..rfactor import rfactor
from ..stage_pipeline import verify_stage_pipeline
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class ReductionPrimitives(Primitives):
    """What takes reductions apart."""

    @primitive
    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Move a block's initialisation into loops of its own, before `loop`.

        Returns the new block ``Y_init``; the given one is ``Y_update`` from then on. Raises
        ScheduleError where the block has no initialisation, a loop outside of `loop` drives the
        reduction, or something would see that elements start earlier.
        """
        return self.new_block(decompose_reduction(self.block(block), self.loop(loop)))

    @primitive
    def blocked_sum(self, block: BlockRV | str, loop: LoopRV, size: int | ExprRV) -> LoopRV:
        """Let a sum add the totals of `size` iterations of a loop at a time to its results.

        `block` begins the results, such as that of `decompose_reduction`. Totals are made in
        scratch memory; iterations that make up no block stay as they are. Returns the loop over
        blocks. So long sums of floats lose fewer digits. TVM has no such primitive. Raises
        ScheduleError unless all that the loop does with the results is to add floats to them.
        """
        number = self.number(size)
        if number is None:
            raise ScheduleError("expected a size, got a factor left open")
        return self.new_loop(blocked_sum(self.block(block), self.loop(loop), number))

    @primitive
    def rfactor(self, loop: LoopRV, factor_axis: int = 0) -> BlockRV:
        """Compute partial results of a reduction, one for each iteration of one of its loops.

        Their buffer has the loop's extent as dim `factor_axis`, counted from the end where that is
        negative. Returns the new block ``Y_rf`` that computes them; the block of the reduction sums
        them up. Raises ScheduleError where values may not be grouped, the loop drives no reduction
        or is not serial, an init does more than to start each result, or the scope is no stage
        pipeline.
        """
        found = self.loop(loop)
        verify_stage_pipeline(found)
        return self.new_block(rfactor(found, factor_axis))

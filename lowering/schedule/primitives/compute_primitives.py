"""Primitives that say where a block is computed, where its reduction starts, and in which parts."""

from __future__ import annotations

from ..blocked_sum import blocked_sum
from ..compute_at import compute_at, reverse_compute_at
from ..inline import compute_inline
from ..loop_checks import verify_stage_pipeline
from ..reduction import decompose_reduction
from ..reverse_inline import reverse_compute_inline
from ..rfactor import rfactor
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class ComputePrimitives(Primitives):
    """What moves blocks into loops and into each other, and takes reductions apart."""

    @primitive
    def compute_at(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        preserve_unit_loops: bool = False,
        index: int = -1,
    ) -> None:
        """Run a block, for what one iteration of a loop loads of its result, in that iteration.

        It goes right before its first consumer there, or for `index` -2 to the first place where it
        can be, or for a number from 0 before the statement of that number. `preserve_unit_loops`
        keeps new loops of one iteration. For a loop that `sample_compute_location` chose, "inline"
        and "root" are done as well. Raises ScheduleError where the result would not be the same.
        """
        place = self.state.resolve(loop)
        if place == "inline":
            compute_inline(self.block(block))
        elif place != "root":
            compute_at(self.block(block), self.loop(loop), preserve_unit_loops, index)

    @primitive
    def reverse_compute_at(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        preserve_unit_loops: bool = False,
        index: int = -1,
    ) -> None:
        """Run a block, for what one iteration of a loop produces, in that iteration.

        It goes to the end, or for `index` -2 right after its last producer, or for a number from 0
        before the statement of that number. `preserve_unit_loops` keeps new loops of one iteration.
        Raises ScheduleError where the result would not be the same.
        """
        place = self.state.resolve(loop)
        if place == "inline":
            reverse_compute_inline(self.block(block))
        elif place != "root":
            reverse_compute_at(self.block(block), self.loop(loop), preserve_unit_loops, index)

    @primitive
    def compute_inline(self, block: BlockRV | str) -> None:
        """Compute what a block stores where it is loaded, and remove the block and its buffer.

        Raises ScheduleError where other blocks store there, or something changes what it loads.
        """
        compute_inline(self.block(block))

    @primitive
    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """Compute what a block makes of each element of a scratch buffer where that is stored.

        Raises ScheduleError where several blocks store there or load it.
        """
        reverse_compute_inline(self.block(block))

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
        return self.new_loop(blocked_sum(self.block(block), self.loop(loop), self.size(size)))

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

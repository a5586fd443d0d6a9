"""Primitives that choose where a block is computed, and that decompose reductions."""

from __future__ import annotations

from ..blocked_sum import blocked_sum
from ..compute_at import compute_at, reverse_compute_at
from ..fuse_epilogue import fuse_reduction_epilogue
from ..inline import compute_inline
from ..loop_checks import verify_stage_pipeline
from ..reduction import decompose_reduction
from ..reverse_inline import reverse_compute_inline
from ..rfactor import rfactor
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class ComputePrimitives(Primitives):
    """Primitives that move blocks into loops, inline them, and decompose reductions."""

    @primitive
    def compute_at(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        preserve_unit_loops: bool = False,
        index: int = -1,
    ) -> None:
        """Compute a block in each iteration of a consumer's loop, for the elements it loads.

        The block moves right before its first consumer; for `index` -2, to the first possible
        position; for `index` 0 or more, before the statement of this number. `preserve_unit_loops`
        keeps new loops of one iteration. The block stores to a scratch buffer at its axes, possibly
        from the end, or in tiles as a blockized one; reduction axes keep their whole range. For a
        loop of `sample_compute_location`, "inline" inlines the block and "root" does nothing.
        Raises ScheduleError if the result could differ.
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
        """Compute a block in each iteration of a producer's loop, for the elements it produces.

        The block moves to the end of the loop; for `index` -2, right after its last producer; for
        `index` 0 or more, before the statement of this number. `preserve_unit_loops` keeps new
        loops of one iteration. Only spatial axes may get a partial range: reductions must run over
        whole dims in each iteration. Raises ScheduleError if the result could differ.
        """
        place = self.state.resolve(loop)
        if place == "inline":
            reverse_compute_inline(self.block(block))
        elif place != "root":
            reverse_compute_at(self.block(block), self.loop(loop), preserve_unit_loops, index)

    @primitive
    def compute_inline(self, block: BlockRV | str) -> None:
        """Inline a block into its consumers; removes the block and its scratch buffer.

        All axes of the block are spatial. Raises ScheduleError for other blocks, if other blocks
        store to the buffer, or if an operand of the block changes before the consumers.
        """
        compute_inline(self.block(block))

    @primitive
    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """Inline a block into the producer of the scratch buffer that it loads.

        All axes of both blocks are spatial; predicates only end axes, as those of a split do. The
        producer gets predicates for elements that the block does not load. Raises ScheduleError for
        other blocks, if several blocks store to the buffer or load it, and if the indices of the
        load do not determine the axes of the block.
        """
        reverse_compute_inline(self.block(block))

    @primitive
    def fuse_reduction_epilogue(
        self, reduction_block: BlockRV | str, epilogue_block: BlockRV | str
    ) -> None:
        """Start a sum with the value that another block adds to it, such as a bias.

        The reduction then stores the results of the epilogue, which is removed. TVM also fuses a
        clipping, which gives other results where partial sums leave the range. Raises ScheduleError
        for a reduction that is no sum from 0, for an epilogue that does more than add one value at
        its axes, and if other blocks use the sums.
        """
        fuse_reduction_epilogue(self.block(reduction_block), self.block(epilogue_block))

    @primitive
    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Move the initialization of a reduction into loops of its own, before `loop`.

        The new block ``Y_init``, which is returned, runs over the spatial axes; the given block
        becomes ``Y_update``. Raises ScheduleError if the block has no initialization, a loop
        outside of `loop` is bound to a reduction axis, a loop inside to spatial and reduction axes,
        or another block could observe the earlier initialization.
        """
        return self.new_block(decompose_reduction(self.block(block), self.loop(loop)))

    @primitive
    def blocked_sum(self, block: BlockRV | str, loop: LoopRV, size: int | ExprRV) -> LoopRV:
        """Accumulate a sum in blocks: add the totals of `size` iterations to the results at a time.

        `block`, whose axes are all spatial, initializes the results, such as the block of
        `decompose_reduction`; `loop` adds to them. Totals are in scratch memory; a remainder is
        added as before. Returns the loop over blocks of iterations. Long sums of floats lose less
        precision. TVM has no such primitive. Raises ScheduleError unless all that the loop does
        with the results is to add floats to them.
        """
        return self.new_loop(blocked_sum(self.block(block), self.loop(loop), self.size(size)))

    @primitive
    def rfactor(self, loop: LoopRV, factor_axis: int = 0) -> BlockRV:
        """Factor a reduction: compute a partial result for each iteration of one of its loops.

        `loop` is serial and bound to reduction axes only; the block has spatial and reduction axes
        only. The buffer of partial results has the loop's extent as dim `factor_axis`, where
        negative numbers count from the end. Returns the new block ``Y_rf`` that computes them; the
        given block then reduces them. Raises ScheduleError for other loops and blocks, a combiner
        that is not associative, an initialization that does more than store the initial results,
        and if the scope is not a stage pipeline.
        """
        found = self.loop(loop)
        verify_stage_pipeline(found)
        return self.new_block(rfactor(found, factor_axis))

"""Primitives that say where a block is computed."""

from __future__ import annotations

from ..compute_at import compute_at, reverse_compute_at
from ..inline import compute_inline
from ..reverse_inline import reverse_compute_inline
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, LoopRV


class ComputePrimitives(Primitives):
    """What moves blocks into loops and into each other."""

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

"""Primitives on loops: split, fuse, reorder, merge, parts, kinds, and unit loops."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import IntExpr
from .. import loops as on_loops
from ..blocks import ScheduleError
from ..kinds import THREAD_TAGS, set_kind
from ..merge_loops import fuse_horizontally, merge_loops
from ..overlap import overlap
from ..partition import trim
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class LoopPrimitives(Primitives):
    """What rearranges loops."""

    @primitive
    def split(
        self,
        loop: LoopRV,
        factors: Sequence[int | str | ExprRV | IntExpr | None],
        preserve_unit_iters: bool = True,
        disable_predication: bool = False,
    ) -> list[LoopRV]:
        """Replace a loop by nested loops of `factors` iterations; returns them, outermost first.

        One factor may be `None`: the smallest that covers the loop. Where the factors do not divide
        the loop, blocks inside get a predicate, unless `disable_predication` says that they do.
        Raises ScheduleError for a loop with annotations or of a kind, and for wrong factors: such
        as of symbols that the function has not, and those known not to divide what they should.
        """
        found, sizes = self.loop(loop), self.sizes(factors)
        if disable_predication:
            on_loops.verify_divides(found, sizes)
        made = on_loops.split(found, sizes, preserve_unit_iters, disable_predication)
        return self.new_loops(made)

    @primitive
    def loop_partition(
        self,
        loop: LoopRV,
        factors: Sequence[int | str | ExprRV | IntExpr | None],
        preserve_unit_iters: bool = True,
    ) -> list[LoopRV]:
        """Replace a loop by loops over parts of `factors` iterations, one after the other.

        One factor may be `None`: what the others leave. Returns the loops; each has copies of the
        blocks. Raises ScheduleError for a loop with annotations or of a kind, and where the factors
        do not sum to the extent.
        """
        made = on_loops.partition(self.loop(loop), self.sizes(factors), preserve_unit_iters)
        return self.new_loops(made)

    @primitive
    def loop_overlap(self, loop: LoopRV, size: int | ExprRV) -> list[LoopRV]:
        """Replace a loop by loops of whole tiles, the last of which repeats some iterations.

        The first has as many tiles of `size` iterations as there are; where these are not all, a
        second has the loop's last `size` iterations. Returns the one or two loops; each of two has
        copies of the blocks. TVM has no such primitive. Raises ScheduleError for a loop with
        annotations or of a kind, one of less than `size` iterations or of an unknown number, and
        where blocks inside reduce or load what the loop stores: they may not run twice.
        """
        return self.new_loops(overlap(self.loop(loop), self.size(size)))

    @primitive
    def loop_trim(self, loop: LoopRV) -> None:
        """Drop the last iterations of a loop, those of which it is known that no block runs.

        Predicates of blocks inside that always hold then go away. The loop keeps its kind, and
        stays as it is where its last iteration may run a block. TVM's passes do so, no primitive.
        Raises ScheduleError for bounds that are not constant, and where something but blocks has
        effects.
        """
        trim(self.loop(loop))

    @primitive
    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Replace loops, each alone in the one before, by one over all their iterations.

        Raises ScheduleError for other loops, and for those with annotations or of a kind.
        """
        found = [self.loop(loop) for loop in loops]
        return self.new_loop(on_loops.fuse(found, preserve_unit_iters))

    @primitive
    def reorder(self, *ordered_loops: LoopRV) -> None:
        """Nest loops in this order, outermost first; other loops between them stay in place.

        Raises ScheduleError where the loops are not alone in each other, or blocks depend on their
        order.
        """
        on_loops.reorder([self.loop(loop) for loop in ordered_loops])

    @primitive
    def fuse_horizontally(self, *loops: LoopRV) -> LoopRV:
        """Let nests that follow each other be iterations of one loop, in their order; returns it.

        Threads can share nests then that have few iterations each, as of remainders. OpenMP has
        ``sections`` for it. Raises ScheduleError for loops that do not follow each other, have
        annotations, or are over a number of iterations that is not constant.
        """
        return self.new_loop(fuse_horizontally([self.loop(loop) for loop in loops]))

    @primitive
    def strip_mine(self, loop: LoopRV, size: int | ExprRV) -> list[LoopRV]:
        """Cut a loop into strips of `size` iterations, the last of which ends with it.

        Returns the loop over strips, and the one in it, which has the kind of `loop`. Blocks need
        no predicate, as after `split`. Raises ScheduleError for a loop with annotations, for a
        size below 1, and where a reduction starts in the loop that may be empty.
        """
        return self.new_loops(on_loops.strip_mine(self.loop(loop), self.size(size)))

    @primitive
    def merge(self, *loops: LoopRV) -> LoopRV:
        """Run the iterations of loops of equal extents, in nests that follow each other, together.

        Loops around them, out to what holds all nests, merge as well. Returns the merged loop.
        Raises ScheduleError where extents differ, or an iteration would need a later one's results.
        """
        return self.new_loop(merge_loops([self.loop(loop) for loop in loops]))

    @primitive
    def parallel(self, loop: LoopRV) -> None:
        """Run the iterations of a loop on several threads.

        Raises ScheduleError where they depend on each other.
        """
        set_kind(self.loop(loop), "parallel")

    @primitive
    def vectorize(self, loop: LoopRV) -> None:
        """Run the iterations of a loop as lanes of vectors.

        Of a reduction of any order each lane keeps a partial result; they are combined behind the
        loop. TVM needs `rfactor` for that; Halide has ``atomic().vectorize()``. Raises
        ScheduleError where iterations depend on each other in any other way.
        """
        set_kind(self.loop(loop), "vectorized")

    @primitive
    def unroll(self, loop: LoopRV) -> None:
        """Write the iterations of a loop one after the other."""
        set_kind(self.loop(loop), "unrolled")

    @primitive
    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """Bind a loop to a thread axis such as ``"threadIdx.x"``.

        Raises ScheduleError for another name, and where iterations depend on each other.
        """
        if thread_axis not in THREAD_TAGS:
            expected = ", ".join(THREAD_TAGS)
            raise ScheduleError(f"expected a thread axis ({expected}), got '{thread_axis}'")
        set_kind(self.loop(loop), thread_axis)

    @primitive
    def add_unit_loop(self, block_or_loop: BlockRV | LoopRV) -> LoopRV:
        """Put a loop of one iteration around a block or loop; returns it."""
        return self.new_loop(on_loops.add_unit_loop(self.block_or_loop(block_or_loop)))

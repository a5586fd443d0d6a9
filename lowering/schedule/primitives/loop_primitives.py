"""Primitives on loops: split, fuse, reorder, merge, partition, loop kinds, and unit loops."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import IntExpr
from .. import loops as on_loops
from ..blocks import ScheduleError
from ..kinds import THREAD_TAGS, set_kind
from ..merge_loops import fuse_horizontally, merge_loops
from ..overlap import overlap
from ..partition import trim
from ..skip_padding import skip_padding
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class LoopPrimitives(Primitives):
    """Primitives that transform loops."""

    @primitive
    def split(
        self,
        loop: LoopRV,
        factors: Sequence[int | str | ExprRV | IntExpr | None],
        preserve_unit_iters: bool = True,
        disable_predication: bool = False,
    ) -> list[LoopRV]:
        """Split a loop into nested loops of `factors` iterations; returns them, outermost first.

        Axes of any kind may be bound to the loop. One factor may be `None`, and is inferred: the
        smallest that covers the loop. If the factors do not divide the extent, blocks inside get a
        predicate; `disable_predication` asserts that they do. Raises ScheduleError for a loop that
        is not serial or has annotations, for factors below 1 or with unknown symbols, for factors
        that do not provably cover the extent or, with `disable_predication`, provably do not divide
        it, and if a predicate would hide that a reduction is empty.
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
        """Partition a loop into consecutive loops of `factors` iterations each.

        Axes of any kind may be bound to the loop; a reduction starts in the first part only. One
        factor may be `None`: the remaining iterations, which are a last part without one. Returns
        the loops; each has copies of the blocks. Raises ScheduleError for a loop that is not serial
        or has annotations, and unless the factors provably sum to the extent or less.
        """
        made = on_loops.partition(self.loop(loop), self.sizes(factors), preserve_unit_iters)
        return self.new_loops(made)

    @primitive
    def loop_overlap(self, loop: LoopRV, size: int | ExprRV) -> list[LoopRV]:
        """Tile a loop without a remainder: a last, overlapping tile repeats some iterations.

        The first loop has all whole tiles of `size` iterations. If there is a remainder, a second
        loop has the last `size` iterations. Returns one or two loops; each of two has copies of the
        blocks. TVM has no such primitive. Raises ScheduleError for a loop that is not serial or has
        annotations, a symbolic extent or one below `size`, and unless iterations may repeat: blocks
        inside have spatial axes only, and do not load what the loop stores.
        """
        return self.new_loops(overlap(self.loop(loop), self.size(size)))

    @primitive
    def loop_trim(self, loop: LoopRV) -> None:
        """Shorten a loop by the last iterations in which, by their predicates, no blocks run.

        Axes of any kind may be bound to the loop, which keeps its kind. Predicates that always hold
        are removed. Nothing changes if a block may run in the last iteration. In TVM, the pass
        ``LoopPartition`` does the same. Raises ScheduleError for bounds that are not constant, and
        if operations outside of blocks have effects.
        """
        trim(self.loop(loop))

    @primitive
    def skip_padding(self, loop: LoopRV, align: int | ExprRV = 1) -> None:
        """Run a loop of a reduction only where there is data: in a window, or before a mask.

        The block is a sum of ``x if … else 0`` or of products with it, a maximum with the lowest
        number, and so on; the block that stores `x` may have the condition. Conditions on the loop
        become its bounds, which may depend on loops around, in groups of `align` iterations. A
        product of padding and a weight that is infinite or NaN counts as 0. TVM has no such
        primitive. Raises ScheduleError for a loop that is not serial or has annotations, unless it
        holds one reduction that is initialized before it, and without such a condition.
        """
        skip_padding(self.loop(loop), self.size(align))

    @primitive
    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Fuse a perfect nest of loops into one loop over all iterations.

        Axes of any kind may be bound to the loops. Without `preserve_unit_iters`, loops of one
        iteration are not used in bindings. Raises ScheduleError unless each loop is serial, has no
        annotations and is alone in the loop before, if bounds depend on the loops, and for a
        spatial loop with one of a reduction that may be empty.
        """
        found = [self.loop(loop) for loop in loops]
        return self.new_loop(on_loops.fuse(found, preserve_unit_iters))

    @primitive
    def reorder(self, *ordered_loops: LoopRV) -> None:
        """Reorder loops of a perfect nest, outermost first; other loops keep their positions.

        Blocks inside have spatial and reduction axes only. Raises ScheduleError for other nests and
        axes, if bounds depend on a loop that would move inside, and if blocks depend on the order.
        """
        on_loops.reorder([self.loop(loop) for loop in ordered_loops])

    @primitive
    def fuse_horizontally(self, *loops: LoopRV) -> LoopRV:
        """Fuse adjacent nests horizontally, as iterations of one loop that runs them in order.

        Returns the new loop. Threads can then share nests of few iterations, such as remainders.
        OpenMP has ``sections`` for it. Axes of any kind may be bound to the loops. Raises
        ScheduleError unless the loops are adjacent, serial or parallel, have no annotations, and
        have constant trip counts.
        """
        return self.new_loop(fuse_horizontally([self.loop(loop) for loop in loops]))

    @primitive
    def strip_mine(self, loop: LoopRV, size: int | ExprRV) -> list[LoopRV]:
        """Strip-mine a loop: split it into strips of `size` iterations; the last may be shorter.

        Axes of any kind may be bound to the loop. Returns the loop over strips, and the loop in a
        strip, which keeps the kind of `loop`. Unlike after `split`, blocks need no predicate.
        Raises ScheduleError for a loop with annotations, a size below 1, and a loop of a reduction
        that may be empty.
        """
        return self.new_loops(on_loops.strip_mine(self.loop(loop), self.size(size)))

    @primitive
    def merge(self, *loops: LoopRV) -> LoopRV:
        """Merge adjacent loops of equal bounds into one loop that runs their bodies in turn.

        Loops around them, up to the common block, are merged too; the nests are perfect. Axes may
        be of any kind. Returns the merged loop. TVM's ``merge``. Raises ScheduleError for other
        nests, and if an iteration needs the results of a later one.
        """
        return self.new_loop(merge_loops([self.loop(loop) for loop in loops]))

    @primitive
    def parallel(self, loop: LoopRV) -> None:
        """Run the iterations of a loop on several threads.

        Only spatial axes are bound to the loop. A scratch buffer that iterations would share is
        compacted into the loop. Raises ScheduleError for other loops, and if iterations depend on
        each other.
        """
        set_kind(self.loop(loop), "parallel")

    @primitive
    def vectorize(self, loop: LoopRV) -> None:
        """Vectorize a loop: its iterations become lanes of vectors.

        Only spatial axes are bound to the loop, or only reduction axes of one block whose combiner
        may be reordered: each lane then keeps a partial result, and a horizontal reduction after
        the loop combines them. TVM needs `rfactor` for that; Halide has ``atomic().vectorize()``.
        Raises ScheduleError for other loops, and if iterations depend on each other.
        """
        set_kind(self.loop(loop), "vectorized")

    @primitive
    def unroll(self, loop: LoopRV) -> None:
        """Unroll a loop, of axes of any kind; raises ScheduleError for a symbolic extent."""
        set_kind(self.loop(loop), "unrolled")

    @primitive
    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """Bind a loop to a thread axis such as ``"threadIdx.x"``.

        Only spatial axes are bound to the loop; for ``threadIdx``, reduction axes too. Raises
        ScheduleError for an unknown thread axis, for other loops, and if iterations depend on each
        other.
        """
        if thread_axis not in THREAD_TAGS:
            expected = ", ".join(THREAD_TAGS)
            raise ScheduleError(f"expected a thread axis ({expected}), got '{thread_axis}'")
        set_kind(self.loop(loop), thread_axis)

    @primitive
    def add_unit_loop(self, block_or_loop: BlockRV | LoopRV) -> LoopRV:
        """Add a loop of one iteration around a block or loop; returns it.

        Raises ScheduleError for the root block.
        """
        return self.new_loop(on_loops.add_unit_loop(self.block_or_loop(block_or_loop)))

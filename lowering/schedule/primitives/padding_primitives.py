"""Primitives that run a block over more than its domain, and take such a block apart."""

from __future__ import annotations

from collections.abc import Sequence

from ..decompose_padding import decompose_padding
from ..drop_predicates import drop_predicates
from ..padding import pad_einsum
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, LoopRV


class PaddingPrimitives(Primitives):
    """What pads and what takes padding apart."""

    @primitive
    def pad_einsum(self, block: BlockRV | str, padding: Sequence[int]) -> None:
        """Let each axis of a sum of products run to the next multiple of its number in `padding`.

        What it reads is copied and filled up with zeros first, in blocks ``X_pad``; results are
        copied back. Raises ScheduleError for a block that is no sum of products of elements.
        """
        pad_einsum(self.block(block), padding)

    @primitive
    def decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Let a block that stores elements, and a constant around them, store elements alone.

        Returns the new block ``Y_pad_const`` before `loop`, which stores the constant everywhere.
        Raises ScheduleError for any other block, and where something else is in the loop.
        """
        return self.new_block(decompose_padding(self.block(block), self.loop(loop)))

    @primitive
    def drop_predicates(self, block: BlockRV | str) -> None:
        """Let a block run in all iterations of its loops, also where predicates keep it from it.

        Its spatial axes get as long as what they are bound to. Where a load would leave its buffer,
        it repeats the last one that does not. TVM's ``split`` has ``disable_predication``, which
        is for loops that need none. Raises ScheduleError for predicates that do more than keep
        spatial axes in range, and unless the block stores to scratch memory only, which has room
        for the additional iterations and of which nobody uses what these store.
        """
        drop_predicates(self.block(block))

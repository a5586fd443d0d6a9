"""Primitives that make blocks of loop nests, and put other code into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..blockize import blockize
from ..blocks import ScheduleError
from ..tensorize import INTRINSICS, tensorize
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, LoopRV


class BlockPrimitives(Primitives):
    """What makes a part of a nest one block."""

    @primitive
    def blockize(
        self, target: LoopRV | Sequence[BlockRV | str], preserve_unit_iters: bool = True
    ) -> BlockRV:
        """Put a new block around a loop, or around several blocks with the loops they share not.

        Axes are divided: the new block ``Y_o`` has what the loops around it drive, the blocks in it
        what those inside do. Without `preserve_unit_iters` axes of one iteration are left out.
        Raises ScheduleError where an axis or a predicate belongs to neither side.
        """
        if isinstance(target, LoopRV):
            return self.new_block(blockize(self.loop(target), preserve_unit_iters))
        blocks = [target] if isinstance(target, BlockRV | str) else target
        return self.new_block(blockize([self.block(b) for b in blocks], preserve_unit_iters))

    @primitive
    def tensorize(
        self,
        block_or_loop: BlockRV | LoopRV | str,
        tensor_intrin: str,
        preserve_unit_iters: bool = True,
    ) -> None:
        """Let the implementation of a `TensorIntrin` do what a block does, or a loop.

        A loop becomes a block first, as by `blockize`. Raises ScheduleError where that is not what
        the intrinsic describes, with what differs.
        """
        intrinsic = INTRINSICS.get(tensor_intrin)
        if intrinsic is None:
            raise ScheduleError(f"expected a registered tensor intrinsic, got '{tensor_intrin}'")
        target = self.block_or_loop(cast("BlockRV | LoopRV", block_or_loop))
        tensorize(target, *intrinsic, tensor_intrin, preserve_unit_iters)

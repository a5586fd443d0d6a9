"""Primitives that make blocks of loop nests, and put other code into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..blockize import blockize
from ..blocks import ScheduleError
from ..fold_conditions import fold_conditions
from ..tensorize import INTRINSICS, tensorize
from ..versions import peel, specialize
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


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
    def peel(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        size: int | ExprRV,
        consumer: BlockRV | str,
    ) -> list[BlockRV]:
        """Give the whole parts of `size` iterations of a block's loop, and those left, own nests.

        The block stores to scratch memory, which `consumer` alone uses; each version has its own.
        Returns the two versions of the block. TVM has no such primitive, exo has ``cut_loop``.
        Raises ScheduleError where nothing is left, the loop is not spatial, the consumer has no
        such loop, or stores what is loaded.
        """
        number = self.number(size)
        if number is None:
            raise ScheduleError("expected a size, got a factor left open")
        made = peel(self.block(block), self.loop(loop), number, self.block(consumer))
        return self.new_blocks(made)

    @primitive
    def specialize(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        limit: int | ExprRV,
        consumer: BlockRV | str,
    ) -> list[BlockRV]:
        """Make a version of a nest for fewer than `limit` iterations of a loop, and one for others.

        The block stores to scratch memory, which `consumer` alone uses; it is in both versions.
        Which one runs is known when the function is called. Returns the two versions of the block.
        Halide has ``specialize`` for it. Raises ScheduleError where the consumer stores what is
        loaded, and for a loop that is not spatial.
        """
        number = self.number(limit)
        if number is None:
            raise ScheduleError("expected a limit, got a factor left open")
        made = specialize(self.block(block), self.loop(loop), number, self.block(consumer))
        return self.new_blocks(made)

    @primitive
    def fold_conditions(self, block: BlockRV | str) -> None:
        """Make the choices in a block's body that the ranges of its axes decide.

        After `loop_partition` the inside of a padded tensor asks no more whether it is the border.
        TVM does so in its pass ``Simplify``. Raises ScheduleError where there is no such choice.
        """
        fold_conditions(self.block(block))

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

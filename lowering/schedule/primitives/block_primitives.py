"""Primitives on blocks: their extent, versions and code, axes and annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.utils.exceptions import VerifyException

from ....dialects.attributes import to_attribute
from .. import annotations
from ..block_layout import reorder_axes
from ..blockize import blockize
from ..blocks import ScheduleError
from ..conditions import fold_conditions
from ..tensorize import INTRINSICS, tensorize
from ..versions import peel, specialize
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, ExprRV, LoopRV


class BlockPrimitives(Primitives):
    """What makes and changes blocks, and marks them and loops."""

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
        made = peel(self.block(block), self.loop(loop), self.size(size), self.block(consumer))
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
        made = specialize(
            self.block(block), self.loop(loop), self.size(limit, "limit"), self.block(consumer)
        )
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

    @primitive
    def annotate(
        self, block_or_loop: BlockRV | LoopRV, ann_key: str, ann_val: str | float | ExprRV | Any
    ) -> None:
        """Give a block or loop an annotation: a number, string, variable, or list or dict of these.

        One that it has already gets the new value. Raises ScheduleError for any other value.
        """
        try:
            value = to_attribute(self._value(ann_val))
        except (TypeError, ValueError, VerifyException) as error:
            raise ScheduleError(f"expected a value for annotations: {error}") from None
        annotations.annotate(self.block_or_loop(block_or_loop), ann_key, value)

    @primitive
    def unannotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str) -> None:
        """Take an annotation away; raises ScheduleError where there is none of the name."""
        annotations.unannotate(self.block_or_loop(block_or_loop), ann_key)

    @primitive
    def reorder_block_iter_var(self, block: BlockRV | str, new_order: Sequence[int]) -> None:
        """Put the axes of a block in another order, given by their positions.

        Raises ScheduleError where that is no order of all axes.
        """
        reorder_axes(self.block(block), new_order)

    @primitive(is_pure=True)
    def enter_postproc(self) -> None:
        """Mark where the part of the trace begins that is no part of the search space."""

    def _value(self, value: Any) -> Any:
        if isinstance(value, ExprRV):
            return self.number(value)
        if isinstance(value, Mapping):
            return {k: self._value(v) for k, v in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self._value(v) for v in cast("Sequence[Any]", value)]
        return value

"""Primitives on blocks: blockize, multiversion, tensorize, annotate, and reorder axes."""

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
    """Primitives that create and transform blocks, and annotate blocks and loops."""

    @primitive
    def blockize(
        self, target: LoopRV | Sequence[BlockRV | str], preserve_unit_iters: bool = True
    ) -> BlockRV:
        """Put a new block around a loop, or around several blocks and their own loops.

        Axes of any kind are divided: loops around the new block ``Y_o`` are bound to its axes, and
        loops inside to those of the inner blocks; an axis of no loop inside is the new block's
        alone. Without `preserve_unit_iters`, no axis is bound to a loop of one iteration. Returns
        the new block. Raises ScheduleError if a binding or a predicate mixes inner and outer loops,
        and if a loop around several blocks is bound to an axis of one that is not spatial.
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
        consumer: BlockRV | str | list[BlockRV | str],
    ) -> list[BlockRV]:
        """Peel the remainder of a spatial loop modulo `size` into a nest of its own.

        `loop` starts at 0 and is bound to one spatial axis of the block. `consumer` alone uses the
        block's results, which are in scratch memory; it is peeled too. Of several consumers, each
        so uses the results of the one before. Returns the two versions of the block, whole tiles
        first; each has its own scratch memory. TVM has no such primitive; exo has ``cut_loop``.
        Raises ScheduleError if there is no remainder, the loop is not spatial, a consumer has no
        corresponding loop, or a consumer stores to an operand.
        """
        consumers = consumer if isinstance(consumer, list) else [consumer]
        chain = list(map(self.block, consumers))
        made = peel(self.block(block), self.loop(loop), self.size(size), chain)
        return self.new_blocks(made)

    @primitive
    def specialize(
        self,
        block: BlockRV | str,
        loop: LoopRV,
        limit: int | ExprRV,
        consumer: BlockRV | str,
    ) -> list[BlockRV]:
        """Multiversion a nest: one version for fewer than `limit` iterations, one for others.

        `loop` starts at 0 and is bound to one spatial axis of the block. `consumer` alone uses the
        block's results, which are in scratch memory; it is in both versions. The trip count selects
        the version at run time. Returns the two versions of the block, that of fewer iterations
        first. Halide has ``specialize`` for it. Raises ScheduleError if the loop is not spatial, or
        the consumer stores to an operand.
        """
        made = specialize(
            self.block(block), self.loop(loop), self.size(limit, "limit"), self.block(consumer)
        )
        return self.new_blocks(made)

    @primitive
    def fold_conditions(self, block: BlockRV | str) -> None:
        """Fold conditions in a block's body that the ranges of its axes decide.

        After `loop_partition`, the interior of a padded tensor does not test for the border. TVM
        does so in its pass ``Simplify``. Raises ScheduleError if there is no such condition.
        """
        fold_conditions(self.block(block))

    @primitive
    def tensorize(
        self,
        block_or_loop: BlockRV | LoopRV | str,
        tensor_intrin: str,
        preserve_unit_iters: bool = True,
    ) -> None:
        """Replace a block or loop by the implementation of a registered `TensorIntrin`.

        A loop is first blockized. Raises ScheduleError for an unknown intrinsic, and if the block
        does not match the intrinsic's description; the message has the difference.
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
        """Annotate a block or loop with a number, string, variable, or a list or dict of these.

        Replaces an annotation of the same key. Raises ScheduleError for any other value.
        """
        try:
            value = to_attribute(self._value(ann_val))
        except (TypeError, ValueError, VerifyException) as error:
            raise ScheduleError(f"expected a value for annotations: {error}") from None
        annotations.annotate(self.block_or_loop(block_or_loop), ann_key, value)

    @primitive
    def unannotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str) -> None:
        """Remove an annotation; raises ScheduleError if there is none with this key."""
        annotations.unannotate(self.block_or_loop(block_or_loop), ann_key)

    @primitive
    def reorder_block_iter_var(self, block: BlockRV | str, new_order: Sequence[int]) -> None:
        """Reorder the axes of a block; `new_order` has their positions.

        Axes of all kinds may be reordered. Raises ScheduleError if `new_order` is not a
        permutation.
        """
        reorder_axes(self.block(block), new_order)

    @primitive
    def enter_postproc(self) -> None:
        """Mark the end of the search space in the trace; later instructions are postprocessing."""

    def _value(self, value: Any) -> Any:
        if isinstance(value, ExprRV):
            return self.number(value)
        if isinstance(value, Mapping):
            return {k: self._value(v) for k, v in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self._value(v) for v in cast("Sequence[Any]", value)]
        return value

"""Primitives on the order of elements in memory, and of the axes of blocks; on padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import BlockArgument, SSAValue

from ....dialects import tir
from ....dialects.dims import dims_of
from ....dialects.int_expr import IntExpr
from ..block_layout import transform_block_layout
from ..blocks import ScheduleError, function_of
from ..copy_block import buffer_of
from ..decompose_padding import decompose_padding
from ..drop_predicates import drop_predicates
from ..index_map import IndexMap
from ..layout import MovedParameter, transform_layout
from ..padding import pad_einsum
from .base import Primitives
from .buffer_primitives import buffer_key
from .instructions import Code, primitive
from .random_variables import BlockRV, LoopRV


class LayoutPrimitives(Primitives):
    """What moves elements of buffers and iterations of blocks, pads, and takes padding apart."""

    @primitive
    def transform_layout(
        self,
        block: BlockRV | str,
        buffer: Sequence[int | str] | str,
        index_map: Any,
        pad_value: float | None = None,
        assume_injective_transform: bool = False,
        shape: Sequence[int | str | IntExpr] | None = None,
    ) -> None:
        """Store the elements of a buffer where `index_map` says, in all of the function.

        `buffer` is ``("read", number)``, ``("write", number)`` or a name. `index_map` gives an
        element's new indices by its old ones: a function, an `IndexMap`, or a lambda's text. Where
        the new layout has room for no element, `pad_value` is stored, a number of the element
        type. A parameter gets another shape. Raises ScheduleError where elements could meet, and
        where such room is left without `pad_value`, unless `assume_injective_transform` says that
        neither matters. `shape` are the new dims where they are not the smallest that hold all
        elements; every access must be known to be in it. TVM has no such argument.
        """
        found = self.block(block)
        target = _buffer(found, buffer)
        assert isinstance(target.type, tir.BufferType)
        moved, old = self._map(index_map, target.type.rank), target.type
        new = transform_layout(
            found,
            target,
            moved,
            None if shape is None else dims_of(shape),
            pad_value=pad_value,
            assume_injective=assume_injective_transform,
        )
        if isinstance(new, BlockArgument):
            assert isinstance(new.type, tir.BufferType)
            name = function_of(found).sym_name.data
            self.moved_parameters.append(MovedParameter(name, new.index, moved, old, new.type))

    @primitive
    def transform_block_layout(self, block: BlockRV | str, index_map: Any) -> None:
        """Give a block other axes, each with a loop of its own, by a map of its axes.

        Raises ScheduleError unless the block is alone in loops that drive one axis each, and for a
        map that has no inverse, or mixes kinds of axes.
        """
        found = self.block(block)
        transform_block_layout(found, self._map(index_map, len(found.axes.data)))

    def index_map(self, given: Any, rank: int) -> IndexMap:
        """What is given as a map of `rank` indices; raises TypeError or ValueError for others."""
        return given if isinstance(given, IndexMap) else IndexMap.of_text(given)

    def _map(self, given: Any, rank: int) -> IndexMap:
        """The map, which the trace has as a lambda, or its text where it names symbols."""
        try:
            found = self.index_map(given, rank)
        except (TypeError, ValueError) as error:
            raise ScheduleError(str(error)) from None
        self.record(index_map=str(found) if found.symbols() else Code(str(found)))
        return found

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


def _buffer(block: tir.BlockOp, buffer: Sequence[int | str] | str) -> SSAValue:
    which, key = buffer_key(buffer)
    if which is None:
        which = "write" if key in [b.name_hint for b in block.write_buffers] else "read"
    return buffer_of(block, which, key)

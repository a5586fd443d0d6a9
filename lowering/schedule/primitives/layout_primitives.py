"""Primitives on the layout of buffers and of blocks, and on padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from xdsl.ir import BlockArgument, SSAValue

from ....dialects import tir
from ....dialects.dims import dims_of
from ....dialects.int_expr import IntExpr
from ..annotate_access import annotate_buffer_access
from ..block_layout import transform_block_layout
from ..blocks import ScheduleError, function_of
from ..copy_block import buffer_of
from ..decompose_padding import can_decompose_padding, decompose_padding
from ..drop_predicates import drop_predicates
from ..index_map import IndexMap
from ..layout import MovedParameter
from ..padded_writer import transform_padded_layout
from ..padding import pad_einsum
from ..reindex_cache import reindex_cache_read, reindex_cache_write
from .base import Primitives
from .buffer_primitives import buffer_key
from .instructions import Code, primitive
from .random_variables import BlockRV, LoopRV
from .sampled import is_recordable


class LayoutPrimitives(Primitives):
    """Primitives that transform the layouts of buffers and blocks, and that pad."""

    @primitive
    def transform_layout(
        self,
        block: BlockRV | str,
        buffer: Sequence[int | str] | str,
        index_map: Any,
        pad_value: float | IndexMap | Callable[..., Any] | None = None,
        assume_injective_transform: bool = False,
        shape: Sequence[int | str | IntExpr] | None = None,
    ) -> None:
        """Transform the layout of a buffer by `index_map`, in the whole function.

        `buffer` is ``("read", position)``, ``("write", position)`` or a name. `index_map` maps the
        old indices of an element to its new ones: a function, an `IndexMap`, or the text of a
        lambda. `pad_value`, a number of the element type, is stored to padding elements of the new
        layout, or what a function of their new indices gives. A block that only stores all elements
        in their order gets the loops of the layout, and stores them too. A parameter of the
        function gets the new shape. Raises ScheduleError if the map is not injective, and if there
        is padding without `pad_value`, unless `assume_injective_transform` states that neither
        matters. `shape` are the new dims, by default the smallest; every access must provably be in
        bounds. TVM has no such argument.
        """
        found = self.block(block)
        target = _buffer(found, buffer)
        assert isinstance(target.type, tir.BufferType)
        moved, old = self._map(index_map, target.type.rank), target.type
        new = transform_padded_layout(
            found,
            target,
            moved,
            None if shape is None else dims_of(shape),
            pad_value=self._pad_value(pad_value, len(moved.results)),
            assume_injective=assume_injective_transform,
        )
        if isinstance(new, BlockArgument):
            assert isinstance(new.type, tir.BufferType)
            name = function_of(found).sym_name.data
            self.moved_parameters.append(MovedParameter(name, new.index, moved, old, new.type))

    @primitive
    def transform_block_layout(self, block: BlockRV | str, index_map: Any) -> None:
        """Transform the axes of a block by an injective map; each new axis gets a loop of its own.

        Each new axis is made of old axes of one kind, which it keeps. Raises ScheduleError unless
        the block is in a perfect nest whose loops are each bound to one axis, and for a map that is
        not invertible, or that mixes kinds of axes.
        """
        found = self.block(block)
        transform_block_layout(found, self._map(index_map, len(found.axes.data)))

    @primitive
    def reindex_cache_read(
        self,
        block: BlockRV | str,
        read_buffer_index: int | str,
        storage_scope: str,
        index_map: Any,
    ) -> BlockRV:
        """Let a block read a buffer from a copy in `storage_scope`, in another layout.

        `read_buffer_index` is a position among the buffers that the block reads, or a name.
        `index_map` maps the axes of the block to the indices of the copy; see `transform_layout`.
        The copy has those loops of the block that it needs. Returns the block that copies. Raises
        ScheduleError if the block reads several elements, if the new indices do not determine the
        element, and if the buffer is written between the copy and its reader.
        """
        found = self.block(block)
        moved = self._map(index_map, len(found.axes.data))
        made = reindex_cache_read(found, read_buffer_index, storage_scope, moved)
        return self.new_block(made)

    @primitive
    def reindex_cache_write(
        self,
        block: BlockRV | str,
        write_buffer_index: int | str,
        storage_scope: str,
        index_map: Any,
    ) -> BlockRV:
        """Let a block write a buffer to a copy in `storage_scope`, in another layout.

        The counterpart of `reindex_cache_read` for a buffer that the block writes. Returns the
        block that copies the elements back. Raises ScheduleError as that, and if other blocks write
        the buffer.
        """
        found = self.block(block)
        moved = self._map(index_map, len(found.axes.data))
        made = reindex_cache_write(found, write_buffer_index, storage_scope, moved)
        return self.new_block(made)

    @primitive
    def annotate_buffer_access(
        self,
        block: BlockRV | str,
        buffer_index: int | str,
        buf_type: str,
        gen_new_ranges: Any,
    ) -> None:
        """Declare the region of a buffer that a block accesses, instead of the inferred one.

        `buf_type` is "read" or "write", `buffer_index` a position among the buffers that the block
        so accesses, or a name. `gen_new_ranges` maps the axes of the block to a range for each dim:
        its first index and its end, or one index. Other primitives rely on what is declared, for
        example where indices depend on data. Raises ScheduleError for a wrong number of ranges, and
        for a region that the block surely leaves.
        """
        found = self.block(block)
        target = buffer_of(found, "read" if buf_type == "read" else "write", buffer_index)
        assert isinstance(target.type, tir.BufferType)
        ranges = pairs_of(gen_new_ranges, target.type.rank)
        try:
            given = self.index_map(ranges, len(found.axes.data))
        except (TypeError, ValueError) as error:
            raise ScheduleError(str(error)) from None
        self.record(gen_new_ranges=Code(str(given)))
        annotate_buffer_access(found, buf_type, buffer_index, given)

    def index_map(self, given: Any, rank: int) -> IndexMap:
        """An index map of `rank` indices; raises TypeError or ValueError for any other value."""
        return given if isinstance(given, IndexMap) else IndexMap.of_text(given)

    def _map(self, given: Any, rank: int) -> IndexMap:
        """The map; the trace records it as a lambda, or as its text if it uses symbols."""
        try:
            found = self.index_map(given, rank)
        except (TypeError, ValueError) as error:
            raise ScheduleError(str(error)) from None
        moved = self.evaluated(found)
        if moved is not found and is_recordable(found):
            self.record(index_map=found)
        else:
            self.record(index_map=str(moved) if moved.symbols() else Code(str(moved)))
        return moved

    def _pad_value(self, given: Any, rank: int) -> Any:
        """The value of padding, in which a function of `rank` indices is a map."""
        if not callable(given) and not isinstance(given, str | IndexMap):
            return given
        try:
            found = self.index_map(given, rank)
        except (TypeError, ValueError) as error:
            raise ScheduleError(f"pad_value: {error}") from None
        moved = self.evaluated(found)
        self.record(pad_value=Code(str(moved)))
        return moved

    @primitive
    def pad_einsum(self, block: BlockRV | str, padding: Sequence[int]) -> None:
        """Pad the axes of an einsum to multiples of the numbers in `padding`.

        There is a number for each axis, spatial or reduction. Operands are first copied and padded
        with zeros, in blocks ``X_pad``; results are copied back. Raises ScheduleError for a block
        that is not a sum of products, and unless each axis has a serial loop of its own.
        """
        pad_einsum(self.block(block), padding)

    @primitive
    def decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Decompose a padding block: one fills with the constant, the other stores the elements.

        All axes of the block are spatial, and it stores ``if_then_else(condition, element,
        constant)`` with a condition on the ranges of axes. Returns the new block ``Y_pad_const``
        before `loop`, which fills the whole buffer. Raises ScheduleError for any other block, and
        if `loop` has other statements, unless the block alone stores to a scratch buffer.
        """
        return self.new_block(decompose_padding(self.block(block), self.loop(loop)))

    def can_decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> bool:
        """Whether `decompose_padding` applies to a block and a loop."""
        return can_decompose_padding(self.block(self.looked_up(block)), self.loop(loop))

    @primitive
    def drop_predicates(self, block: BlockRV | str) -> None:
        """Remove the predicates of a block, which then runs in all iterations of its loops.

        Spatial axes are extended to the ranges of their bindings; loads out of bounds are clamped
        to the last element. TVM's ``split`` has ``disable_predication``, which is for loops without
        a remainder. Raises ScheduleError if a predicate bounds anything but a spatial axis, and
        unless the block stores only to scratch memory that is large enough, and no other block uses
        the results of the additional iterations.
        """
        drop_predicates(self.block(block))


def _buffer(block: tir.BlockOp, buffer: Sequence[int | str] | str) -> SSAValue:
    which, key = buffer_key(buffer)
    if which is None:
        which = "write" if key in [b.name_hint for b in block.write_buffers] else "read"
    return buffer_of(block, which, key)


def pairs_of(function: Any, rank: int) -> Any:
    """A function of axes that returns a first index and an end for each of `rank` dims, in a row.

    The given one may return pairs, or single indices; anything but a function is returned as it is.
    """
    if not callable(function) or isinstance(function, IndexMap):
        return function

    @wraps(function)
    def flat(*axes: Any) -> list[Any]:
        items = _items(function(*axes))
        if len(items) != rank:
            return items
        return [
            end for item in items for end in (_items(item) if _is_pair(item) else (item, item + 1))
        ]

    return flat


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _items(value: Any) -> list[Any]:
    return list(value) if _is_pair(value) else [value]

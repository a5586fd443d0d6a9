"""Primitives on the buffers of blocks: cached copies, scopes, strides and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ....dialects import tir
from ..blocks import ScheduleError
from ..cache import cache_read, cache_write
from ..cache_index import cache_index
from ..cache_inplace import cache_inplace
from ..compact import compact_buffer
from ..read_at import read_at, write_at
from ..reindex import reindex
from ..rolling_buffer import rolling_buffer
from ..set_dtype import set_dtype
from ..storage import scratch_of, set_scope, storage_align
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV, LoopRV

Stage: TypeAlias = Callable[[tir.ForOp, tir.BlockOp, int | str, str], tir.BlockOp]
"""`read_at` or `write_at`."""


class BufferPrimitives(Primitives):
    """Primitives that replace or change the buffers that blocks access."""

    @primitive
    def cache_read(
        self,
        block: BlockRV | str,
        read_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: list[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Let blocks read a buffer from a copy in `storage_scope`; returns the block that copies.

        `read_buffer_index` is a position among the buffers that `block` reads, or a name.
        `consumer_blocks` read the copy; by default, `block` and all other blocks that read the
        buffer. The copy is inserted before their loops. Raises ScheduleError if the buffer is
        written between the copy and its readers.
        """
        consumers = None if consumer_blocks is None else [self.block(b) for b in consumer_blocks]
        made = cache_read(self.block(block), read_buffer_index, storage_scope, consumers)
        return self.new_block(made)

    @primitive
    def cache_write(
        self,
        block: BlockRV | str,
        write_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: list[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Let a block write to a buffer in `storage_scope`; returns the block that copies it back.

        `write_buffer_index` is a position among the buffers that `block` writes, or a name. The
        copy is inserted after the block's loops; `consumer_blocks` read the new buffer. Raises
        ScheduleError if other blocks write the buffer, or the block does not write a box of it.
        """
        consumers = [self.block(b) for b in consumer_blocks or ()]
        made = cache_write(self.block(block), write_buffer_index, storage_scope, consumers)
        return self.new_block(made)

    @primitive
    def cache_inplace(
        self, block: BlockRV | str, read_buffer_index: int | str, storage_scope: str
    ) -> list[BlockRV]:
        """Let a block update a copy of a buffer in `storage_scope` instead of the buffer itself.

        `read_buffer_index` is a position among the buffers that the block reads, or a name. Each
        instance of the block copies what it accesses before, and back after. Returns the two blocks
        that copy. Raises ScheduleError unless the block reads and writes the buffer, for a buffer
        with other views, and where loops around the block are not serial.
        """
        return self.new_blocks(cache_inplace(self.block(block), read_buffer_index, storage_scope))

    @primitive
    def cache_index(
        self, block: BlockRV | str, storage_scope: str, cse_thresh: int = 0
    ) -> list[BlockRV]:
        """Compute what only the axes of a block determine in blocks before it, once.

        With a `cse_thresh` of 0 that is the indices of loads, unless they are axes; otherwise the
        computations that the block does at least so many times, the largest first. Each is stored
        to a buffer in `storage_scope`, with its axes as dims. Returns the blocks, none where there
        is nothing to compute. Raises ScheduleError for axes that do not begin at 0.
        """
        return self.new_blocks(cache_index(self.block(block), storage_scope, cse_thresh))

    @primitive
    def read_at(
        self, loop: LoopRV, block: BlockRV | str, read_buffer_index: int | str, storage_scope: str
    ) -> BlockRV:
        """Copy what a block reads of a buffer to `storage_scope` in each iteration of a loop.

        `read_buffer_index` is a position among the buffers that `block` reads, or a name. Returns
        the block that copies: one for all elements, annotated with "auto_copy". Raises
        ScheduleError as `cache_read`, `compute_at` and `blockize` do.
        """
        return self._staged(read_at, loop, block, read_buffer_index, storage_scope)

    @primitive
    def write_at(
        self, loop: LoopRV, block: BlockRV | str, write_buffer_index: int | str, storage_scope: str
    ) -> BlockRV:
        """Let a block write to `storage_scope`, and copy that back in each iteration of a loop.

        `write_buffer_index` is a position among the buffers that `block` writes, or a name. Returns
        the block that copies: one for all elements, annotated with "auto_copy". Raises
        ScheduleError as `cache_write`, `reverse_compute_at` and `blockize` do.
        """
        return self._staged(write_at, loop, block, write_buffer_index, storage_scope)

    def _staged(
        self, stage: Stage, loop: LoopRV, block: BlockRV | str, buffer: int | str, scope: str
    ) -> BlockRV:
        """Try several steps on a copy of the module, which then apply to the module as a whole."""
        ops = self.loop(loop), self.block(block)
        copied_loop, copied_block = self.state.copies_of(*ops)
        assert isinstance(copied_loop, tir.ForOp) and isinstance(copied_block, tir.BlockOp)
        stage(copied_loop, copied_block, buffer, scope)
        return self.new_block(stage(*ops, buffer, scope))

    @primitive
    def reindex(self, block: BlockRV | str, buffer: Sequence[int | str] | str) -> BlockRV:
        """Let a block access a buffer through a new one with its axes as dims; returns the copy.

        `buffer` is ``("read", position)``, ``("write", position)`` or a name. The new buffer is
        indexed by the axes, of any kind, that index the old one. Raises ScheduleError if the block
        has several different accesses to the buffer, or one that may be out of bounds.
        """
        found = self.block(block)
        which, key = buffer_key(buffer)
        if which is None:
            names = [b.name_hint for b in found.write_buffers]
            which = "write" if key in names else "read"
        return self.new_block(reindex(found, which, key))

    @primitive
    def set_scope(self, block: BlockRV | str, buffer_index: int | str, storage_scope: str) -> None:
        """Set the storage scope of a scratch buffer that a block writes.

        `buffer_index` is a position among the buffers that the block writes, or a name. Raises
        ScheduleError for a parameter of the function, and for an unknown scope.
        """
        set_scope(self.block(block), buffer_index, storage_scope)

    @primitive
    def unsafe_set_dtype(self, block: BlockRV | str, buffer_index: int | str, dtype: str) -> None:
        """Store a scratch buffer that a block writes in another dtype.

        `buffer_index` is a position among the buffers that the block writes, or a name. Stored
        values are converted, which may round them, and loaded values are converted back. Raises
        ScheduleError for a parameter of the function, and for an unknown dtype.
        """
        set_dtype(self.block(block), buffer_index, dtype)

    @primitive
    def storage_align(
        self, block: BlockRV | str, buffer_index: int, axis: int, factor: int, offset: int
    ) -> None:
        """Let the stride of dim `axis` of a scratch buffer be ``k * factor + offset`` elements.

        `buffer_index` is a position among the buffers that the block writes. Raises ScheduleError
        for a parameter of the function, and for numbers out of range.
        """
        storage_align(self.block(block), buffer_index, axis, factor, offset)

    @primitive
    def compact_buffer(self, block: BlockRV | str, buffer_index: int | str) -> None:
        """Shrink a scratch buffer that a block writes to the part that one iteration uses.

        The allocation moves into the innermost loop around all uses, and gets the size of what an
        iteration stores. TVM does so in its pass ``CompactBufferAllocation``. Raises ScheduleError
        for a parameter of the function, for a buffer with views or that is passed to a call, and
        unless each iteration stores what it loads.
        """
        compact_buffer(scratch_of(self.block(block), buffer_index))

    @primitive
    def rolling_buffer(self, block: BlockRV | str, write_buffer_index: int | str) -> None:
        """Compute each element of a scratch buffer once, where iterations of loops share elements.

        `write_buffer_index` is a position among the buffers that the block writes, or a name. The
        block is at `compute_at` its consumers. It then runs for new elements only, and the dim of
        the outermost such loop is a ring of the size that one iteration needs. Raises ScheduleError
        where `compact_buffer` does, for iterations that share nothing, and where the block may
        compute other values for an element later.
        """
        rolling_buffer(self.block(block), write_buffer_index)


def buffer_key(buffer: Sequence[int | str] | str) -> tuple[str | None, int | str]:
    """``"read"``, ``"write"`` or `None`, and the position or name of a buffer; or ScheduleError."""
    if isinstance(buffer, str):
        return None, buffer
    match list(buffer):
        case ["read" | "write" as which, int() as number]:
            return str(which), number
        case _:
            raise ScheduleError(
                f"expected a buffer's name, ('read', number) or ('write', number), got {buffer!r}"
            )

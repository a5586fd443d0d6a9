"""Primitives on the memory that blocks work on: copies of it, its kind, size and strides."""

from __future__ import annotations

from collections.abc import Sequence

from ..blocks import ScheduleError
from ..cache import cache_read, cache_write
from ..compact import compact_buffer
from ..reindex import reindex
from ..storage import scratch_of, set_scope, storage_align
from .base import Primitives
from .instructions import primitive
from .random_variables import BlockRV


class BufferPrimitives(Primitives):
    """What gives blocks other memory to work on."""

    @primitive
    def cache_read(
        self,
        block: BlockRV | str,
        read_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: list[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Let blocks read a buffer from a copy in `storage_scope`; returns the block that copies.

        The buffer is that of a number or name among those that `block` reads. `consumer_blocks`
        read the copy, or all blocks beside `block` that read the buffer. The copy is made before
        their loops. Raises ScheduleError where something changes the buffer between them.
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

        The buffer is that of a number or name among those that the block writes. The copy is made
        after the block's loops; `consumer_blocks` read the new buffer itself. Raises ScheduleError
        where other blocks write the buffer, or the block does not write a box of it.
        """
        consumers = [self.block(b) for b in consumer_blocks or ()]
        made = cache_write(self.block(block), write_buffer_index, storage_scope, consumers)
        return self.new_block(made)

    @primitive
    def reindex(self, block: BlockRV | str, buffer: Sequence[int | str] | str) -> BlockRV:
        """Let a block access a buffer by way of one that has its axes as dims; returns the copy.

        `buffer` is ``("read", number)``, ``("write", number)`` or a name; the new buffer is indexed
        by those axes that index the old one. Raises ScheduleError where the block accesses several
        places of the buffer, or could leave it.
        """
        found = self.block(block)
        which, key = buffer_key(buffer)
        if which is None:
            names = [b.name_hint for b in found.write_buffers]
            which = "write" if key in names else "read"
        return self.new_block(reindex(found, which, key))

    @primitive
    def set_scope(self, block: BlockRV | str, buffer_index: int | str, storage_scope: str) -> None:
        """Put a scratch buffer that a block writes into another kind of memory.

        Raises ScheduleError for a parameter, and for an unknown scope.
        """
        set_scope(self.block(block), buffer_index, storage_scope)

    @primitive
    def storage_align(
        self, block: BlockRV | str, buffer_index: int, axis: int, factor: int, offset: int
    ) -> None:
        """Let the stride along `axis` of a scratch buffer be ``k * factor + offset`` elements.

        Raises ScheduleError for a parameter, and for numbers out of range.
        """
        storage_align(self.block(block), buffer_index, axis, factor, offset)

    @primitive
    def compact_buffer(self, block: BlockRV | str, buffer_index: int | str) -> None:
        """Let a scratch buffer that a block writes have room for what is in use at a time only.

        It is allocated in the innermost loop around all blocks that use it, and has the size of
        what one iteration stores. TVM does so when it lowers, with ``CompactBufferAllocation``.
        Raises ScheduleError for a parameter, a buffer that is viewed or passed on, and unless each
        iteration stores what it loads.
        """
        compact_buffer(scratch_of(self.block(block), buffer_index))


def buffer_key(buffer: Sequence[int | str] | str) -> tuple[str | None, int | str]:
    """``"read"``, ``"write"`` or `None`, and the number or name of a buffer; or ScheduleError."""
    if isinstance(buffer, str):
        return None, buffer
    match list(buffer):
        case ["read" | "write" as which, int() as number]:
            return str(which), number
        case _:
            raise ScheduleError(
                f"expected a buffer's name, ('read', number) or ('write', number), got {buffer!r}"
            )

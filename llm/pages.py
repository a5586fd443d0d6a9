"""The cache of keys and values of a language model, in pages.

A page has places for `PLACES` positions of one sequence. Keys of a layer are (pages, key heads,
size, places), so that the scores of several positions are a vector; values are (pages, key heads,
places, size). Those of int8 are multiplied by scales (pages, key heads, places). Sequences share
the pages of a common prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.dtype import dtype_info
from ..runtime.saving import stored_tensor
from ..runtime.tensor import Tensor

PLACES = 32
"""The positions of a page."""
COLUMNS = 4
"""Kernels unroll loops over the pages of a table by a divisor of this."""


@dataclass(frozen=True)
class PageLayout:
    """The sizes of a cache."""

    layers: int
    heads: int
    size: int
    dtype: str = "float16"

    @property
    def parts(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """The shape of a page and the dtype of each array of a layer, by name."""
        heads, size = self.heads, self.size
        found: dict[str, tuple[tuple[int, ...], str]] = {
            "keys": ((heads, size, PLACES), self.dtype),
            "values": ((heads, PLACES, size), self.dtype),
        }
        if self.has_scales:
            found |= dict.fromkeys(("key_scales", "value_scales"), ((heads, PLACES), "float32"))
        return found

    @property
    def has_scales(self) -> bool:
        """Whether keys and values are integers with scales."""
        return self.dtype == "int8"

    @property
    def bytes_of_position(self) -> float:
        """The memory of one position in all layers."""
        return sum(
            self.layers * prod(shape) * dtype_info(dtype).itemsize / PLACES
            for shape, dtype in self.parts.values()
        )

    def new(self, pages: int) -> list[NDArray[Any]]:
        """Empty pages of all layers: the parts of the first, then of the second, …; see `parts`.

        bfloat16 is held as its 16 bits.
        """
        return [
            np.zeros((pages, *shape), dtype_info(dtype).storage)
            for _ in range(self.layers)
            for shape, dtype in self.parts.values()
        ]

    def tensors(self, arrays: Sequence[NDArray[Any]]) -> list[Tensor]:
        """Arrays of `new` as tensors of their dtypes, over the same memory."""
        dtypes = [dtype for _, dtype in self.parts.values()] * self.layers
        return [stored_tensor(a, dtype) for a, dtype in zip(arrays, dtypes, strict=True)]


@dataclass
class CachedSequence:
    """A sequence in the cache: its pages, and the positions that are filled.

    `dropped` is how many pages at the beginning were freed, since no layer sees them any more.
    """

    pages: list[int] = field(default_factory=lambda: [])
    length: int = 0
    dropped: int = 0

    def slots(self, first: int = 0) -> NDArray[np.int32]:
        """The place of each position from one on: the page times `PLACES`, and the place in it."""
        before = self.dropped * PLACES
        pages = np.asarray(self.pages, np.int32)[:, None] * PLACES
        slots = (pages + np.arange(PLACES, dtype=np.int32)).reshape(-1)
        return slots[first - before : self.length - before]


class PagePool:
    """Which pages are free, and which sequences use the others.

    Pages of a common prefix belong to several sequences; a sequence that writes into a page that
    others use gets a copy first. With a `window`, no layer sees more than so many positions, and
    pages before them are freed when a sequence grows. The last `PLACES` positions before the window
    are kept, so that as many tokens can be taken back.
    """

    def __init__(self, layout: PageLayout, pages: int, window: int = 0):
        self._memory = layout.new(pages)
        self.arrays = layout.tensors(self._memory)
        """The arguments of functions: parts of the first layer, then of the second, …."""
        self.window = window
        self._free = list(range(pages))[::-1]
        self._users = np.zeros(pages, np.int64)

    @property
    def count(self) -> int:
        """All pages."""
        return len(self._users)

    @property
    def free(self) -> int:
        """The pages that no sequence uses."""
        return len(self._free)

    def extend(self, sequence: CachedSequence, count: int) -> NDArray[np.int32]:
        """Make room for further positions; returns their slots.

        Raises MemoryError with one line, and changes nothing, if there are too few pages.
        """
        if (needed := self.needed(sequence, count)) > self.free:
            raise MemoryError(f"expected {needed} free pages of the cache, got {self.free}")
        for page in self._unseen(sequence):
            self._drop(page)
            del sequence.pages[0]
            sequence.dropped += 1
        if self._shares_last(sequence):
            self._own(sequence, sequence.length // PLACES - sequence.dropped)
        sequence.length += count
        while sequence.dropped + len(sequence.pages) < pages_of(sequence.length):
            sequence.pages.append(self._take())
        return sequence.slots(sequence.length - count)

    def needed(self, sequence: CachedSequence, count: int) -> int:
        """The free pages that further positions of a sequence take, with a copy of a shared one.

        Pages that this frees are counted if no other sequence uses them.
        """
        held = sequence.dropped + len(sequence.pages)
        freed = sum(int(self._users[page]) == 1 for page in self._unseen(sequence))
        return max(
            0, pages_of(sequence.length + count) - held + self._shares_last(sequence) - freed
        )

    def pages_for(self, length: int, chunk: int) -> int:
        """The most pages that a sequence of a length has at once, if it grows in such chunks."""
        if not self.window:
            return pages_of(length)
        return min(pages_of(length), pages_of(self.window + PLACES + chunk) + 1)

    def room(self, sequence: CachedSequence, chunk: int, context: int) -> int:
        """The length, at most a context, to which a sequence can grow in such chunks."""
        pages = len(sequence.pages) + self.free
        if pages >= self.pages_for(context, chunk):
            return context
        return min(context, (sequence.dropped + pages) * PLACES)

    def truncate(self, sequence: CachedSequence, length: int) -> None:
        """Forget the positions from a length on, which is 0 or one of `resumable`."""
        if not 0 <= length <= sequence.length:
            raise ValueError(f"expected a length of at most {sequence.length}, got {length}")
        if self.resumable(sequence, length) != length:
            raise ValueError(
                f"expected a length of 0, or whose window begins at {sequence.dropped * PLACES} or "
                f"later, got {length}"
            )
        while sequence.pages and sequence.dropped + len(sequence.pages) > pages_of(length):
            self._drop(sequence.pages.pop())
        sequence.length = length
        if not length:
            sequence.dropped = 0

    def resumable(self, sequence: CachedSequence, length: int) -> int:
        """The length if a sequence still has all that the next position sees, and 0 otherwise."""
        first = max(0, length + 1 - self.window)
        return length if not sequence.dropped or first >= sequence.dropped * PLACES else 0

    def fork(self, sequence: CachedSequence) -> CachedSequence:
        """Another sequence with the same positions, in the same pages."""
        self._users[sequence.pages] += 1
        return CachedSequence(list(sequence.pages), sequence.length, sequence.dropped)

    def _unseen(self, sequence: CachedSequence) -> list[int]:
        """The pages that nothing sees from the next position on, but for a page of positions."""
        if not self.window:
            return []
        first = max(0, sequence.length + 1 - self.window - PLACES) // PLACES
        return sequence.pages[: max(0, first - sequence.dropped)]

    def _shares_last(self, sequence: CachedSequence) -> bool:
        """Whether the next position is in a page that other sequences use."""
        last = sequence.length // PLACES - sequence.dropped
        return last < len(sequence.pages) and bool(self._users[sequence.pages[last]] > 1)

    def _own(self, sequence: CachedSequence, place: int) -> None:
        page, shared = self._take(), sequence.pages[place]
        for array in self._memory:
            array[page] = array[shared]
        self._drop(shared)
        sequence.pages[place] = page

    def _take(self) -> int:
        page = self._free.pop()
        self._users[page] = 1
        return page

    def _drop(self, page: int) -> None:
        self._users[page] -= 1
        if not self._users[page]:
            self._free.append(page)


def pages_of(length: int) -> int:
    """The pages that so many positions take."""
    return -(-length // PLACES)


def table_of(
    sequences: Sequence[CachedSequence], lengths: NDArray[np.int32], window: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The pages of sequences (sequences, columns) from the first that is seen, and lengths in them.

    Without a window, the first position is seen. The number of columns is a multiple of `COLUMNS`:
    sums over pages then have the same order, and a sequence the same bits, whatever the others are.
    """
    firsts = np.maximum(lengths - window, 0) // PLACES if window else np.zeros_like(lengths)
    seen = lengths - firsts * PLACES
    columns = pages_of(int(seen.max()))
    table = np.zeros((len(sequences), -(-columns // COLUMNS) * COLUMNS), np.int32)
    for row, sequence, first in zip(table, sequences, firsts.tolist(), strict=True):
        pages = sequence.pages[first - sequence.dropped :][: len(row)]
        row[: len(pages)] = pages
    return table, seen

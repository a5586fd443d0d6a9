"""Aligned memory for tensors and arenas."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
"""Alignment in bytes of allocations and of buffers in them: a cache line, the widest vector."""

_UINT8 = np.dtype(np.uint8)
# A ctypes array is the fastest small block of known address; large ones take time to zero.
_SMALL = tuple(ctypes.c_char * (ALIGNMENT * (lines + 1)) for lines in range(65))
_SMALL_LIMIT = ALIGNMENT * (len(_SMALL) - 1)

HUGE_PAGE = 1 << 21
"""Bytes of a huge page; the TLB covers much more memory with huge pages than with small ones."""

_HUGE_PAGES, _COLLAPSE = 14, 25  # Linux's MADV_HUGEPAGE and MADV_COLLAPSE


class Storage:
    """`nbytes` uninitialized bytes at a 64-byte aligned `address`, freed with the object.

    With `filled`, it is moved to huge pages now: memory that malloc returns a second time has small
    ones. With `pooled`, large memory comes from `BLOCKS` and returns there. Raises MemoryError if
    there is not enough memory.
    """

    __slots__ = ("__weakref__", "_block", "address", "nbytes")

    def __init__(self, nbytes: int, *, filled: bool = False, pooled: bool = False) -> None:
        self._block: object
        if nbytes <= _SMALL_LIMIT:
            self._block = small = _SMALL[(nbytes + ALIGNMENT - 1) // ALIGNMENT]()
            start = ctypes.addressof(small)
        elif pooled and nbytes >= HUGE_PAGE:
            self._block = block = BLOCKS.take(nbytes)
            start = buffer_address(block)
        else:
            self._block = large = _large_block(nbytes)
            start = buffer_address(large)
            use_huge_pages(start, nbytes, filled=filled)
        self.address: int = (start + ALIGNMENT - 1) & -ALIGNMENT
        self.nbytes = nbytes


def owner_of(
    release: Callable[..., object], *args: object, array: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    """An array, empty unless given, that calls `release` when nothing refers to it any more.

    No `__del__` of an object can do that: in a cycle, the garbage collector calls it before that of
    others, which may still use the object, or keep it. It does not know arrays.
    """
    owner = np.empty(0, _UINT8) if array is None else array
    finalize(owner, release, *args).atexit = False
    return owner


def buffer_address(array: npt.NDArray[Any]) -> int:
    """The data address of an array; TypeError or ValueError unless writable, packed, not empty.

    Several times faster than the array's own `__array_interface__` or `ctypes`.
    """
    return ctypes.addressof(ctypes.c_char.from_buffer(array))  # pyright: ignore[reportArgumentType]


def use_huge_pages(address: int, nbytes: int, *, filled: bool = False) -> None:
    """Ask Linux for huge pages inside a block; with `filled`, move the contents to them now.

    It has no effect on memory that cannot have them, such as mapped files.
    """
    first, last = (address + HUGE_PAGE - 1) & -HUGE_PAGE, (address + nbytes) & -HUGE_PAGE
    if first < last and sys.platform == "linux":
        advise = _advise()
        if advise(first, last - first, _HUGE_PAGES) == 0 and filled:
            advise(first, last - first, _COLLAPSE)


@cache
def _advise() -> Callable[[int, int, int], int]:
    function = ctypes.CDLL(None).madvise
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


def _large_block(nbytes: int) -> npt.NDArray[np.uint8]:
    """Uninitialized memory, with padding for alignment."""
    if nbytes <= sys.maxsize - ALIGNMENT:
        try:
            return np.empty(nbytes + ALIGNMENT, _UINT8)
        except MemoryError:
            pass
    raise MemoryError(f"cannot allocate {nbytes} bytes")


class BlockPool:
    """A thread-safe pool of large blocks, whose pages exist: a page's first use has it zeroed.

    As TVM's pooled allocator, but it holds at most `limit` bytes.
    """

    __slots__ = ("_free", "_limit")

    def __init__(self, limit: int) -> None:
        self._free: dict[int, list[npt.NDArray[np.uint8]]] = {}
        self._limit = limit

    def take(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """A block of at least `nbytes`, which returns to the pool when nothing refers to it."""
        size = -(-nbytes // HUGE_PAGE) * HUGE_PAGE
        try:
            data = self._free[size].pop()
        except (KeyError, IndexError):
            data = self._new(size)
        return owner_of(self.give, data, array=data.view())

    def _new(self, size: int) -> npt.NDArray[np.uint8]:
        try:
            data = _large_block(size)
        except MemoryError:
            self._free.clear()
            data = _large_block(size)
        use_huge_pages(buffer_address(data), size)
        return data

    def give(self, data: npt.NDArray[np.uint8]) -> None:
        """Keep a block; frees all if they are more than the limit, also if threads give at once."""
        self._free.setdefault(data.nbytes - ALIGNMENT, []).append(data)
        if self.nbytes > self._limit:
            self._free.clear()

    @property
    def nbytes(self) -> int:
        """How many bytes wait for a use."""
        return sum(size * len(blocks) for size, blocks in self._free.copy().items())


BLOCKS = BlockPool(limit=1 << 28)
"""The memory of former results."""


class ArenaPool:
    """A thread-safe pool of scratch memory: `free` has the arenas of finished calls.

    It holds an arena for each of the most calls that ran at the same time, as large as needed.
    Native code takes arenas from the list and returns them in the same way.
    """

    __slots__ = ("free",)

    def __init__(self) -> None:
        self.free: list[Storage] = []

    def take(self, nbytes: int) -> Storage:
        """An arena of at least `nbytes` for exclusive use until `give`."""
        try:
            arena = self.free.pop()
        except IndexError:
            return Storage(nbytes, filled=True)
        return arena if arena.nbytes >= nbytes else Storage(nbytes, filled=True)

    def give(self, arena: Storage) -> None:
        """Return an arena to the pool, when no pointer to it is in use."""
        self.free.append(arena)

    def __len__(self) -> int:
        return len(self.free)

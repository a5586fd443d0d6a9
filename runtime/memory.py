"""Aligned memory that tensors and arenas own."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
"""Bytes to which allocations and what lies in them are aligned: a cache line, the widest vector."""

_UINT8 = np.dtype(np.uint8)
# A ctypes array is the quickest small block of known address; it comes zeroed, so not for large.
_SMALL = tuple(ctypes.c_char * (ALIGNMENT * (lines + 1)) for lines in range(65))
_SMALL_LIMIT = ALIGNMENT * (len(_SMALL) - 1)

HUGE_PAGE = 1 << 21
"""Bytes of a huge page; the TLB covers much more memory with huge pages than with small ones."""

_HUGE_PAGES, _COLLAPSE = 14, 25  # Linux's MADV_HUGEPAGE and MADV_COLLAPSE


class Storage:
    """`nbytes` uninitialised bytes at a 64-byte aligned `address`, freed with the object.

    Raises MemoryError where there is no such memory.
    """

    __slots__ = ("__weakref__", "_block", "address", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self._block: object
        if nbytes <= _SMALL_LIMIT:
            self._block = small = _SMALL[(nbytes + ALIGNMENT - 1) // ALIGNMENT]()
            start = ctypes.addressof(small)
        else:
            self._block = large = _large_block(nbytes)
            start = buffer_address(large)
            use_huge_pages(start, nbytes)
        self.address: int = (start + ALIGNMENT - 1) & -ALIGNMENT
        self.nbytes = nbytes


def buffer_address(array: npt.NDArray[Any]) -> int:
    """The data address of an array; TypeError or ValueError unless writable, packed, not empty.

    Several times faster than the array's own `__array_interface__` or `ctypes`.
    """
    return ctypes.addressof(ctypes.c_char.from_buffer(array))  # pyright: ignore[reportArgumentType]


def use_huge_pages(address: int, nbytes: int, *, filled: bool = False) -> None:
    """Ask Linux for huge pages where whole ones fit in; with `filled`, contents move there now.

    Memory that cannot have them, such as that of files, stays as it is.
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
    """Uninitialised memory with room to align."""
    if nbytes <= sys.maxsize - ALIGNMENT:
        try:
            return np.empty(nbytes + ALIGNMENT, _UINT8)
        except MemoryError:
            pass
    raise MemoryError(f"cannot allocate {nbytes} bytes")


class ArenaPool:
    """A thread-safe pool of scratch memory: `free` has the arenas of finished calls.

    It holds as many arenas as calls have run at the same time, each as large as was needed. Native
    code takes them from the list, and puts them back, in the same way.
    """

    __slots__ = ("free",)

    def __init__(self) -> None:
        self.free: list[Storage] = []

    def take(self, nbytes: int) -> Storage:
        """An arena of at least `nbytes` that nobody else uses until it is given back."""
        try:
            arena = self.free.pop()
        except IndexError:
            return Storage(nbytes)
        return arena if arena.nbytes >= nbytes else Storage(nbytes)

    def give(self, arena: Storage) -> None:
        """Return an arena to which no pointer is left."""
        self.free.append(arena)

    def __len__(self) -> int:
        return len(self.free)

"""Arrays between unmapped pages: an access beside the array ends the process.

An array ends where its memory ends, or begins where that begins. The rest of its pages is filled
with a pattern, and `Guarded.is_intact` says whether it still is.
"""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

from .numbers import Array

PAGE = mmap.PAGESIZE
PROT_NONE = 0
PATTERN = 0xA5
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class Guarded:
    """Pages of memory for one array at a time, with an unmapped page at either side."""

    def __init__(self) -> None:
        self.pages: mmap.mmap | None = None
        self.room = 0
        self.slack: list[Array] = []

    def place(self, values: Array, at_end: bool) -> Array:
        """A copy of an array that touches one of the unmapped pages."""
        self._grow(values.nbytes)
        memory = np.frombuffer(self.pages, np.uint8)[PAGE : PAGE + self.room]
        memory[:] = PATTERN
        start = self.room - values.nbytes if at_end else 0
        self.slack = [memory[:start], memory[start + values.nbytes :]]
        found = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
        found[...] = values
        return found

    def is_intact(self) -> bool:
        """Whether nothing was written beside the array."""
        return all((part == PATTERN).all() for part in self.slack)

    def _grow(self, size: int) -> None:
        """Memory for `size` bytes, of which the pages before and after are unmapped."""
        if size <= self.room and self.pages is not None:
            return
        self.room = max(-(-size // PAGE), 1) * PAGE
        self.pages = mmap.mmap(-1, self.room + 2 * PAGE)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        for address in (first, first + PAGE + self.room):
            if _libc.mprotect(address, PAGE, PROT_NONE):
                raise OSError(ctypes.get_errno(), "mprotect")

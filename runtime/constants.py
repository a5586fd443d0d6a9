"""The constants of an executable, and the values computed from them once, when it is loaded."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import accumulate
from typing import cast

import numpy as np

from .call import CompiledFunction
from .callback import ReadOnlyMemory
from .layout import Layout
from .memory import ALIGNMENT, HUGE_PAGE, ArenaPool, Storage, use_huge_pages
from .signature import LoadSpec, TensorSpec
from .tensor import Tensor, as_tensor

LARGE = 2 * HUGE_PAGE
"""Bytes from which a constant gets its own huge pages."""

LEAST_GATHERED, MAX_GATHERED = HUGE_PAGE // 8, 16 * HUGE_PAGE
"""Total bytes of smaller constants that are copied to contiguous huge pages. On small pages, which
are scattered in physical memory, constants that fit in a cache can still conflict in its sets.
Constants that are together larger than the cache are not copied.
"""


class Constants:
    """The table of addresses that native code reads: of constants, then of computed values.

    `given` are the constants, shared and not copied, except small ones of `LEAST_GATHERED` bytes in
    total, which are contiguous on huge pages. `computed` is empty until `compute` ran.
    """

    def __init__(self, given: Iterable[object], load: LoadSpec | None) -> None:
        self.computed: tuple[Tensor, ...] = ()
        self._load = load
        read_once = () if load is None else load.sources
        self.given: tuple[Tensor, ...] = _gathered([_packed(c) for c in given], read_once)
        for number, tensor in enumerate(self.given):
            if number not in read_once:
                use_huge_pages(tensor.address, tensor.layout.nbytes, filled=True)
        places = len(self.given) + (0 if load is None else len(load.function.results))
        self._table = (ctypes.c_int64 * max(places, 1))(*(c.address for c in self.given))
        self._lock = threading.Lock()

    @property
    def table(self) -> int:
        """The address of the table."""
        return ctypes.addressof(self._table)

    def compute(self, library: object, address: Callable[[str], int]) -> None:
        """Run the function that computes the rest, unless it ran; raises as its call does."""
        with self._lock:
            if self._load is None or self.computed:
                return
            spec, read_only = self._load.function, ReadOnlyMemory(self.given)
            owners = (library, self)
            # Its scratch memory, as large as the weights, is freed with this pool.
            run = CompiledFunction(
                spec, address(spec.entry), self.table, ArenaPool(), owners, read_only
            )
            self.computed = run(out=_neighbours(spec.results))
            for place, tensor in enumerate(self.computed, len(self.given)):
                self._table[place] = tensor.address

    def after_load(self) -> tuple[Tensor, ...]:
        """The table's tensors once `compute` ran, with empty ones that no function reads."""
        sources = () if self._load is None else self._load.sources
        unread = as_tensor(np.empty(0, np.uint8))
        kept = [unread if n in sources else c for n, c in enumerate(self.given)]
        return (*kept, *self.computed)

    def read_only(self) -> ReadOnlyMemory:
        """All of this memory."""
        return ReadOnlyMemory((*self.given, *self.computed))


def _gathered(given: Sequence[Tensor], read_once: Container[int]) -> tuple[Tensor, ...]:
    """The constants; small ones that each call reads are copied to contiguous memory."""
    small = [n for n, c in enumerate(given) if n not in read_once and c.layout.nbytes < LARGE]
    if not LEAST_GATHERED <= sum(given[n].layout.nbytes for n in small) <= MAX_GATHERED:
        return tuple(given)
    result = list(given)
    for n, place in zip(small, _side_by_side([given[n].layout for n in small]), strict=True):
        ctypes.memmove(place.address, given[n].address, place.layout.nbytes)
        result[n] = place
    return tuple(result)


def _neighbours(specs: Sequence[TensorSpec]) -> tuple[Tensor, ...]:
    """Tensors with undefined values in one block of memory."""
    return _side_by_side(
        [Layout(tuple(cast("tuple[int, ...]", s.shape)), s.dtype, None, True) for s in specs]
    )


def _side_by_side(layouts: Sequence[Layout]) -> tuple[Tensor, ...]:
    """Tensors with undefined values in one block of memory, of huge pages if it is large."""
    sizes = [-(-layout.nbytes // ALIGNMENT) * ALIGNMENT for layout in layouts]
    needed, unit = sum(sizes), HUGE_PAGE if sum(sizes) >= LEAST_GATHERED else ALIGNMENT
    storage = Storage(-(-needed // unit) * unit + unit)
    starts = accumulate(sizes, initial=-(-storage.address // unit) * unit)
    return tuple(
        Tensor(start, layout, storage) for layout, start in zip(layouts, starts, strict=False)
    )


def _packed(constant: object) -> Tensor:
    tensor = as_tensor(constant)
    return tensor if tensor.layout.packed else tensor.contiguous_copy()

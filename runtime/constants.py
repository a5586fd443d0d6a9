"""The constants of an executable, and what its code computes of them once, when it is loaded."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import cast

from .call import CompiledFunction
from .callback import ReadOnlyMemory
from .layout import Layout
from .memory import ALIGNMENT, ArenaPool, Storage, use_huge_pages
from .signature import LoadSpec, TensorSpec
from .tensor import Tensor, as_tensor


class Constants:
    """The table of addresses that native code reads: of constants, then of what was computed.

    `given` are the constants, shared and not copied; `computed` is empty until `compute` ran.
    """

    def __init__(self, given: Iterable[object], load: LoadSpec | None) -> None:
        self.given: tuple[Tensor, ...] = tuple(_packed(c) for c in given)
        self.computed: tuple[Tensor, ...] = ()
        self._load = load
        read_once = () if load is None else load.sources
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
        """Run the function that computes the rest, unless it ran; raises what a call of it does."""
        with self._lock:
            if self._load is None or self.computed:
                return
            spec, read_only = self._load.function, ReadOnlyMemory(self.given)
            owners = (library, self)
            # Its scratch memory, as large as the weights, goes with the pool.
            run = CompiledFunction(
                spec, address(spec.entry), self.table, ArenaPool(), owners, read_only
            )
            self.computed = run(out=_neighbours(spec.results))
            for place, tensor in enumerate(self.computed, len(self.given)):
                self._table[place] = tensor.address

    def read_only(self) -> ReadOnlyMemory:
        """All of this memory."""
        return ReadOnlyMemory((*self.given, *self.computed))


def _neighbours(specs: Sequence[TensorSpec]) -> tuple[Tensor, ...]:
    """Tensors with undefined values in one block of memory: of few, huge pages."""
    layouts = [Layout(tuple(cast("tuple[int, ...]", s.shape)), s.dtype, None, True) for s in specs]
    sizes = [-(-layout.nbytes // ALIGNMENT) * ALIGNMENT for layout in layouts]
    storage = Storage(sum(sizes))
    starts = accumulate(sizes, initial=storage.address)
    return tuple(
        Tensor(start, layout, storage) for layout, start in zip(layouts, starts, strict=False)
    )


def _packed(constant: object) -> Tensor:
    tensor = as_tensor(constant)
    return tensor if tensor.layout.packed else tensor.contiguous_copy()

"""The cache of keys and values of a language model, in pages, and how the graph uses it.

A page has places for `PLACES` positions of one sequence. Keys of a layer are (pages, key heads,
size, places), so that the scores of several positions are a vector; values are (pages, key heads,
places, size). Sequences share the pages of a common prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import te
from ..builder import op
from ..builder.block_builder import BlockBuilder
from ..ir.expr import Expr, Var
from ..ir.struct_info import TensorStructInfo
from ..script import tir as T

PLACES = 32
"""The positions of a page."""


def key_writer(heads: int, size: int, dtype: str) -> Any:
    """The kernel that stores keys (n, heads, size) at places of pages."""

    @T.prim_func(private=True)
    def write_keys(keys: T.handle, slots: T.handle, pages: T.handle):
        n, count = T.int64(), T.int64()
        X = T.match_buffer(keys, (n, heads, size), "float32")
        S = T.match_buffer(slots, (n,), "int32")
        Y = T.match_buffer(pages, (count, heads, size, PLACES), dtype)
        for i, h, d in T.grid(n, heads, size):
            with T.block("keys"):
                vi, vh, vd = T.axis.remap("SSS", [i, h, d])
                Y[S[vi] // PLACES, vh, vd, S[vi] % PLACES] = T.Cast(dtype, X[vi, vh, vd])

    return write_keys


def value_writer(heads: int, size: int, dtype: str) -> Any:
    """The kernel that stores values (n, heads, size) at places of pages."""

    @T.prim_func(private=True)
    def write_values(values: T.handle, slots: T.handle, pages: T.handle):
        n, count = T.int64(), T.int64()
        X = T.match_buffer(values, (n, heads, size), "float32")
        S = T.match_buffer(slots, (n,), "int32")
        Y = T.match_buffer(pages, (count, heads, PLACES, size), dtype)
        for i, h, d in T.grid(n, heads, size):
            with T.block("values"):
                vi, vh, vd = T.axis.remap("SSS", [i, h, d])
                Y[S[vi] // PLACES, vh, S[vi] % PLACES, vd] = T.Cast(dtype, X[vi, vh, vd])

    return write_values


@dataclass(frozen=True)
class PageLayout:
    """The sizes of a cache."""

    layers: int
    heads: int
    size: int
    dtype: str = "float16"

    def parameters(self) -> dict[str, TensorStructInfo]:
        """The pages of all layers as parameters of a function: ``keys_0``, ``values_0``, …"""
        keys = ("pages", self.heads, self.size, PLACES), ("pages", self.heads, PLACES, self.size)
        return {
            f"{kind}_{layer}": TensorStructInfo(shape, self.dtype)
            for layer in range(self.layers)
            for kind, shape in zip(("keys", "values"), keys, strict=True)
        }

    def new(self, pages: int) -> list[NDArray[Any]]:
        """Empty pages in the order of `parameters`."""
        shapes = (self.heads, self.size, PLACES), (self.heads, PLACES, self.size)
        return [np.zeros((pages, *s), self.dtype) for _ in range(self.layers) for s in shapes]


class PagesInGraph:
    """The pages of a function's layers; `write` stores into the memory of its parameters."""

    def __init__(self, layout: PageLayout, pages: Sequence[Var], slots: Var):
        builder = BlockBuilder.current()
        assert builder is not None
        sizes = layout.heads, layout.size, layout.dtype
        self._write_keys = builder.add_func(key_writer(*sizes), "write_keys")
        self._write_values = builder.add_func(value_writer(*sizes), "write_values")
        self._pages, self._slots = list(pages), slots

    def write(self, layer: int, keys: Expr, values: Expr) -> tuple[Expr, Expr]:
        """Store keys and values (n, heads, size) at the slots; returns the layer's pages."""
        written: list[Expr] = []
        kernels = (self._write_keys, keys), (self._write_values, values)
        for pages, (kernel, new) in zip(self._pages[2 * layer :], kernels, strict=False):
            info = pages.struct_info
            written.append(
                op.call_tir_inplace(kernel, [new, self._slots, pages], [2], out_sinfo=info)
            )
        self._pages[2 * layer : 2 * layer + 2] = written
        return written[0], written[1]

    def read(self, layer: int, slots: Expr) -> list[Expr]:
        """Keys and values (1, n, key heads, size) at slots, in float32."""
        builder = BlockBuilder.current()
        assert builder is not None
        kinds = zip((_read_keys, _read_values), self._pages[2 * layer :], strict=False)
        return [builder.call_te(read, pages, slots) for read, pages in kinds]


def _read_keys(pages: te.Tensor, slots: te.Tensor) -> te.Tensor:
    def element(_: Any, i: Any, h: Any, d: Any) -> Any:
        return pages[slots[i] // PLACES, h, d, slots[i] % PLACES].astype("float32")

    _, heads, size, _ = pages.shape
    return te.compute((1, slots.shape[0], heads, size), element, name="keys")


def _read_values(pages: te.Tensor, slots: te.Tensor) -> te.Tensor:
    def element(_: Any, i: Any, h: Any, d: Any) -> Any:
        return pages[slots[i] // PLACES, h, slots[i] % PLACES, d].astype("float32")

    _, heads, _, size = pages.shape
    return te.compute((1, slots.shape[0], heads, size), element, name="values")


@dataclass
class CachedSequence:
    """A sequence in the cache: its pages, and the positions that are filled."""

    pages: list[int] = field(default_factory=lambda: [])
    length: int = 0

    def slots(self) -> NDArray[np.int32]:
        """The place of each position: the page times `PLACES`, and the place in it."""
        pages = np.asarray(self.pages, np.int32)[:, None] * PLACES
        return (pages + np.arange(PLACES, dtype=np.int32)).reshape(-1)[: self.length]


class PagePool:
    """Which pages are free, and which sequences use the others.

    Pages of a common prefix belong to several sequences; a sequence that writes into a page that
    others use gets a copy first.
    """

    def __init__(self, layout: PageLayout, pages: int):
        self.arrays = layout.new(pages)
        self._free = list(range(pages))[::-1]
        self._users = np.zeros(pages, np.int64)

    @property
    def free(self) -> int:
        """The pages that no sequence uses."""
        return len(self._free)

    def extend(self, sequence: CachedSequence, count: int) -> NDArray[np.int32]:
        """Make room for further positions; returns their slots.

        Raises MemoryError with one line, and changes nothing, if there are too few pages.
        """
        end = sequence.length + count
        needed = -(-end // PLACES) - len(sequence.pages)
        last = sequence.length // PLACES
        copies = sequence.length % PLACES and self._users[sequence.pages[last]] > 1
        if needed + bool(copies) > self.free:
            raise MemoryError(f"expected {needed} free pages of the cache, got {self.free}")
        if copies:
            self._own(sequence, last)
        for _ in range(needed):
            sequence.pages.append(self._take())
        sequence.length = end
        return sequence.slots()[end - count :]

    def truncate(self, sequence: CachedSequence, length: int) -> None:
        """Forget the positions from a length on."""
        if not 0 <= length <= sequence.length:
            raise ValueError(f"expected a length of at most {sequence.length}, got {length}")
        while len(sequence.pages) > -(-length // PLACES):
            self._drop(sequence.pages.pop())
        sequence.length = length

    def fork(self, sequence: CachedSequence) -> CachedSequence:
        """Another sequence with the same positions, in the same pages."""
        self._users[sequence.pages] += 1
        return CachedSequence(list(sequence.pages), sequence.length)

    def _own(self, sequence: CachedSequence, place: int) -> None:
        page, shared = self._take(), sequence.pages[place]
        for array in self.arrays:
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


def table_of(sequences: Sequence[CachedSequence]) -> NDArray[np.int32]:
    """The pages of sequences (sequences, pages of the longest one)."""
    table = np.zeros((len(sequences), max(len(s.pages) for s in sequences)), np.int32)
    for row, sequence in zip(table, sequences, strict=True):
        row[: len(sequence.pages)] = sequence.pages
    return table

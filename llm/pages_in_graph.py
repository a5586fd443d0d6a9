"""The pages of the cache in the functions of a language model: calls that write and read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import te
from ..builder import op
from ..builder.block_builder import BlockBuilder
from ..ir.expr import Expr, Var
from ..ir.struct_info import TensorStructInfo
from .page_writers import writers
from .pages import PLACES, PageLayout


def page_parameters(layout: PageLayout) -> dict[str, TensorStructInfo]:
    """The pages of all layers as parameters of a function: ``keys_0``, ``values_0``, …"""
    return {
        f"{part}_{layer}": TensorStructInfo(("pages", *shape), dtype)
        for layer in range(layout.layers)
        for part, (shape, dtype) in layout.parts.items()
    }


class PagesInGraph:
    """The pages of a function's layers; `write` stores into the memory of its parameters."""

    def __init__(self, layout: PageLayout, pages: Sequence[Var], slots: Var):
        builder = BlockBuilder.current()
        assert builder is not None
        self._writers = {
            name: builder.add_func(kernel, f"write_{name}")
            for name, kernel in writers(layout).items()
        }
        self._parts, self._slots = list(layout.parts), slots
        count = len(self._parts)
        self._pages: list[list[Expr]] = [
            list(pages[at : at + count]) for at in range(0, len(pages), count)
        ]

    def write(self, layer: int, keys: Expr, values: Expr) -> list[Expr]:
        """Store keys and values (n, heads, size) at the slots; returns the layer's arrays.

        They are keys and values, and then the scales of both if there are some.
        """
        pages, written = self._pages[layer], list[list[Expr]]()
        for number, (kernel, new) in enumerate(
            zip(self._writers.values(), (keys, values), strict=True)
        ):
            own = pages[number::2]
            infos = [p.struct_info for p in own]
            found = op.call_tir_inplace(
                kernel,
                [new, self._slots, *own],
                list(range(2, 2 + len(own))),
                out_sinfo=infos if len(own) > 1 else infos[0],
            )
            written.append([found[i] for i in range(len(own))] if len(own) > 1 else [found])
        self._pages[layer] = [p for pair in zip(*written, strict=True) for p in pair]
        return self._pages[layer]

    def read(self, layer: int, slots: Expr, dtype: str) -> list[Expr]:
        """Keys and values (1, n, key heads, size) at slots, in a dtype."""
        builder = BlockBuilder.current()
        assert builder is not None
        pages = self._pages[layer]
        return [
            builder.call_te(read, slots, dtype, *pages[number::2])
            for number, read in enumerate((_read_keys, _read_values))
        ]


def _read_keys(slots: te.Tensor, dtype: str, pages: te.Tensor, *scales: te.Tensor) -> te.Tensor:
    def element(_: Any, i: Any, h: Any, d: Any) -> Any:
        number = pages[slots[i] // PLACES, h, d, slots[i] % PLACES]
        return _scaled(number, slots[i], h, scales, dtype)

    _, heads, size, _ = pages.shape
    return te.compute((1, slots.shape[0], heads, size), element, name="keys")


def _read_values(slots: te.Tensor, dtype: str, pages: te.Tensor, *scales: te.Tensor) -> te.Tensor:
    def element(_: Any, i: Any, h: Any, d: Any) -> Any:
        number = pages[slots[i] // PLACES, h, slots[i] % PLACES, d]
        return _scaled(number, slots[i], h, scales, dtype)

    _, heads, _, size = pages.shape
    return te.compute((1, slots.shape[0], heads, size), element, name="values")


def _scaled(number: Any, slot: Any, head: Any, scales: Sequence[te.Tensor], dtype: str) -> Any:
    """What a number of a page stands for, in a dtype."""
    for own in scales:
        number = number.astype("float32") * own[slot // PLACES, head, slot % PLACES]
    return number.astype(dtype)

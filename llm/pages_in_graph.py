"""The pages of the cache in the functions of a language model: kernels that write and read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import te
from ..builder import op
from ..builder.block_builder import BlockBuilder
from ..ir.expr import Expr, Var
from ..ir.struct_info import TensorStructInfo
from ..script import tir as T
from .pages import PLACES, PageLayout


def page_parameters(layout: PageLayout) -> dict[str, TensorStructInfo]:
    """The pages of all layers as parameters of a function: ``keys_0``, ``values_0``, …"""
    shapes = {
        "keys": ("pages", layout.heads, layout.size, PLACES),
        "values": ("pages", layout.heads, PLACES, layout.size),
    }
    return {
        f"{kind}_{layer}": TensorStructInfo(shape, layout.dtype)
        for layer in range(layout.layers)
        for kind, shape in shapes.items()
    }


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


class PagesInGraph:
    """The pages of a function's layers; `write` stores into the memory of its parameters."""

    def __init__(self, layout: PageLayout, pages: Sequence[Var], slots: Var):
        builder = BlockBuilder.current()
        assert builder is not None
        sizes = layout.heads, layout.size, layout.dtype
        self._write_keys = builder.add_func(key_writer(*sizes), "write_keys")
        self._write_values = builder.add_func(value_writer(*sizes), "write_values")
        self._pages: list[Expr] = list(pages)
        self._slots = slots

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

    def read(self, layer: int, slots: Expr, dtype: str) -> list[Expr]:
        """Keys and values (1, n, key heads, size) at slots, in a dtype."""
        builder = BlockBuilder.current()
        assert builder is not None
        kinds = zip((_read_keys, _read_values), self._pages[2 * layer :], strict=False)
        return [builder.call_te(read, pages, slots, dtype) for read, pages in kinds]


def _read_keys(pages: te.Tensor, slots: te.Tensor, dtype: str) -> te.Tensor:
    def element(_: Any, i: Any, h: Any, d: Any) -> Any:
        return pages[slots[i] // PLACES, h, d, slots[i] % PLACES].astype(dtype)

    _, heads, size, _ = pages.shape
    return te.compute((1, slots.shape[0], heads, size), element, name="keys")


def _read_values(pages: te.Tensor, slots: te.Tensor, dtype: str) -> te.Tensor:
    def element(_: Any, i: Any, h: Any, d: Any) -> Any:
        return pages[slots[i] // PLACES, h, slots[i] % PLACES, d].astype(dtype)

    _, heads, _, size = pages.shape
    return te.compute((1, slots.shape[0], heads, size), element, name="values")

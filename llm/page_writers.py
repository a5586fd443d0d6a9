"""The kernels that store keys and values of tokens at their places in pages of the cache."""

from __future__ import annotations

from typing import Any

from ..script import tir as T
from .pages import PLACES, PageLayout

LARGEST = 127.0
"""The largest magnitude of int8: -128 is not used, so that numbers have their negatives."""


def writers(layout: PageLayout) -> dict[str, Any]:
    """The kernels of keys and of values, by these names."""
    sizes = layout.heads, layout.size
    if layout.has_scales:
        return {"keys": int8_key_writer(*sizes), "values": int8_value_writer(*sizes)}
    return {"keys": key_writer(*sizes, layout.dtype), "values": value_writer(*sizes, layout.dtype)}


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


def int8_key_writer(heads: int, size: int) -> Any:
    """The kernel that rounds keys to multiples of the 127th part of their largest magnitude.

    This part is the scale of a position and head. A NaN makes the scale, and so all keys, NaN.
    """

    @T.prim_func(private=True)
    def write_keys(keys: T.handle, slots: T.handle, pages: T.handle, scales: T.handle):
        n, count = T.int64(), T.int64()
        X = T.match_buffer(keys, (n, heads, size), "float32")
        S = T.match_buffer(slots, (n,), "int32")
        Y = T.match_buffer(pages, (count, heads, size, PLACES), "int8")
        Z = T.match_buffer(scales, (count, heads, PLACES), "float32")
        M = T.alloc_buffer((n, heads))
        for i, h, d in T.grid(n, heads, size):
            with T.block("largest"):
                vi, vh, vd = T.axis.remap("SSR", [i, h, d])
                with T.init():
                    M[vi, vh] = 0.0
                M[vi, vh] = T.max(M[vi, vh], T.abs(X[vi, vh, vd]))
        for i, h in T.grid(n, heads):
            with T.block("scales"):
                vi, vh = T.axis.remap("SS", [i, h])
                Z[S[vi] // PLACES, vh, S[vi] % PLACES] = M[vi, vh] / T.float32(LARGEST)
        for i, h, d in T.grid(n, heads, size):
            with T.block("keys"):
                vi, vh, vd = T.axis.remap("SSS", [i, h, d])
                Y[S[vi] // PLACES, vh, vd, S[vi] % PLACES] = T.Cast(
                    "int8", T.round(X[vi, vh, vd] / (M[vi, vh] / T.float32(LARGEST)))
                )

    return write_keys


def int8_value_writer(heads: int, size: int) -> Any:
    """The kernel that rounds values as `int8_key_writer` does keys."""

    @T.prim_func(private=True)
    def write_values(values: T.handle, slots: T.handle, pages: T.handle, scales: T.handle):
        n, count = T.int64(), T.int64()
        X = T.match_buffer(values, (n, heads, size), "float32")
        S = T.match_buffer(slots, (n,), "int32")
        Y = T.match_buffer(pages, (count, heads, PLACES, size), "int8")
        Z = T.match_buffer(scales, (count, heads, PLACES), "float32")
        M = T.alloc_buffer((n, heads))
        for i, h, d in T.grid(n, heads, size):
            with T.block("largest"):
                vi, vh, vd = T.axis.remap("SSR", [i, h, d])
                with T.init():
                    M[vi, vh] = 0.0
                M[vi, vh] = T.max(M[vi, vh], T.abs(X[vi, vh, vd]))
        for i, h in T.grid(n, heads):
            with T.block("scales"):
                vi, vh = T.axis.remap("SS", [i, h])
                Z[S[vi] // PLACES, vh, S[vi] % PLACES] = M[vi, vh] / T.float32(LARGEST)
        for i, h, d in T.grid(n, heads, size):
            with T.block("values"):
                vi, vh, vd = T.axis.remap("SSS", [i, h, d])
                Y[S[vi] // PLACES, vh, S[vi] % PLACES, vd] = T.Cast(
                    "int8", T.round(X[vi, vh, vd] / (M[vi, vh] / T.float32(LARGEST)))
                )

    return write_values

"""Conversions that keep the bits of values."""

from __future__ import annotations

from ....dialects.dtypes import bit_width
from ..context import Context
from ..registry import converts
from ..tensor import Tensor
from ..weights import dtype_of_element


@converts("BitCast")
def bit_cast(ctx: Context, x: Tensor, *, to: int) -> Tensor:
    """The bits of values as another dtype of the same width."""
    dtype = dtype_of_element(to)
    if _bytes(dtype) != _bytes(x.dtype):
        raise ValueError(f"expected a dtype as wide as {x.dtype}, got {dtype}")
    if x.dtype == dtype:
        return x
    if "bool" in (x.dtype, dtype):
        return ctx.astype(x, dtype)
    if x.dtype == "bfloat16":
        # They are the upper halves of float32 numbers.
        bits = ctx.emit("bitcast", ctx.astype(x, "float32"), dtype="uint32")
        half = ctx.emit("right_shift", bits, ctx.number(16, "uint32"))
        return _of_bits(ctx, ctx.astype(half, "uint16"), dtype)
    if dtype == "bfloat16":
        bits = ctx.astype(_of_bits(ctx, x, "uint16"), "uint32")
        whole = ctx.emit("left_shift", bits, ctx.number(16, "uint32"))
        return ctx.astype(ctx.emit("bitcast", whole, dtype="float32"), dtype)
    return _of_bits(ctx, x, dtype)


def _of_bits(ctx: Context, x: Tensor, dtype: str) -> Tensor:
    return x if x.dtype == dtype else ctx.emit("bitcast", x, dtype=dtype)


def _bytes(dtype: str) -> int:
    return max(bit_width(dtype), 8) // 8

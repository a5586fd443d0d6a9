"""Cases of `relax.quantize` and `relax.dequantize`."""

from __future__ import annotations

from typing import Any

from drawing import FLOATS, Draw
from harness import Case, torch

STORED = ("int8", "uint8", "int16")


def parameters(d: Draw, shape: tuple[int, ...], scale: str, stored: str):
    """An axis, and scales and zero points for all elements or along it."""
    axis = d.axis(len(shape)) if shape else -1
    own = (shape[axis],) if shape and d.chance(60) else ()
    scales = d.array(own, 0.05, 0.5, scale)
    return {"axis": axis} if axis != -1 else {}, scales, d.array(own, -20, 20, stored)


def floats(d: Draw):
    shape = d.shape()
    stored = d.pick(("int8", "uint8"))
    attributes, scale, zero_point = parameters(d, shape, d.dtype, stored)
    data = d.array(shape, -60, 60)
    return [data, scale, zero_point], {**attributes, "out_dtype": stored}


def integers(d: Draw):
    shape = d.shape()
    out_dtype = d.pick(("float32", "float16", "float64"))
    attributes, scale, zero_point = parameters(d, shape, "float32", d.dtype)
    return [d.array(shape, -128, 255), scale, zero_point], {**attributes, "out_dtype": out_dtype}


def _spread(x: Any, like: Any, axis: int):
    return (
        x.reshape([-1 if a == axis % like.ndim else 1 for a in range(like.ndim)]) if x.ndim else x
    )


def quantized(x: Any, scale: Any, zero_point: Any, axis: int = -1, out_dtype: str = "int8"):
    wide = torch.promote_types(x.dtype, torch.float32)
    scale, zero_point = (_spread(p.to(wide), x, axis) for p in (scale, zero_point))
    limits = torch.iinfo(getattr(torch, out_dtype))
    whole = torch.round(x.to(wide) / scale) + zero_point
    return whole.clamp(limits.min, limits.max).to(getattr(torch, out_dtype))


def dequantized(x: Any, scale: Any, zero_point: Any, axis: int = -1, out_dtype: str = "float32"):
    difference = x.to(torch.int32) - _spread(zero_point.to(torch.int32), x, axis)
    wide = torch.promote_types(getattr(torch, out_dtype), torch.float32)
    product = difference.to(wide) * _spread(scale.to(wide), x, axis)
    return product.to(getattr(torch, out_dtype))


CASES = (
    Case("relax.quantize", floats, quantized, FLOATS),
    Case("relax.dequantize", integers, dequantized, (*STORED, "int32")),
)

"""Discrete Fourier transforms as matmuls, and the matrix of mel bands."""

from __future__ import annotations

from math import log10
from typing import Any

import numpy as np

from ....dialects.int_expr import ONE, ZERO, IntExpr, maximum
from ... import fourier
from ...unsupported import Unsupported
from ..context import Context
from ..formula import HALF
from ..registry import converts
from ..tensor import Tensor, axis_of
from ..weights import dtype_of_element
from .slicing import padded, part


@converts("DFT")
def transform_of_attribute(
    ctx: Context,
    x: Tensor,
    length: Tensor | None = None,
    *,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    """The discrete Fourier transform along an axis, before opset 20."""
    return transformed(ctx, x, length, axis_of(axis, x.rank), bool(inverse), bool(onesided))


@converts("DFT", since=20)
def transform(
    ctx: Context,
    x: Tensor,
    length: Tensor | None = None,
    axis: Tensor | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    """The discrete Fourier transform along an axis."""
    chosen = axis_of(-2 if axis is None else axis.number("an axis"), x.rank)
    return transformed(ctx, x, length, chosen, bool(inverse), bool(onesided))


def transformed(
    ctx: Context, x: Tensor, length: Tensor | None, axis: int, inverse: bool, onesided: bool
) -> Tensor:
    """The transform of data whose last dim has real numbers, or real and imaginary parts."""
    parts = _parts(x)
    if axis == x.rank - 1:
        raise ValueError("expected the axis of a signal, got that of real and imaginary parts")
    if onesided and parts != (2 if inverse else 1):
        raise ValueError("expected one side of real data, got complex numbers")
    order = [*(a for a in range(x.rank - 1) if a != axis), axis, x.rank - 1]
    data = ctx.permute(ctx.astype(x, "float32") if x.dtype in HALF else x, order)
    own, one_side = data.dims[-2], onesided and inverse
    default = (own - 1) * 2 if one_side else own
    size = default if length is None else length.size("the length of a transform")
    count = size // IntExpr.of(2) + 1 if one_side else size
    data = _resized(ctx, data, count)
    found = fourier.transformed(
        ctx.emitter, data.value, size, inverse=inverse, onesided=onesided,
        exponent=-1.0 if inverse else 0.0,
    )  # fmt: skip
    back = [order.index(a) for a in range(x.rank)]
    return ctx.astype(ctx.permute(ctx.tensor(found), back), x.dtype)


def _parts(x: Tensor) -> int:
    """The number of parts of a number, its last dim: 1 of real data, 2 of complex data."""
    parts = x.dims[-1].constant if x.rank > 1 else None
    if parts not in (1, 2):
        raise ValueError("expected data whose last dim has a real part, or two parts")
    return parts


def _resized(ctx: Context, x: Tensor, count: IntExpr) -> Tensor:
    """The first elements of the next to last axis, or all and zeros."""
    axis, own = x.rank - 2, x.dims[-2]
    missing = count - own
    if missing == ZERO:
        return x
    if missing.is_constant and missing.offset < 0:
        return part(ctx, x, axis, ZERO, count)
    widths = [ZERO] * (2 * x.rank)
    widths[x.rank + axis] = missing if missing.is_constant else maximum(missing, 0)
    wider = padded(ctx, x, widths, "constant", ctx.number(0, x.dtype))
    return wider if missing.is_constant else part(ctx, wider, axis, ZERO, count)


@converts("STFT")
def short_time_transform(
    ctx: Context,
    signal: Tensor,
    step: Tensor,
    window: Tensor | None = None,
    length: Tensor | None = None,
    *,
    onesided: int = 1,
) -> Tensor:
    """Transforms of windows of a signal ``(batch, length, parts)``: a convolution."""
    parts = _parts(signal)
    if signal.rank != 3:
        raise ValueError(f"expected a signal of rank 3, got rank {signal.rank}")
    if onesided and parts == 2:
        raise ValueError("expected one side of real data, got complex numbers")
    if length is not None:
        size = IntExpr.of(length.number("the length of a frame"))
    else:
        size = signal.dims[1] if window is None else window.dims[0]
    if not size.is_constant:
        raise Unsupported("frames whose length is unknown", "give it as a number")
    data = ctx.astype(signal, "float32") if signal.dtype in HALF else signal
    weights = fourier.transform_weights(size.offset, parts, onesided=bool(onesided))
    matrix = ctx.array(weights, data.dtype)
    if window is not None:
        factors = ctx.reshape(ctx.fitted(window, [size]), [size, ONE, ONE, ONE])
        matrix = ctx.elementwise("multiply", matrix, ctx.astype(factors, data.dtype))
    outputs = matrix.dims[2:]
    kernel = ctx.reshape(matrix, [size, parts, outputs[0] * outputs[1]])
    strides = [step.number("the step between frames")]
    frames = ctx.emit(
        "nn.conv1d", data, kernel, strides=strides, data_layout="NWC", kernel_layout="WIO"
    )
    return ctx.astype(ctx.reshape(frames, [*frames.dims[:2], *outputs]), signal.dtype)


@converts("MelWeightMatrix")
def mel_weight_matrix(
    ctx: Context,
    bands: Tensor,
    length: Tensor,
    rate: Tensor,
    lowest: Tensor,
    highest: Tensor,
    *,
    output_datatype: int = 1,
) -> Tensor:
    """The weights of frequencies in bands that are triangles on the mel scale."""
    count: int = bands.number("the number of bands")
    size: int = length.number("the length of a transform")
    limits = [float(b.number("a frequency")) for b in (lowest, highest)]
    low, high = (2595 * log10(1 + limit / 700) for limit in limits)
    mels = low + np.arange(count + 2) * (high - low) / (count + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = ((size + 1) * hertz // float(rate.number("a sample rate"))).astype(np.int64)
    weights = _triangles(edges[:-2], edges[1:-1], edges[2:], size // 2 + 1)
    return ctx.array(weights, dtype_of_element(output_datatype))


def _triangles(left: Any, center: Any, right: Any, count: int) -> Any:
    """Columns that rise from 0 to 1 and fall to 0 again, at these places of `count` rows."""
    rows: Any = np.arange(count)[:, None]
    where: Any = np.where
    rising = where(center == left, rows == center, (rows - left) / np.maximum(center - left, 1))
    falling = (right - rows) / np.maximum(right - center, 1)
    weights = where((left <= rows) & (rows <= center), rising, 0)
    return where((center <= rows) & (rows < right), falling, weights)

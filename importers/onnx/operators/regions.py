"""Pools over regions of images, and deformable convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from ....dialects.int_expr import ONE, ZERO, IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .convolution import biased
from .linear import matmul
from .windows import Windows, margins_of

MOST_SAMPLES = 1 << 12
"""The largest number of samples along a dim of a bin: its square is a loop of each bin."""


@converts("RoiAlign")
def roi_align(
    ctx: Context,
    x: Tensor,
    rois: Tensor,
    images: Tensor,
    *,
    coordinate_transformation_mode: str = "output_half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """The mean or maximum of samples of regions."""
    if coordinate_transformation_mode not in ("half_pixel", "output_half_pixel"):
        raise ValueError(
            "expected coordinates by half_pixel or output_half_pixel, "
            f"got '{coordinate_transformation_mode}'"
        )
    if sampling_ratio > MOST_SAMPLES:
        raise ValueError(
            f"expected a sampling_ratio of at most {MOST_SAMPLES}, got {sampling_ratio}"
        )
    images = ctx.emit("expand_dims", ctx.fitted(images, rois.dims[:1]), axis=[1])
    rows = ctx.emit("concat", ctx.astype(images, rois.dtype), rois, axis=1)
    return ctx.emit(
        "vision.roi_align", x, rows, pooled_size=[output_height, output_width],
        spatial_scale=spatial_scale, sample_ratio=sampling_ratio, mode=mode,
        aligned=coordinate_transformation_mode == "half_pixel",
    )  # fmt: skip


@converts("RoiAlign", since=16)
def roi_align_of_half_pixels(
    ctx: Context,
    x: Tensor,
    rois: Tensor,
    images: Tensor,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """The mean or maximum of samples of regions, which are moved by half an element."""
    return roi_align(
        ctx, x, rois, images, mode=mode, output_height=output_height, output_width=output_width,
        coordinate_transformation_mode=coordinate_transformation_mode,
        sampling_ratio=sampling_ratio, spatial_scale=spatial_scale,
    )  # fmt: skip


@converts("MaxRoiPool")
def max_roi_pool(
    ctx: Context, x: Tensor, rois: Tensor, *, pooled_shape: list[int], spatial_scale: float = 1.0
) -> Tensor:
    """The largest elements of the bins of regions."""
    return ctx.emit(
        "vision.roi_pool", x, rois, pooled_size=pooled_shape, spatial_scale=spatial_scale
    )


@converts("DeformConv")
def deformable_convolution(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: list[int] | None = None,
    group: int = 1,
    kernel_shape: list[int] | None = None,
    offset_group: int = 1,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """A convolution of elements at offsets of their own: samples, and a matmul of each group."""
    windows = Windows.of(x, weight.dims[2:], strides, dilations)
    if not all(s.is_constant for s in (*weight.dims[:2], *windows.sizes)):
        raise Unsupported("a weight whose sizes are unknown", "make it a constant of the model")
    before = [m.offset for m in margins_of(x, windows, "NOTSET", pads)[: windows.rank]]
    batch, channels, result = x.dims[0], weight.dims[1] * group, offset.dims[2:]
    taps = reduce(mul, windows.sizes)
    points = _points(ctx, x, offset, windows, before, offset_group)
    data = ctx.reshape(x, [batch * offset_group, channels // IntExpr.of(offset_group), *x.dims[2:]])
    layout = ("NCW", "NCHW", "NCDHW")[windows.rank - 1]
    seen = ctx.emit("image.grid_sample", data, points, layout=layout, align_corners=False)
    pixels = reduce(mul, result)
    seen = ctx.reshape(
        seen, [batch, offset_group, channels // IntExpr.of(offset_group), taps, pixels]
    )
    if mask is not None:
        factors = ctx.reshape(mask, [batch, offset_group, ONE, taps, pixels])
        seen = ctx.elementwise("multiply", seen, factors)
    columns = ctx.reshape(seen, [batch, group, channels // IntExpr.of(group) * taps, pixels])
    outputs = weight.dims[0] // IntExpr.of(group)
    matrices = ctx.reshape(weight, [ONE, group, outputs, weight.dims[1] * taps])
    product = matmul(ctx, matrices, columns)
    return biased(ctx, ctx.reshape(product, [batch, weight.dims[0], *result]), bias)


def _points(
    ctx: Context, x: Tensor, offset: Tensor, windows: Windows, before: Sequence[int], groups: int
) -> Tensor:
    """The places of all taps in units of the data: ``(batch * groups, dims, taps * first, …)``."""
    rank, result, batch = windows.rank, offset.dims[2:], x.dims[0]
    taps = reduce(mul, windows.sizes)
    offsets = ctx.reshape(offset, [batch, groups, taps, rank, *result])
    found: list[Tensor] = []
    for axis in reversed(range(rank)):
        own = ctx.emit("take", offsets, ctx.array(axis, "int64"), axis=3)
        start = _starts(ctx, windows, axis, before[axis], result, x.dtype)
        place = Formula(ctx, own) + start
        scaled = (place * 2 + 1) / x.dims[axis + 2] - 1
        dims = [batch * groups, ONE, result[0] * taps, *result[1:]]
        found.append(ctx.reshape(scaled.tensor, dims))
    return found[0] if rank == 1 else ctx.emit("concat", *found, axis=1)


def _starts(
    ctx: Context, windows: Windows, axis: int, before: int, result: Sequence[IntExpr], dtype: str
) -> Formula:
    """Where taps are without offsets along an axis: ``(1, 1, taps, …)``."""
    rank = windows.rank
    sizes = [s.offset for s in windows.sizes]
    steps: Any = np.indices(sizes)[axis].reshape(-1) * windows.dilations[axis] - before
    own = ctx.array(steps.reshape(1, 1, -1, *[1] * rank), dtype)
    numbers = ctx.emit("arange", start=ZERO, end=result[axis], step=ONE, dtype="int64")
    dims = [result[axis] if d == axis else ONE for d in range(rank)]
    places = ctx.reshape(ctx.astype(numbers, dtype), [ONE, ONE, ONE, *dims])
    return Formula(ctx, places) * windows.strides[axis] + own

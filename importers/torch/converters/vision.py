"""Regions and boxes of images: the operators of torchvision."""

from __future__ import annotations

from typing import Any

from ....dialects.int_expr import ONE, IntExpr
from ...emitter import Value, dims_of
from ..context import Context
from ..registry import converts

_MOST = 1 << 30
"""More boxes than there are."""


@converts("torchvision.roi_align.default")
def roi_align(
    ctx: Context, x: Value, rois: Value, spatial_scale: float, height: Any, width: Any,
    sampling_ratio: int, aligned: bool,
) -> Value:  # fmt: skip
    """The means of samples of regions."""
    return ctx.op(
        "vision.roi_align", x, rois, pooled_size=[height, width], spatial_scale=spatial_scale,
        sample_ratio=sampling_ratio, aligned=aligned,
    )  # fmt: skip


@converts("torchvision.roi_pool.default")
def roi_pool(
    ctx: Context, x: Value, rois: Value, spatial_scale: float, height: Any, width: Any
) -> tuple[Value, None]:
    """The largest elements of the bins of regions; their indices must be unused."""
    size = [height, width]
    pooled = ctx.op("vision.roi_pool", x, rois, pooled_size=size, spatial_scale=spatial_scale)
    return pooled, None


@converts("torchvision.nms.default")
def nms(ctx: Context, boxes: Value, scores: Value, iou_threshold: float) -> Value:
    """The boxes that overlap no better one by more than a threshold, the best first.

    Boxes are sorted, since scores of minus infinity count here.
    """
    ctx.symbols.declare(ctx.result)
    (count,) = dims_of(scores)
    order = ctx.op("argsort", scores, descending=True, dtype="int64")
    places = ctx.astype(ctx.op("arange", start=0, end=count, step=1, dtype="int64"), "float32")
    found = ctx.op(
        "vision.all_class_non_max_suppression",
        ctx.op("expand_dims", ctx.op("take", boxes, order, axis=0), axis=[0]),
        ctx.reshape(ctx.op("negative", places), [ONE, ONE, count]),
        max_output_boxes_per_class=_MOST,
        iou_threshold=iou_threshold,
    )
    rows, total = ctx.fields(found)
    size = ctx.symbols.expr(ctx.result.shape[0])
    ctx.read_sizes(total, [size], dims_of(rows)[:1])
    chosen = ctx.op("take", rows, ctx.number(IntExpr.of(2), "int64"), axis=1)
    chosen = ctx.op("strided_slice", chosen, axes=[0], begin=[0], end=[size])
    return ctx.op("take", order, chosen, axis=0)

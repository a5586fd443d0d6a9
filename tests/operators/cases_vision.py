"""Cases of operators on regions of images."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

import numpy as np
from drawing import FLOATS, Draw, as_dtype
from harness import Case, all_symbolic, torch

from xrelax.dialects.int_expr import sym


def regions(aligns: bool):
    def draw(d: Draw):
        batch, height, width = d.integer(1, 3), d.integer(4, 9), d.integer(4, 9)
        count = d.size()
        low = d.numpy.uniform(-1, 8, (count, 2))
        sides = d.numpy.uniform(-1 if d.chance(20) else 1, 8, (count, 2))
        images = d.numpy.integers(0, batch, (count, 1))
        rois = np.concatenate([images, low, low + sides], axis=1)
        attributes: dict[str, Any] = {
            "pooled_size": [d.integer(1, 4), d.integer(1, 4)],
            "spatial_scale": d.pick((1.0, 0.5, 0.75)),
        }
        if aligns:
            attributes |= {
                "sample_ratio": d.integer(0, 3),
                "aligned": d.chance(50),
                "mode": d.pick(("avg", "max")),
            }
        return [d.array((batch, d.size(1), height, width)), as_dtype(rois, d.dtype)], attributes

    return draw


def region_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for sizes other than 1, but not for the numbers of a region."""
    (data, rois), attributes = all_symbolic(shapes, attributes)
    return [data, (rois[0], 5)], attributes


def region_pool(data: Any, rois: Any, size: Sequence[int], pooled: Any) -> Any:
    """The results of `pooled(image, region, bin)` for every bin of each region."""
    result = torch.zeros(rois.shape[0], data.shape[1], *size, dtype=data.dtype)
    for number, row in enumerate(rois.double().tolist()):
        for y, x in np.ndindex(*size):
            result[number, :, y, x] = pooled(data[int(row[0])], row[1:], (y, x))
    return result


def samples(image: Any, points: Sequence[Sequence[float]]) -> Any:
    """Products of elements and weights around points: (points, 4, channels)."""
    height, width = image.shape[1:]
    ys, xs = (torch.tensor([p[d] for p in points], dtype=torch.float64) for d in (0, 1))
    inside = (ys >= -1) & (ys <= height) & (xs >= -1) & (xs <= width)
    ys, xs = ys.clamp(0, height - 1), xs.clamp(0, width - 1)
    top, left = ys.long(), xs.long()
    parts = [
        image[:, (top + i).clamp(max=height - 1), (left + j).clamp(max=width - 1)]
        * (1 - (ys - top - i).abs()) * (1 - (xs - left - j).abs()) * inside
        for i in (0, 1) for j in (0, 1)
    ]  # fmt: skip
    return torch.stack(parts).permute(2, 0, 1)


def roi_align(
    data: Any, rois: Any, *, pooled_size: Sequence[int], spatial_scale: float, sample_ratio: int,
    aligned: bool, mode: str,
) -> Any:  # fmt: skip
    """As torchvision.ops.roi_align describes it."""

    def pooled(image: Any, region: Sequence[float], at: Sequence[int]) -> Any:
        axes: list[list[float]] = []
        for d in (0, 1):
            low, high = (region[1 - d + n] * spatial_scale - 0.5 * aligned for n in (0, 2))
            each = (high - low if aligned else max(high - low, 1)) / pooled_size[d]
            count = sample_ratio or max(ceil(each), 0)
            axes.append([low + (at[d] + (i + 0.5) / count) * each for i in range(count)])
        points = [(y, x) for y in axes[0] for x in axes[1]]
        if not points:
            return 0
        found = samples(image.double(), points)
        return found.sum(1).mean(0) if mode == "avg" else found.amax((0, 1))

    return region_pool(data, rois, pooled_size, pooled)


def roi_pool(data: Any, rois: Any, *, pooled_size: Sequence[int], spatial_scale: float) -> Any:
    """As torchvision.ops.roi_pool describes it."""

    def pooled(image: Any, region: Sequence[float], at: Sequence[int]) -> Any:
        bounds: list[slice] = []
        for d in (0, 1):
            ends = np.array([region[1 - d], region[3 - d]], np.float32) * np.float32(spatial_scale)
            low, high = np.copysign(np.floor(np.abs(ends) + np.float32(0.5)), ends).astype(int)
            each = np.float32(max(high - low + 1, 1)) / np.float32(pooled_size[d])
            limits = floor(at[d] * each) + low, ceil((at[d] + 1) * each) + low
            bounds.append(slice(*(min(max(e, 0), image.shape[1 + d]) for e in limits)))
        part = image[:, bounds[0], bounds[1]]
        return part.amax((1, 2)) if part.numel() else 0

    return region_pool(data, rois, pooled_size, pooled)


def overlapping(d: Draw):
    """Boxes among few places, so that many overlap; scores are different numbers."""
    images, classes, count = d.integer(1, 3), d.integer(1, 3), d.integer(1, 12)
    low = d.numpy.uniform(0, 4, (images, count, 2))
    boxes = np.concatenate([low, low + d.numpy.uniform(1, 4, (images, count, 2))], -1)
    swapped = d.numpy.integers(0, 2, (images, count, 1)).astype(bool)
    boxes = np.where(swapped, np.concatenate([boxes[..., 2:], boxes[..., :2]], -1), boxes)
    places = d.numpy.permuted(np.arange(images * classes * count) / 64)
    attributes = {
        "max_output_boxes_per_class": d.pick((0, 1, 3, 20)),
        "iou_threshold": d.pick((0.0, 0.33, 0.52)),
        "score_threshold": d.pick((-1.0, 0.2)),
    }
    scores = places.reshape(images, classes, count)
    return [as_dtype(boxes, d.dtype), as_dtype(scores, d.dtype)], attributes


def box_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for the numbers of images, classes and boxes."""
    images, classes, boxes = (
        sym(f"{name}{size}") for name, size in zip("nnn", shapes[1], strict=True)
    )
    return [(images, boxes, 4), (images, classes, boxes)], attributes


def suppressed(
    boxes: Any, scores: Any, *, max_output_boxes_per_class: int, iou_threshold: float,
    score_threshold: float,
) -> Any:  # fmt: skip
    """As ONNX describes it, box by box."""
    corners = torch.cat(
        [
            torch.minimum(boxes[..., :2], boxes[..., 2:]),
            torch.maximum(boxes[..., :2], boxes[..., 2:]),
        ],
        -1,
    )
    images, classes, count = scores.shape
    found: list[tuple[int, int, int]] = []
    for image, kind in np.ndindex(images, classes):
        own = corners[image]
        left = scores[image, kind] > score_threshold
        for _ in range(max_output_boxes_per_class):
            if not left.any():
                break
            best = int(torch.where(left, scores[image, kind], -torch.inf).argmax())
            found.append((image, kind, best))
            shared = torch.minimum(own[:, 2:], own[best, 2:]) - torch.maximum(
                own[:, :2], own[best, :2]
            )
            shared = shared.clamp(min=0).prod(-1)
            areas = (own[:, 2:] - own[:, :2]).prod(-1)
            left &= shared / (areas + areas[best] - shared) <= iou_threshold
            left[best] = False
    most = min(max_output_boxes_per_class, count)
    rows = torch.zeros(images * classes * most, 3, dtype=torch.int64)
    rows[: len(found)] = torch.tensor(found, dtype=torch.int64).reshape(-1, 3)
    return rows, torch.tensor([len(found)])


def predictions(d: Draw):
    """Logits and offsets; no score is close to the thresholds."""
    batch, classes, count = d.integer(1, 3), d.integer(1, 4), d.integer(1, 6)
    logits = d.numpy.integers(0, 3, (batch, classes, count)) * 2
    low = d.numpy.uniform(0, 0.6, (1, count, 2))
    anchors = np.concatenate([low, low + d.numpy.uniform(0.1, 0.6, (1, count, 2))], -1)
    attributes = {
        "clip": d.chance(50),
        "threshold": d.pick((0.0, 0.3)),
        "variances": d.pick(((1.0, 1.0, 1.0, 1.0), (0.1, 0.125, 0.2, 0.25))),
        "keep_background": d.chance(50),
    }
    arrays = [as_dtype(logits, d.dtype), d.array((batch, 4 * count), -1, 1)]
    return [*arrays, as_dtype(anchors, d.dtype)], attributes


def prediction_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for the numbers of images, classes and anchors."""
    batch, classes, count = (
        sym(f"{name}{size}") for name, size in zip("bcn", shapes[0], strict=True)
    )
    return [(batch, classes, count), (batch, count * 4), (1, count, 4)], attributes


def decoded(
    cls_pred: Any, loc_pred: Any, anchor: Any, *, clip: bool, threshold: float,
    variances: Sequence[float], keep_background: bool,
) -> Any:  # fmt: skip
    """As MXNet describes it."""
    scores = torch.softmax(cls_pred, 1)
    if threshold > 0:
        scores = torch.where(scores < threshold, 0, scores)
    if not keep_background:
        scores = torch.cat([torch.zeros_like(scores[:, :1]), scores[:, 1:]], 1)
    factors = torch.tensor(variances, dtype=loc_pred.dtype)
    x, y, w, h = (loc_pred.reshape(loc_pred.shape[0], -1, 4) * factors).unbind(-1)
    left, top, right, bottom = anchor.unbind(-1)
    width, height = right - left, bottom - top
    cx, cy = x * width + (left + right) / 2, y * height + (top + bottom) / 2
    rx, ry = w.exp() * width / 2, h.exp() * height / 2
    boxes = torch.stack([cy - ry, cx - rx, cy + ry, cx + rx], -1)
    return boxes.clamp(0, 1) if clip else boxes, scores


ATOL = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 2e-5, "float64": 1e-12}

CASES = (
    Case(
        "relax.vision.roi_align",
        regions(True),
        roi_align,
        FLOATS,
        atol=ATOL,
        symbolic=region_symbols,
    ),
    Case(
        "relax.vision.all_class_non_max_suppression",
        overlapping,
        suppressed,
        ("float32", "float64"),
        symbolic=box_symbols,
    ),
    Case(
        "relax.vision.multibox_transform_loc",
        predictions,
        decoded,
        FLOATS,
        atol=ATOL,
        symbolic=prediction_symbols,
    ),
    Case("relax.vision.roi_pool", regions(False), roi_pool, FLOATS, symbolic=region_symbols),
)

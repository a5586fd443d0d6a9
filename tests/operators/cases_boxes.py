"""Cases of operators on boxes that are rows of a class, a score and corners."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import Draw, as_dtype
from harness import Case, torch

from xrelax.dialects.int_expr import sym


def rows_of(d: Draw):
    """Rows ``(class, score, x1, y1, x2, y2)``; scores are different numbers."""
    images, count = d.integer(1, 3), d.integer(1, 10)
    low = d.numpy.uniform(0, 4, (images, count, 2))
    kinds = d.numpy.integers(-1, 2, (images, count, 1))
    scores = d.numpy.permuted(np.arange(images * count) / 32 - 0.1).reshape(images, count, 1)
    high = low + d.numpy.uniform(0.5, 4, (images, count, 2))
    corners = [low, high] if d.chance(70) else [high, low]
    return np.concatenate([kinds, scores, *corners], -1)


def candidates(d: Draw):
    attributes = {
        "score_threshold": d.pick((0.0, 0.11)),
        "id_index": d.pick((0, -1)),
        "score_index": 1,
    }
    return [as_dtype(rows_of(d), d.dtype)], attributes


def valid(data: Any, *, score_threshold: float, id_index: int, score_index: int) -> Any:
    """The valid rows, image by image."""
    rows, places = torch.full_like(data, -1), torch.full(data.shape[:2], -1, dtype=torch.int32)
    counts: list[int] = []
    for image, boxes in enumerate(data):
        chosen = boxes[:, score_index] > score_threshold
        if id_index >= 0:
            chosen &= boxes[:, id_index] >= 0
        found = chosen.nonzero()[:, 0]
        counts.append(len(found))
        rows[image, : len(found)] = boxes[found]
        places[image, : len(found)] = found.int()
    return torch.tensor(counts, dtype=torch.int32), rows, places


def suppression(d: Draw):
    data = rows_of(d)
    images, count, _ = data.shape
    attributes: dict[str, Any] = {
        "max_output_size": d.pick((-1, -1, 2)),
        "iou_threshold": d.pick((0.17, 0.52)),
        "force_suppress": d.chance(30),
        "top_k": d.pick((-1, -1, 4)),
        "id_index": d.pick((0, -1)),
        "return_indices": d.chance(60),
        "invalid_to_bottom": d.chance(40),
    }
    if d.chance(40):
        attributes |= {"soft_nms_sigma": d.pick((0.3, 0.8)), "score_threshold": 0.04}
    counts = d.numpy.integers(0, count + 1, images).astype("int32")
    indices = d.numpy.permuted(np.arange(images * count, dtype="int32")).reshape(images, count)
    return [as_dtype(data, d.dtype), counts, indices], attributes


def kept(boxes: Any, options: dict[str, Any]) -> tuple[Any, list[int]]:
    """The rows with their last scores, and the kept ones: the best of those left, repeatedly."""
    sigma, scores = options.get("soft_nms_sigma", 0.0), boxes[:, 1].clone()
    least, found, left = options.get("score_threshold", 0.0), list[int](), list(range(len(boxes)))
    low = torch.minimum(boxes[:, 2:4], boxes[:, 4:])
    high = torch.maximum(boxes[:, 2:4], boxes[:, 4:])
    while (left := [n for n in left if scores[n] > least]) and (
        options["max_output_size"] < 0 or len(found) < options["max_output_size"]
    ):
        best = max(left, key=lambda n: scores[n])
        found.append(best)
        left.remove(best)
        for n in list(left):
            is_own = options["id_index"] < 0 or boxes[n, 0] == boxes[best, 0]
            if not (is_own or options["force_suppress"]):
                continue
            sides = torch.minimum(high[n], high[best]) - torch.maximum(low[n], low[best])
            shared = sides.clamp(min=0).prod()
            covered = (high[n] - low[n]).prod() + (high[best] - low[best]).prod() - shared
            overlap = shared / covered
            if overlap >= options["iou_threshold"]:
                left.remove(n)
            elif sigma:
                scores[n] *= torch.exp(-overlap * overlap / (2 * sigma))
    return torch.cat([boxes[:, :1], scores[:, None], boxes[:, 2:]], 1), found


def suppressed(data: Any, valid_count: Any, indices: Any, **options: Any) -> Any:
    """Non-maximum suppression, image by image."""
    rows, places = torch.full_like(data, -1), torch.full_like(indices, -1)
    counts = torch.zeros(len(data), 1, dtype=torch.int32)
    is_soft = "soft_nms_sigma" in options
    for image, count in enumerate(valid_count):
        order = data[image, : int(count), 1].argsort(descending=True)
        order = order[: options["top_k"]] if options["top_k"] > 0 else order
        boxes, found = kept(data[image, order], options)
        counts[image] = len(found)
        places[image, : len(found)] = indices[image, order[found]]
        is_packed = options["invalid_to_bottom"] or is_soft
        target = torch.arange(len(found)) if is_packed else torch.tensor(found, dtype=torch.int64)
        rows[image, target] = boxes[found]
    if not options["return_indices"]:
        return rows
    return (rows, places, counts) if is_soft else (places, counts)


def row_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for the numbers of images and boxes."""
    images, count = (sym(f"{n}{s}") for n, s in zip("bn", shapes[0], strict=False))
    return [(images, count, 6), (images,), (images, count)][: len(shapes)], attributes


DTYPES = ("float32", "float64")

CASES = (
    Case("relax.vision.get_valid_counts", candidates, valid, DTYPES, symbolic=row_symbols),
    Case("relax.vision.non_max_suppression", suppression, suppressed, DTYPES, symbolic=row_symbols),
)

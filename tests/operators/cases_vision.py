"""Cases of operators on regions of images."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import FLOATS, Draw, as_dtype
from harness import Case, all_symbolic


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


ATOL = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 2e-5, "float64": 1e-12}

CASES = (
    Case("relax.vision.roi_align", regions(True), None, FLOATS, atol=ATOL, symbolic=region_symbols),
    Case("relax.vision.roi_pool", regions(False), None, FLOATS, symbolic=region_symbols),
)

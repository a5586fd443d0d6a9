"""How much two boxes overlap: the expressions of kernels, and the same by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .language import TensorLanguage


def areas(
    te: TensorLanguage, ib: Any, corner: Callable[[int, int, int], Any], dtype: str
) -> tuple[Any, Any]:
    """The area that two boxes share, and the one that they cover.

    `corner` gives a coordinate by the number of the box, of the dim, and of the opposite corner.
    """
    sides: list[tuple[Any, Any, Any]] = []
    for d in (0, 1):
        ends = [[corner(box, d, end) for end in (0, 1)] for box in (0, 1)]
        (a, b), (c, e) = ((ib.let(te.min(*own)), ib.let(te.max(*own))) for own in ends)
        sides.append((b - a, e - c, te.max(te.min(b, e) - te.max(a, c), te.const(0, dtype))))
    (ax, bx, sx), (ay, by, sy) = sides
    shared = ib.let(sx * sy)
    return shared, ib.let(ax * ay + bx * by - shared)


def overlap(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The area that two boxes, each of two opposite corners, share over the one that they cover."""
    ends = [np.sort(box.reshape(2, 2), axis=0) for box in (a, b)]
    low, high = np.maximum(ends[0][0], ends[1][0]), np.minimum(ends[0][1], ends[1][1])
    shared = np.maximum(high - low, 0).prod()
    covered = sum((e[1] - e[0]).prod() for e in ends) - shared
    return float(shared / covered) if covered > 0 else 0.0

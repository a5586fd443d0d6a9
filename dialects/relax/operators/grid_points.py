"""The coordinates and weights of points in a grid, for tensor expressions and for NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .language import TensorLanguage

CUBIC = -0.75
"""The parameter of cubic interpolation."""


@dataclass(frozen=True)
class Functions:
    """Elementwise functions of tensor expressions, or of arrays."""

    floor: Callable[[Any], Any]
    fabs: Callable[[Any], Any]
    select: Callable[[Any, Any, Any], Any]
    largest: Callable[[Any, Any], Any]
    smallest: Callable[[Any, Any], Any]
    let: Callable[[Callable[[Any], Any], Any], Any]
    """A function of a value that is computed once."""

    @staticmethod
    def of_te(te: TensorLanguage) -> Functions:
        """Those of tensor expressions."""
        return Functions(te.floor, te.fabs, te.select, te.max, te.min, te.let)

    @staticmethod
    def of_numpy() -> Functions:
        """Those of arrays."""
        where = cast("Callable[[Any, Any, Any], Any]", np.where)
        return Functions(np.floor, np.abs, where, np.maximum, np.minimum, lambda f, x: f(x))

    def clipped(self, x: Any, size: Any) -> Any:
        """A coordinate or index, moved to the nearest element."""
        return self.largest(self.smallest(x, size - 1), size * 0)

    def reflected(self, x: Any, size: Any, align_corners: bool) -> Any:
        """A coordinate reflected at both ends of a dim, until it is in the dim."""
        low, span = (0.0, size - 1) if align_corners else (-0.5, size)
        span = self.largest(span, size * 0)
        length = self.select(span > 0, span, size * 0 + 1)

        def folded(distance: Any) -> Any:
            return self.let(lambda f: reflected(distance, f), self.floor(distance / length))

        def reflected(distance: Any, flips: Any) -> Any:
            rest = self.select(span > 0, distance - flips * length, distance * 0)
            is_even = flips - self.floor(flips * 0.5) * 2 < 1
            return self.clipped(self.select(is_even, rest, span - rest) + low, size)

        return self.let(folded, self.fabs(x - low))

    def place(self, x: Any, size: Any, align_corners: bool) -> Any:
        """The coordinate in elements of one in units of the dim."""
        return (x + 1) * (size - 1) * 0.5 if align_corners else ((x + 1) * size - 1) * 0.5

    def weights(self, taps: int, f: Any) -> list[Any]:
        """The weights of elements around a point at `f` behind one of them."""
        if taps == 2:
            return [1 - f, f]
        near, far = self._near, self._far
        return [far(f + 1), near(f), near(1 - f), far(2 - f)]

    @staticmethod
    def _near(d: Any) -> Any:
        return ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1

    @staticmethod
    def _far(d: Any) -> Any:
        return ((CUBIC * d - 5 * CUBIC) * d + 8 * CUBIC) * d - 4 * CUBIC

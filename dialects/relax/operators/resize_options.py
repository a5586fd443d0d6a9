"""The options of a resize: transformations of coordinates, roundings, and weights by distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TRANSFORMATIONS = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
    "half_pixel_symmetric",
)
ROUNDINGS = ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
OF_MODE = ""
"""The rounding "floor", but "round" for aligned corners."""

METHODS = ("nearest_neighbor", "linear", "cubic")

Choose = Callable[[Any, Any, Any], Any]
"""A function of a condition, the value where it holds, and the value elsewhere."""


@dataclass(frozen=True)
class Resizing:
    """The attributes of a resize, apart from its sizes."""

    method: str
    transformation: str
    rounding: str
    alpha: float
    excludes: bool
    antialias: bool

    @property
    def radius(self) -> int:
        """The distance from which on elements have no weight, without antialiasing."""
        return 1 if self.method == "linear" else 2

    def rounded(self, x: Any, floor: Any, ceil: Any) -> Any:
        """The index that is nearest to a coordinate."""
        match self.rounding:
            case "floor":
                return floor(x)
            case "ceil":
                return ceil(x)
            case "round_prefer_floor":
                return ceil(x - 0.5)
            case _:
                return floor(x + 0.5)

    def weight(self, distance: Any, choose: Choose) -> Any:
        """The weight of an element by its distance, which is not negative."""
        if self.method == "linear":
            return choose(distance < 1, 1 - distance, distance * 0)
        a, d = self.alpha, distance
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return choose(d <= 1, near, choose(d < 2, far, d * 0))

"""`Noise`: the error of quantized values, relative to those in float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Noise:
    """The sums of squares of values, and of their errors."""

    signal: float = 0.0
    error: float = 0.0
    has_seen: bool = False

    def see(self, wanted: NDArray[Any], found: NDArray[Any]) -> None:
        """Add values and the quantized ones; infinities and NaN have no error where both are so."""
        self.has_seen |= wanted.size > 0
        wanted, found = wanted.astype(np.float64), found.astype(np.float64)
        is_same = (wanted == found) | (np.isnan(wanted) & np.isnan(found))
        with np.errstate(invalid="ignore"):
            error = np.where(is_same, 0, found - wanted)
        error[np.isnan(error)] = np.inf
        self.error += float(np.square(error).sum())
        self.signal += float(np.square(wanted[np.isfinite(wanted)]).sum())

    @property
    def relative(self) -> float:
        """The root of the mean square of all errors, over that of all values."""
        return (self.error / self.signal) ** 0.5 if self.signal else self.error**0.5


def relative_error(
    found: Sequence[Sequence[NDArray[Any]]], wanted: Sequence[Sequence[NDArray[Any]]]
) -> float:
    """`Noise.relative` of the results of calls."""
    noise = Noise()
    for quantized, exact in zip(found, wanted, strict=True):
        for a, b in zip(quantized, exact, strict=True):
            noise.see(b, a)
    return noise.relative

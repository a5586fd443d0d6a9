"""Comparison of arrays with a float64 run, within a stated error bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects.dtypes import is_float
from .values import Array, Precision, bfloat16_values

EPSILON: dict[str, float] = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
}
"""Distance from 1 to the next larger value of each float dtype."""

SLACK = 8
"""Roundings allowed beside those of the reduction: elementwise functions before and after it."""


def error_bound(expected: Array, dtype: str, terms: int, magnitude: float | None = None) -> Array:
    """The error that `terms` roundings may make in each element.

    It is ``epsilon * (terms + SLACK) * max(|expected|, magnitude)``, where `magnitude` is the size
    of the values that were summed up, which cancellation hides: by default 1, or the median of the
    result if that is larger.
    """
    size = np.abs(expected[np.isfinite(expected)])
    if magnitude is None:
        magnitude = max(1.0, float(np.median(size)) if size.size else 1.0)
    return EPSILON[dtype] * (terms + SLACK) * np.maximum(np.abs(expected), magnitude)


def close(actual: Array, expected: Array, dtype: str, terms: int, noise: float = 0.0) -> bool:
    """Whether `actual`, of this dtype, is the float64 result `expected` within `error_bound`.

    Integers and bools must be equal; NaN and infinities must be in the same places. `noise` is
    added to the bound.
    """
    return mismatch(actual, expected, dtype, terms, noise) is None


def mismatch(
    actual: Array, expected: Array, dtype: str, terms: int, noise: float = 0.0
) -> str | None:
    """What is wrong with `actual`, in one phrase; `None` if it is close."""
    with np.errstate(all="ignore"):
        return _mismatch(actual, expected, dtype, terms, noise)


def _mismatch(actual: Array, expected: Array, dtype: str, terms: int, noise: float) -> str | None:
    if actual.shape != expected.shape:
        return f"expected shape {expected.shape}, got {actual.shape}"
    if not is_float(dtype):
        return _describe(actual, expected, actual != expected)
    found, wanted = as_float64(actual, dtype), as_float64(expected, dtype)
    rounded = np.asarray(Precision().narrow(dtype, wanted), np.float64)
    wanted = np.where(np.isinf(rounded), rounded, wanted)
    finite = np.isfinite(wanted)
    special = np.where(finite, ~np.isfinite(found), ~_same(found, wanted))
    if special.any():
        return _describe(found, wanted, special)
    error = np.where(finite, np.abs(found - wanted), 0)
    allowed = np.where(finite, error_bound(wanted, dtype, terms) + noise, np.inf)
    if (error <= allowed).all():
        return None
    at = tuple(int(i) for i in np.unravel_index(np.argmax(error - allowed), error.shape))
    return (
        f"expected {wanted[at]:.9g} within {allowed[at]:.3g} at {list(at)}, got {found[at]:.9g}; "
        f"max error {error.max():.3g}"
    )


def rounding_noise(exact: Array, wide: Array) -> float:
    """Four times the largest error that a program itself makes: of its run from a float64 one."""
    finite = np.isfinite(exact) & np.isfinite(wide)
    with np.errstate(invalid="ignore"):  # infinities are not finite, and left out
        return 4 * float(np.max(np.abs(exact - wide), where=finite, initial=0.0))


def as_float64(array: Array, dtype: str) -> Array:
    """The values of an array of this dtype, or of a float64 result that stands for it."""
    if dtype == "bfloat16" and array.dtype == np.uint16:
        return bfloat16_values(array).astype(np.float64)
    return array.astype(np.float64)


def _same(found: Any, wanted: Any) -> Any:
    return (found == wanted) | (np.isnan(found) & np.isnan(wanted))


def _describe(actual: Array, expected: Array, wrong: Array) -> str | None:
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = f"{int(wrong.sum())} of {wrong.size} elements differ"
    return f"expected {expected[at]} at {list(at)}, got {actual[at]}; {count}"

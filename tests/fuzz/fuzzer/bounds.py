"""How far the numbers of a program may be from those that are evaluated.

The rules are those of running error analysis (Higham, "Accuracy and Stability of Numerical
Algorithms", 3.3). The bound of a number that may be anything, such as what depends on an inexact
comparison, is infinite: it may be an infinity or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .syntax import FLOATS

Array = np.ndarray[Any, Any]
EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
TINY = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-149, "float64": 5e-324}
"""The least number that a program tells from 0; `vcvtneps2bf16` writes denormals as zeros."""
RANGE = {
    "float16": (2.0**-14, 65504.0),
    "bfloat16": (2.0**-126, 2.0**127 * (2 - 2.0**-7)),
    "float32": (2.0**-126, float(np.finfo("float32").max)),
    "float64": (2.0**-1022, float(np.finfo("float64").max)),
}
"""The least and the largest number of a dtype with all its digits."""
ULPS = 8
"""How exact functions are at least, docs/math.md."""
WAVES = ("sin", "cos")


def of_comparison(data: Sequence[Array], bounds: Sequence[Array]) -> Array:
    """Infinite where numbers that are compared are not exact, and near each other."""
    total = bounds[0] + bounds[1]
    near = np.abs(data[0].astype(float) - data[1]) <= total
    return np.where((near & (total > 0)) | np.isinf(total), np.inf, 0.0)


def of_function(
    op: str, function: Callable[[Array], Array], dtype: str, x: Array, bound: Array
) -> Array:
    """The bound of a function that a program does not round correctly."""
    exact = function(x)
    error = ULPS * (np.abs(exact) * EPSILON[dtype] + TINY[dtype])
    # Where the result of an exact number is not finite, neither is that of a program.
    is_sure = ~np.isfinite(exact) & (bound == 0)
    if bound.any():
        low, high = (function(x + s * bound) for s in (-1, 1))
        if op in WAVES:
            error = error + bound
        else:  # one that grows or falls all the way
            error = error + 2 * np.maximum(np.abs(low - exact), np.abs(high - exact))
            is_sure |= np.isinf(exact) & (low == exact) & (high == exact)
        error = np.where(np.isnan(error) | np.isinf(bound), np.inf, error)
    error = np.where(_may_overflow(exact, error, dtype), np.inf, error)
    return np.where(is_sure, 0.0, error)


def of_flushed(dtype: str, found: Array, error: Array | None) -> Array | None:
    """The bound of numbers that are rounded to a dtype, of which denormals may become zeros."""
    size = np.abs(found.astype(float))
    if dtype != "bfloat16" or not (flushed := (size > 0) & (size <= TINY[dtype])).any():
        return error
    return np.where(flushed, size, 0.0) + (0.0 if error is None else error)


def _may_overflow(exact: Array, error: Array, dtype: str) -> Array:
    """Where a number is about as large as the largest of the dtype."""
    size, most = np.abs(exact), RANGE[dtype][1]
    return np.isfinite(exact) & (size + error >= most) & (size - error <= most * (1 + 2.0**-7))


def of_step(function: Callable[[Array], Array], dtype: str, x: Array, bound: Array) -> Array:
    """The bound of a function that grows by jumps, 0 where there is none near a number."""
    wide = x.astype(np.float64)
    low, here, high = (function(wide + s * bound) for s in (-1, 0, 1))
    if dtype not in FLOATS:
        return np.where((bound > 0) & ((low != high) | np.isinf(bound)), np.inf, 0.0)
    error = np.maximum(np.abs(high - here), np.abs(here - low))
    error = np.where(np.isnan(error) | np.isinf(bound), np.inf, error)
    return np.where(bound > 0, error, 0.0)


def of_small_quotient(dtype: str, found: Array, x: Array, error: Array | None) -> Array | None:
    """The bound of a quotient: a unit in the last place near the least normal number."""
    size = np.abs(found)
    is_small = (size < RANGE[dtype][0] / EPSILON[dtype]) & (x != 0)
    if not is_small.any():
        return error
    unit = np.where(is_small, 2 * EPSILON[dtype] * size + TINY[dtype], 0.0)
    return unit if error is None else error + unit


def of_operation(
    op: str, dtype: str, found: Array, data: Sequence[Array], bounds: Sequence[Array]
) -> Array:
    """The bound of a result of numbers that are not exact."""
    is_exact = np.logical_and.reduce([b == 0 for b in bounds])
    if dtype not in FLOATS:
        return np.where(is_exact, 0.0, np.inf)
    error = _spread(op, [np.abs(d.astype(float)) for d in data], bounds)
    # Rounding; a number that was divided by infinity has no error, and is 0 of either sign.
    error = error * 1.01 + np.abs(found.astype(float)) * EPSILON[dtype] * 2 + TINY[dtype]
    is_known = np.isfinite(found) & ~np.isnan(error)
    is_known &= ~_may_overflow(found.astype(float), error, dtype)
    return np.where(is_exact, 0.0, np.where(is_known, error, np.inf))


def _spread(op: str, sizes: Sequence[Array], bounds: Sequence[Array]) -> Array:
    """How far a result is moved when the numbers are, without that it is rounded."""
    x = sizes[0]
    match op:
        case "add" | "sub":
            return bounds[0] + bounds[1]
        case "mul":
            return bounds[0] * sizes[1] + bounds[1] * x + bounds[0] * bounds[1]
        case "div":
            y = sizes[1]
            moved = (bounds[0] + bounds[1] * x / y) / (y - bounds[1])
            return np.where(y > bounds[1], moved, np.inf)
        case "min" | "max":
            return np.maximum(*bounds)
        case "neg" | "abs":
            return bounds[0]
        case "sqrt":
            moved = bounds[0] / np.sqrt(np.maximum(x - bounds[0], TINY["float64"]))
            return np.where(x > bounds[0], moved, np.inf)
        case _:
            return np.full(x.shape, np.inf)

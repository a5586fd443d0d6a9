"""The error of a tensor against a reference, and whether it is within the tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dialects.dtypes import is_float
from ..reference.compare import mismatch


class Tolerance(NamedTuple):
    """``|error| <= atol + rtol * |reference|``; without both, the bound of `reference.compare`.

    That is what the roundings of the operation may add up to, by its dtype, and four times the
    error that the graph itself has when NumPy evaluates it in its own dtypes.
    """

    rtol: float | None
    atol: float | None


class Error(NamedTuple):
    """Errors over the elements that are finite in both; `problem` is empty within the tolerance."""

    largest: float
    relative: float
    """The largest error over the largest magnitude of the reference."""
    mean: float
    problem: str


def compared(
    found: NDArray[Any],
    wanted: NDArray[Any],
    dtype: str,
    terms: int,
    noise: float,
    tolerance: Tolerance,
) -> Error:
    """The error of a tensor of a dtype; floats are float64. For the rest see `mismatch`."""
    with np.errstate(all="ignore"):
        first, second = found.astype(np.float64), wanted.astype(np.float64)
        finite = np.isfinite(first) & np.isfinite(second)
        error = np.abs(first - second)[finite]
        size = np.abs(second[finite]).max(initial=0.0)
        largest = float(error.max(initial=0.0))
        relative = largest / float(size) if size else largest
        mean = float(error.mean()) if error.size else 0.0
        if tolerance == (None, None) or not is_float(dtype):
            problem = mismatch(found, wanted, dtype, terms, noise) or ""
        else:
            problem = _beyond(first, second, tolerance)
    return Error(largest, relative, mean, problem)


def _beyond(found: NDArray[Any], wanted: NDArray[Any], tolerance: Tolerance) -> str:
    """What is wrong with values that are not within a given tolerance."""
    rtol, atol = tolerance.rtol or 0.0, tolerance.atol or 0.0
    close = np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~close)[0])
    return (
        f"expected {wanted[at]:.9g} at {list(at)}, got {found[at]:.9g}; {int((~close).sum())} of "
        f"{close.size} elements differ by more than {atol:g} + {rtol:g} of the reference"
    )


def largest_of(errors: Sequence[Error]) -> Error:
    """The largest of each number over the tensors of a result, and the first problem."""
    problem = next((e.problem for e in errors if e.problem), "")
    largest, relative, mean = (
        max(numbers) for numbers in zip(*(e[:3] for e in errors), strict=True)
    )
    return Error(largest, relative, mean, problem)

"""Algorithms on stacks of float64 matrices that NumPy's `linalg` does not have."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def lu_factor(a: Array) -> tuple[Array, Array, Array]:
    """The LU decomposition with partial pivoting: factors in one matrix, pivots, and `info`.

    Pivots are counted from 1, as LAPACK's. `info` is the first pivot that is 0, or 0 for none.
    """
    batch, steps = a.shape[:-2], min(a.shape[-2:])
    lu = a.reshape(prod(batch), *a.shape[-2:]).copy()
    stack = np.arange(len(lu))
    pivots = np.zeros((len(lu), steps), np.int32)
    info = np.zeros(len(lu), np.int32)
    for k in range(steps):
        chosen = k + np.abs(lu[:, k:, k]).argmax(axis=1)
        pivots[:, k] = chosen + 1
        lu[stack, k], lu[stack, chosen] = lu[stack, chosen], lu[stack, k].copy()
        pivot = lu[:, k, k]
        info[(info == 0) & (pivot == 0)] = k + 1
        lu[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)[:, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
    return lu.reshape(a.shape), pivots.reshape(*batch, steps), info.reshape(batch)


def solve_triangular(a: Array, b: Array, *, upper: bool, unit: bool) -> Array:
    """The solution of ``a @ x = b``, which reads one triangle of `a`; without a check for zeros.

    With `unit` the diagonal is 1, and not read.
    """
    if upper:
        reversed_ = solve_triangular(a[..., ::-1, ::-1], b[..., ::-1, :], upper=False, unit=unit)
        return reversed_[..., ::-1, :]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.broadcast_to(b, (*batch, *b.shape[-2:])).copy()
    for i in range(a.shape[-1]):
        x[..., i, :] -= (a[..., i, None, :i] @ x[..., :i, :])[..., 0, :]
        if not unit:
            x[..., i, :] /= a[..., i, i, None]
    return x


_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
"""The coefficients of the Padé approximant of order 13 of the exponential function."""

_PADE_NORM = 5.371920351148152
"""The 1-norm up to which that approximant is exact to float64 (Higham 2005)."""


def matrix_exp(a: Array) -> Array:
    """The exponential function of square matrices, by scaling and squaring."""
    norms = np.abs(a).sum(axis=-2).max(axis=-1, initial=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        squarings = np.ceil(np.log2(norms / _PADE_NORM))
    squarings = np.where(np.isfinite(squarings), squarings, 0).clip(0).astype(np.int64)
    scale = np.ldexp(1.0, -squarings)[..., None, None]
    result = _pade(a * scale)
    for step in range(int(squarings.max(initial=0))):
        result = np.where((step < squarings)[..., None, None], result @ result, result)
    return np.where(np.isfinite(norms)[..., None, None], result, np.nan)


def _pade(a: Array) -> Array:
    a = np.where(np.isfinite(a).all(axis=(-2, -1), keepdims=True), a, 0)
    powers = [np.broadcast_to(np.eye(a.shape[-1]), a.shape), a @ a]
    for _ in range(5):
        powers.append(powers[-1] @ powers[1])
    even = sum(c * p for c, p in zip(_PADE[::2], powers, strict=True))
    odd = a @ sum(c * p for c, p in zip(_PADE[1::2], powers, strict=True))
    return np.linalg.solve(even - odd, even + odd)


def signs_of_columns(vectors: Array) -> Array:
    """1 or -1 for each column, so that times it the element of largest magnitude is positive."""
    if not vectors.size:
        return np.ones((*vectors.shape[:-2], vectors.shape[-1]))
    places = np.abs(vectors).argmax(axis=-2, keepdims=True)
    largest = np.take_along_axis(vectors, places, axis=-2)[..., 0, :]
    return np.where(largest < 0, -1.0, 1.0)

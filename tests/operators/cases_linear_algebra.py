"""Cases of `relax.linalg`: NumPy in float64 against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import WIDE_FLOATS, Draw
from harness import Case, torch


def matrices(d: Draw, square: bool = True) -> Any:
    """Matrices without equal singular values, away from singular ones."""
    rows = d.size()
    columns = rows if square else d.size()
    values = d.array((*d.shape(0, 2), rows, columns), -1, 1)
    return values + 2 * np.eye(rows, columns, dtype=values.dtype)


def square(d: Draw):
    return [matrices(d)], {}


def any_matrices(d: Draw):
    return [matrices(d, square=False)], {}


def symmetric(d: Draw):
    x = matrices(d)
    return [x + np.swapaxes(x, -1, -2)], {}


def positive(d: Draw):
    x = matrices(d)
    return [x @ np.swapaxes(x, -1, -2)], {}


def one_indefinite(d: Draw):
    """Some matrices that have no inverse, and no Cholesky factor."""
    (x,), _ = positive(d)
    drop = np.asarray(d.array(x.shape[:-2], 0, 1, dtype="int64"), bool)
    x = np.where(drop[..., None, None], np.triu(np.ones_like(x)) - np.eye(x.shape[-1]), x)
    return [x.astype(d.dtype)], {}


def system(d: Draw):
    a = matrices(d)
    batch = d.broadcastable(a.shape[:-2])
    return [a, d.array((*batch, a.shape[-1], d.size()))], {}


def singular_system(d: Draw):
    (a,), _ = one_indefinite(d)
    return [a, d.array((*a.shape[:-1], d.size()))], {}


def triangular(d: Draw):
    operands, _ = system(d)
    return operands, {"upper": d.chance(50), "unitriangular": d.chance(50)}


def decomposed(d: Draw):
    return [matrices(d, square=False)], {"mode": d.pick(("reduced", "complete"))}


def factored(d: Draw):
    return [matrices(d, square=False)], {"check_errors": d.chance(50)}


def singular_values(d: Draw):
    x = matrices(d, square=False)
    # Further vectors of a space of several dims are not unique.
    unique = abs(x.shape[-1] - x.shape[-2]) < 2 and 0 not in x.shape
    return [x], {"full_matrices": unique and d.chance(50)}


def wide(function):
    """A function of PyTorch in float64, with results in the dtype of the first operand."""

    def call(*tensors, **attributes):
        results = function(*(t.double() for t in tensors), **attributes)
        several = isinstance(results, tuple)
        rounded = [
            r.to(tensors[0].dtype) if r.is_floating_point() else r
            for r in (results if several else (results,))
        ]
        return tuple(rounded) if several else rounded[0]

    return call


def signs(vectors):
    if not vectors.numel():
        return torch.ones_like(vectors[..., 0, :]) if vectors.shape[-2] else vectors.sum(-2) + 1
    places = vectors.abs().argmax(-2, keepdim=True)
    return torch.where(vectors.gather(-2, places)[..., 0, :] < 0, -1.0, 1.0).to(vectors.dtype)


def eigh(x):
    values, vectors = torch.linalg.eigh(x)
    return values, vectors * signs(vectors)[..., None, :]


def svd(x, full_matrices):
    u, s, vh = torch.linalg.svd(x, full_matrices)
    left, right = signs(u), signs(vh.mT).clone()
    right[..., : s.shape[-1]] = left[..., : s.shape[-1]]
    return u * left[..., None, :], s, vh * right[..., None]


def without_rejected(function):
    """NaN where `info` is not 0, whose results PyTorch leaves open."""

    def call(*tensors):
        result, info = function(*tensors)
        return torch.where(info[..., None, None] != 0, torch.nan, result), info

    return call


def pivots(d: Draw):
    """Pivots of as many rows as there are, or of more, some out of range."""
    shape = d.shape(1, 3)
    rows = shape[-1] + d.pick((0, 0, 2))
    return [d.array(shape, -1, rows + 2)], {"size": (rows,)}


def exchanged(x, size):
    order = torch.arange(*size, dtype=x.dtype).expand(*x.shape[:-1], *size).clone()
    for at in np.ndindex(*x.shape[:-1]):
        for k, pivot in enumerate(x[at].tolist()):
            other = min(max(pivot - 1, 0), size[0] - 1)
            order[*at, [k, other]] = order[*at, [other, k]]
    return order


def linalg(name: str, draw: Any, function: Any) -> Case:
    # The order of sums is LAPACK's, and errors grow with the condition number.
    loose = {"float64": 1e-9}
    return Case(
        f"relax.linalg.{name}", draw, function and wide(function), WIDE_FLOATS, loose, loose
    )


CASES = (
    linalg("cholesky", positive, torch and torch.linalg.cholesky),
    linalg("cholesky_ex", one_indefinite, torch and without_rejected(torch.linalg.cholesky_ex)),
    linalg("eigh", symmetric, eigh),
    linalg("eigvalsh", symmetric, torch and torch.linalg.eigvalsh),
    linalg("inv", square, torch and torch.linalg.inv),
    linalg("inv_ex", one_indefinite, torch and without_rejected(torch.linalg.inv_ex)),
    linalg("lu_factor", factored, torch and torch.linalg.lu_factor_ex),
    Case("relax.linalg.lu_permutation", pivots, exchanged, ("int32", "int64")),
    linalg("matrix_exp", square, torch and torch.linalg.matrix_exp),
    linalg("qr", decomposed, torch and torch.linalg.qr),
    linalg("slogdet", square, torch and torch.linalg.slogdet),
    linalg("solve", system, torch and torch.linalg.solve),
    linalg("solve_ex", singular_system, torch and without_rejected(torch.linalg.solve_ex)),
    linalg("solve_triangular", triangular, torch and torch.linalg.solve_triangular),
    linalg("svd", singular_values, svd),
    linalg("svdvals", any_matrices, torch and torch.linalg.svdvals),
)

"""Dense linear algebra that compiled code calls: the registered functions ``xrelax.linalg.…``.

All compute in float64, also for float32 operands, so that a result is rounded once. Signs of
eigenvectors and singular vectors do not depend on the LAPACK library of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from .matrices import Array, lu_factor, matrix_exp, signs_of_columns, solve_triangular
from .registry import register_func

PREFIX = "xrelax.linalg."
"""The start of the names under which the functions are registered."""

Solver = Callable[..., Array]


def _zero_pivot(a: Array) -> int:
    """The first pivot of a matrix that is 0, counted from 1; the last for a tiny one."""
    return int(lu_factor(a)[2]) or len(a)


def _indefinite_minor(a: Array) -> int:
    """The order of the first leading minor of a matrix that is not positive."""
    for order in range(1, len(a)):
        if _fails(np.linalg.cholesky, a[:order, :order]):
            return order
    return len(a)


class Check(NamedTuple):
    """What a solver expects of its first operand, and how an error describes its absence."""

    expected: str
    defect: str
    place: Callable[[Array], int]


_INVERTIBLE = Check("invertible", "with pivot {} of its LU decomposition equal to 0", _zero_pivot)
_FULL_RANK = _INVERTIBLE._replace(expected="full-rank")
_POSITIVE = Check(
    "positive-definite", "whose leading minor of order {} is not positive", _indefinite_minor
)


def _fails(solver: Solver, *arrays: Array) -> bool:
    try:
        solver(*arrays)
    except np.linalg.LinAlgError:
        return True
    return False


def _info(solver: Solver, check: Check, a: Array) -> Array:
    """For each matrix the place of its defect, counted from 1, or 0 for none."""
    info = np.zeros(a.shape[:-2], np.int32)
    other = () if solver is not np.linalg.solve else (np.zeros((a.shape[-1], 1)),)
    for index in np.ndindex(info.shape):
        if _fails(solver, a[index], *other):
            info[index] = check.place(a[index])
    return info


def _checked(name: str, solver: Solver, check: Check) -> Solver:
    """The solver, with LinAlgError that names the function and the first matrix it rejects."""

    def call(a: Array, *others: Array) -> Array:
        try:
            return solver(a, *others)
        except np.linalg.LinAlgError:
            raise _rejection(name, check, _info(solver, check, a)) from None

    return call


def _rejection(name: str, check: Check, info: Array) -> np.linalg.LinAlgError:
    """The error that names the first matrix whose `info` is not 0."""
    first = tuple(int(i) for i in np.argwhere(info)[0])
    where = f" at {list(first)}" if first else ""
    return np.linalg.LinAlgError(
        f"expected {check.expected} matrices of '{name}', got one{where} "
        f"{check.defect.format(info[first])}"
    )


def _with_info(solver: Solver, check: Check) -> Callable[..., tuple[Array, Array]]:
    """The solver with a second result, `info`; results of rejected matrices are NaN."""

    def call(a: Array, *others: Array) -> tuple[Array, Array]:
        try:
            return solver(a, *others), np.zeros(a.shape[:-2], np.int32)
        except np.linalg.LinAlgError:
            info = _info(solver, check, a)
            rejected = (info != 0)[..., None, None]
            result = solver(np.where(rejected, np.eye(a.shape[-1]), a), *others)
            return np.where(rejected, np.nan, result), info

    return call


def _converging(name: str, function: Callable[..., Any]) -> Callable[[Array], Any]:
    def call(a: Array) -> Any:
        try:
            return function(a)
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                f"expected finite matrices of '{name}', got one for which it does not converge"
            ) from None

    return call


def _eigh(a: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(a)
    return values, vectors * signs_of_columns(vectors)[..., None, :]


def _svd(a: Array, *, full: bool) -> tuple[Array, Array, Array]:
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    left, right = signs_of_columns(u), signs_of_columns(np.swapaxes(vh, -1, -2))
    common = s.shape[-1]
    right[..., :common] = left[..., :common]
    return u * left[..., None, :], s, vh * right[..., None]


def _qr(a: Array, *, mode: str) -> tuple[Array, Array]:
    q, r = np.linalg.qr(a, mode=cast(Any, mode))
    return q, r


def _slogdet(a: Array) -> tuple[Array, Array]:
    sign, logarithm = np.linalg.slogdet(a)
    return sign, logarithm


def _lu_factor(a: Array) -> tuple[Array, Array, Array]:
    factors, pivots, info = lu_factor(a)
    if info.any():
        raise _rejection("linalg.lu_factor", _FULL_RANK, info)
    return factors, pivots, info


def _singular_values(a: Array) -> Array:
    return np.linalg.svd(a, compute_uv=False)


class LinearAlgebraFunction(NamedTuple):
    """A function of float64 arrays, and the number of them."""

    inputs: int
    function: Callable[..., Any]

    def results(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The results, each a float64 array or an int32 one."""
        with np.errstate(all="ignore"):
            found = self.function(*(a.astype(np.float64) for a in arrays))
        return cast("tuple[Array, ...]", found if isinstance(found, tuple) else (found,))

    def call(self, *tensors: Any) -> None:
        """Write the results of the first tensors to the others."""
        arrays = [t.view() for t in tensors]
        outputs = arrays[self.inputs :]
        for output, found in zip(outputs, self.results(arrays[: self.inputs]), strict=True):
            output[...] = found


_inv, _solve, _cholesky = np.linalg.inv, np.linalg.solve, np.linalg.cholesky

FUNCTIONS: Mapping[str, LinearAlgebraFunction] = {
    "cholesky": LinearAlgebraFunction(1, _checked("linalg.cholesky", _cholesky, _POSITIVE)),
    "cholesky_ex": LinearAlgebraFunction(1, _with_info(_cholesky, _POSITIVE)),
    "eigh": LinearAlgebraFunction(1, _converging("linalg.eigh", _eigh)),
    "eigvalsh": LinearAlgebraFunction(1, _converging("linalg.eigvalsh", np.linalg.eigvalsh)),
    "inv": LinearAlgebraFunction(1, _checked("linalg.inv", _inv, _INVERTIBLE)),
    "inv_ex": LinearAlgebraFunction(1, _with_info(_inv, _INVERTIBLE)),
    "lu_factor": LinearAlgebraFunction(1, lu_factor),
    "lu_factor.checked": LinearAlgebraFunction(1, _lu_factor),
    "matrix_exp": LinearAlgebraFunction(1, matrix_exp),
    "qr.complete": LinearAlgebraFunction(1, partial(_qr, mode="complete")),
    "qr.reduced": LinearAlgebraFunction(1, partial(_qr, mode="reduced")),
    "slogdet": LinearAlgebraFunction(1, _slogdet),
    "solve": LinearAlgebraFunction(2, _checked("linalg.solve", _solve, _INVERTIBLE)),
    "solve_ex": LinearAlgebraFunction(2, _with_info(_solve, _INVERTIBLE)),
    **{
        f"solve_triangular.{'upper' if upper else 'lower'}{'.unit' * unit}": LinearAlgebraFunction(
            2, partial(solve_triangular, upper=upper, unit=unit)
        )
        for upper in (False, True)
        for unit in (False, True)
    },
    "svd.full": LinearAlgebraFunction(1, _converging("linalg.svd", partial(_svd, full=True))),
    "svd.reduced": LinearAlgebraFunction(1, _converging("linalg.svd", partial(_svd, full=False))),
    "svdvals": LinearAlgebraFunction(1, _converging("linalg.svdvals", _singular_values)),
}
"""The functions by name, with their options in it."""

for _name, _function in FUNCTIONS.items():
    register_func(PREFIX + _name, _function.call)

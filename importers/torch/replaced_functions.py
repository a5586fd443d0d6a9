"""Functions of PyTorch that the export refuses, as they read data, written with others."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any, cast
from unittest.mock import patch

import torch

from ..unsupported import Problem, UnsupportedError

_torch = cast(Any, torch)  # its types are partly unknown


def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of rows; `torch.cov`."""
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    given = [w for w in (fweights, aweights) if w is not None]
    if not given:
        count: Any = rows.shape[1]
        centered = rows - rows.sum(1, keepdim=True) / count
        return (centered @ centered.mT / _torch.sym_max(count - correction, 0)).squeeze()
    weights = given[0] * given[1] if len(given) > 1 else given[0]
    total = weights.sum()
    centered = rows - (rows * weights).sum(1, keepdim=True) / total
    lost = correction
    if aweights is not None:
        lost = correction * (weights * aweights).sum() / total
    return (centered @ (centered * weights).mT / (total - lost).clamp(min=0)).squeeze()


def corrcoef(input: Any) -> Any:
    """The correlation coefficients of rows; `torch.corrcoef`."""
    covariances = cov(input)
    if covariances.dim() == 0:
        return covariances / covariances
    deviations = covariances.diagonal().sqrt()
    return (covariances / deviations[:, None] / deviations).clamp(-1, 1)


def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The solutions of least norm of least-squares problems; `torch.linalg.lstsq`."""
    if driver not in (None, "gelsy", "gels"):
        raise _unsupported(f"the driver gelsy or gels of linalg.lstsq, got {driver}")
    if A.is_complex():
        raise _unsupported("real matrices of linalg.lstsq, got complex ones")
    is_vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and A.shape[:-1] == B.shape)
    right = B.unsqueeze(-1) if is_vector else B
    u, s, vh = _torch.linalg.svd(A, full_matrices=False)
    inverted: Any = 1 / s
    kept: Any = None
    if driver != "gels":
        most = _torch.sym_max(A.shape[-2], A.shape[-1])
        least = torch.finfo(A.dtype).eps * most if rcond is None else rcond
        kept = s > least * s.amax(-1, keepdim=True)
        inverted = _torch.where(kept, inverted, 0)
    solution = vh.mT @ (inverted[..., None] * (u.mT @ right))
    empty = A.new_empty(0)
    rank = A.new_empty(0, dtype=torch.int64) if kept is None else kept.sum(-1)
    residuals = empty
    if driver == "gels" and A.shape[-2] > A.shape[-1]:
        residuals = (A @ solution - right).square().sum(-2)
    solution = solution.squeeze(-1) if is_vector else solution
    return _torch.return_types.linalg_lstsq((solution, residuals, rank, empty))


def _unsupported(expected: str) -> UnsupportedError:
    problem = Problem("linalg.lstsq", "", "", f"expected {expected}", "")
    return UnsupportedError([problem], f"expected {expected}")


_REPLACED = (
    (torch, "cov", cov),
    (torch.Tensor, "cov", cov),
    (torch, "corrcoef", corrcoef),
    (torch.Tensor, "corrcoef", corrcoef),
    (_torch.linalg, "lstsq", lstsq),
)


@contextmanager
def replaced_functions() -> Generator[None]:
    """Within it, these functions are PyTorch's."""
    with ExitStack() as stack:
        for owner, name, function in _REPLACED:
            stack.enter_context(patch.object(owner, name, function))
        yield

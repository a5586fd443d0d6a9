"""Functions of PyTorch whose export needs their data: covariances and least squares."""

from __future__ import annotations

from typing import Any

import pytest
from drawn_tensors import each, numbers

import xrelax

torch = pytest.importorskip("torch")
X = numbers(6, 3, seed=3)


@pytest.mark.filterwarnings("ignore:cov:UserWarning")
def test_covariances(check):
    given, counts = torch.tensor([0.5, 1.0, 2.0]), torch.tensor([1, 2, 3])
    check(
        each(
            rows=lambda x: torch.cov(x),
            vector=lambda x: x[0].cov(),
            correction=lambda x: x.cov(correction=0),
            one=lambda x: torch.cov(x[:, :1]),
            integers=lambda x: torch.cov((x * 9).int()),
            weights=lambda x: torch.cov(x, aweights=given),
            counts=lambda x: torch.cov(x, fweights=counts, correction=2),
            both=lambda x: torch.cov(x, fweights=counts, aweights=given),
            correlations=lambda x: torch.corrcoef(x),
            of_vector=lambda x: x[0].corrcoef(),
        ),
        X,
    )


def test_covariances_of_dynamic_shapes():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.cov(x), torch.corrcoef(x)

    dims = {0: torch.export.Dim("rows", min=2), 1: torch.export.Dim("columns", min=2)}
    compiled = xrelax.compile(Model(), (X,), dynamic_shapes=(dims,))
    for shape in ((6, 3), (2, 9)):
        x = numbers(*shape, seed=1)
        torch.testing.assert_close(compiled(x), Model()(x), atol=1e-5, rtol=1e-4)


def least(*args: Any, **kwargs: Any) -> Any:
    return tuple(torch.linalg.lstsq(*args, **kwargs))


def test_least_squares(check):
    low = numbers(6, 2, seed=4) @ numbers(2, 3, seed=5)
    check(
        each(
            tall=lambda x, b: least(x, b),
            wide=lambda x, b: least(x.mT, b[:3]),
            low_rank=lambda x, b: least(low, b),
            tolerance=lambda x, b: least(x, b, rcond=0.5)[0],
            full_rank=lambda x, b: least(x, b, driver="gels"),
            vector=lambda x, b: least(x, b[:, 0]),
            batch=lambda x, b: least(torch.stack([x, x * 2]), torch.stack([b, b])),
        ),
        X, numbers(6, 2, seed=6),
    )  # fmt: skip


@pytest.mark.parametrize(
    "dtype,driver,message",
    [
        (torch.float32, "gelsd", "expected the driver gelsy or gels of linalg.lstsq, got gelsd"),
        (torch.complex64, None, "expected real matrices of linalg.lstsq, got complex ones"),
    ],
)
def test_what_is_refused(dtype: Any, driver: str | None, message: str):
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.linalg.lstsq(x, x, driver=driver).solution

    with pytest.raises(ValueError, match=message):
        xrelax.compile(Model(), (X.to(dtype),))


def test_functions_are_restored():
    before = torch.cov, torch.Tensor.cov, torch.linalg.lstsq
    test_what_is_refused(torch.float32, "gelss", "got gelss")
    assert (torch.cov, torch.Tensor.cov, torch.linalg.lstsq) == before
    assert "cov" not in vars(torch.Tensor)

"""Linear algebra of PyTorch gives what PyTorch gives, and raises errors where it does."""

from typing import Any

import numpy as np
import pytest
from drawn_tensors import each, numbers

import xrelax

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:torch.* is deprecated in favor of:UserWarning")
linalg = torch.linalg
WIDE = [torch.float32, torch.float64]


def as_model(function: Any) -> Any:
    """A model without weights that computes a function."""

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    return Model().eval()


def regular(*shape: int, dtype: Any = torch.float64, seed: int = 0) -> Any:
    """Well-conditioned matrices."""
    return numbers(*shape, dtype=dtype, seed=seed) + 4 * torch.eye(shape[-1], dtype=dtype)


def positive(*shape: int, dtype: Any = torch.float64) -> Any:
    x = regular(*shape, dtype=dtype)
    return x @ x.mT


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_determinants_and_inverses(check, dtype: Any):
    check(
        each(
            det=linalg.det,
            slogdet=lambda x: tuple(linalg.slogdet(x)),
            logdet=lambda x: torch.logdet(x @ x.mT),
            inv=linalg.inv,
            inverse=torch.inverse,
            inv_ex=lambda x: tuple(linalg.inv_ex(x)),
            power=lambda x: linalg.matrix_power(x, -2),
            exp=lambda x: torch.matrix_exp(x / 4),
        ),
        regular(2, 3, 4, 4, dtype=dtype),
    )


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_systems(check, dtype: Any):
    a, b = regular(2, 4, 4, dtype=dtype), numbers(2, 4, 3, dtype=dtype, seed=1)
    check(
        each(
            solve=linalg.solve,
            right=lambda a, b: linalg.solve(a, b.mT, left=False),
            vector=lambda a, b: linalg.solve(a[0], b[0, :, 0]),
            vectors=lambda a, b: linalg.solve(a, b[:, :, 0]),
            broadcast=lambda a, b: linalg.solve(a[0], b),
            solve_ex=lambda a, b: tuple(linalg.solve_ex(a, b)),
            broadcast_ex=lambda a, b: tuple(linalg.solve_ex(a[0], b)),
            checked=lambda a, b: tuple(linalg.solve_ex(a, b, check_errors=True)),
            tensor=lambda a, b: linalg.tensorinv(a[0].reshape(2, 2, 4)),
        ),
        a, b,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", WIDE, ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 5), (5, 3)])
def test_lu_decompositions(check, shape: Any, dtype: Any):
    check(
        each(
            lu=lambda x: tuple(linalg.lu(x)),
            singular=lambda x: tuple(linalg.lu(x * 0)) + tuple(linalg.lu_factor_ex(x * 0)),
            factor=lambda x: tuple(linalg.lu_factor(x)),
            factor_ex=lambda x: tuple(linalg.lu_factor_ex(x)),
            unpacked=lambda x: torch.lu_unpack(*linalg.lu_factor(x)),
            pivots=lambda x: torch.lu_unpack(*linalg.lu_factor(x), unpack_data=False)[0],
            factors=lambda x: torch.lu_unpack(*linalg.lu_factor(x), unpack_pivots=False)[1:],
        ),
        numbers(*shape, dtype=dtype),
    )


def test_systems_by_lu_decompositions(check):
    a, b = numbers(2, 4, 4, dtype=torch.float64), numbers(2, 4, 3, dtype=torch.float64, seed=1)
    check(
        each(
            solve=lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b),
            adjoint=lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True),
            right=lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b.mT, left=False),
            both=lambda a, b: linalg.lu_solve(
                *linalg.lu_factor(a), b.mT, left=False, adjoint=True
            ),
            last=lambda a, b: torch.lu_solve(b, *linalg.lu_factor(a)),
        ),
        a, b,
    )  # fmt: skip


def test_lu_decompositions_of_dynamic_shapes():
    rows, columns = torch.export.Dim("rows", min=2), torch.export.Dim("columns", min=2)
    compiled = xrelax.compile(
        as_model(lambda x: tuple(linalg.lu(x))), (numbers(3, 4),),
        dynamic_shapes=({0: rows, 1: columns},),
    )  # fmt: skip
    for shape in ((3, 4), (5, 2)):
        x = numbers(*shape)
        for own, other in zip(compiled(x), linalg.lu(x), strict=True):
            torch.testing.assert_close(own, other)


def test_lu_decompositions_without_pivots_are_refused():
    with pytest.raises(ValueError, match="with pivots, got pivot=False"):
        xrelax.compile(as_model(lambda x: linalg.lu_factor_ex(x, pivot=False)[0]), (torch.eye(3),))


def test_triangular_systems(check):
    a, b = regular(2, 4, 4), numbers(2, 4, 3, dtype=torch.float64, seed=1)
    check(
        each(
            upper=lambda a, b: linalg.solve_triangular(a, b, upper=True),
            lower=lambda a, b: linalg.solve_triangular(a[0], b, upper=False),
            unit=lambda a, b: linalg.solve_triangular(a, b, upper=True, unitriangular=True),
            right=lambda a, b: linalg.solve_triangular(a, b.mT, upper=True, left=False),
            old=lambda a, b: tuple(torch.triangular_solve(b, a[0])),
            transposed=lambda a, b: tuple(torch.triangular_solve(b, a, False, True)),
            singular=lambda a, b: linalg.solve_triangular(a - a, b, upper=True),
        ),
        a, b,
    )  # fmt: skip


def test_cholesky(check):
    check(
        each(
            lower=linalg.cholesky,
            upper=lambda x: linalg.cholesky(x, upper=True),
            triangle=lambda x: linalg.cholesky(x.triu(), upper=True),
            old=torch.cholesky,
            ex=lambda x: tuple(linalg.cholesky_ex(x, upper=True)),
            inverse=lambda x: torch.cholesky_inverse(linalg.cholesky(x)),
            inverse_upper=lambda x: torch.cholesky_inverse(linalg.cholesky(x).mT, upper=True),
            solve=lambda x: torch.cholesky_solve(x[0], linalg.cholesky(x)),
        ),
        positive(2, 4, 4),
    )


@pytest.mark.parametrize(
    ("dtype", "shape"), [(torch.float32, (2, 5, 3)), (torch.float64, (3, 5))], ids=str
)
def test_decompositions(check, dtype: Any, shape: tuple[int, ...]):
    """Vectors are compared by products in which their signs do not matter."""

    def product(u: Any, s: Any, vh: Any) -> Any:
        return (u * s[..., None, :]) @ vh

    def eigenvectors(x: Any, uplo: str) -> Any:
        values, vectors = linalg.eigh(x @ x.mT + torch.eye(x.shape[-2], dtype=dtype).triu(), uplo)
        return values, product(vectors, values**2, vectors.mT)

    check(
        each(
            qr=lambda x: tuple(linalg.qr(x)),
            complete=lambda x: tuple(linalg.qr(x, mode="complete")),
            r=lambda x: tuple(linalg.qr(x, mode="r")),
            old_qr=lambda x: tuple(torch.qr(x)),
            svd=lambda x: product(*linalg.svd(x, full_matrices=False)),
            full=lambda x: [t.abs().sum(dtype=dtype) * 0 + t.shape[-1] for t in linalg.svd(x)],
            old_svd=lambda x: product(*(t.mT if n == 2 else t for n, t in enumerate(torch.svd(x)))),
            values=linalg.svdvals,
            eigh=lambda x: eigenvectors(x, "L"),
            eigh_upper=lambda x: eigenvectors(x, "U"),
            eigvalsh=lambda x: linalg.eigvalsh(x @ x.mT),
            condition=linalg.cond,
            norm=lambda x: linalg.matrix_norm(x, 2),
            nuclear=lambda x: linalg.matrix_norm(x, "nuc"),
            rank=linalg.matrix_rank,
        ),
        numbers(*shape, dtype=dtype),
    )


def test_pseudoinverses(check):
    """Also of matrices with singular values on both sides of the limit."""
    x = numbers(2, 5, 3, dtype=torch.float64)
    x[0, :, 2] = x[0, :, 0] * (1 + 1e-9)
    limits = torch.tensor([0.0, 3.0], dtype=torch.float64)
    check(
        each(
            default=linalg.pinv,
            old=torch.pinverse,
            wide=lambda x: linalg.pinv(x.mT),
            relative=lambda x: linalg.pinv(x, rtol=0.3),
            absolute=lambda x: linalg.pinv(x, atol=limits),
            both=lambda x: linalg.pinv(x, atol=0.5, rtol=0.1),
            hermitian=lambda x: linalg.pinv(x[1].mT @ x[1], hermitian=True),
            empty=lambda x: linalg.pinv(x[:, :0]),
        ),
        x,
    )


def test_batches_of_any_size(check):
    check(
        each(inv=linalg.inv, solve=lambda x: linalg.solve(x, x[..., 0]), det=linalg.det),
        regular(2, 3, 3),
        dynamic=({0: "b"},),
        others=[(regular(5, 3, 3),), (regular(1, 3, 3),)],
    )


SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (linalg.inv, "expected invertible matrices of 'linalg.inv', got one with pivot 2"),
        (lambda x: linalg.solve(x, x), "expected invertible matrices of 'linalg.solve'"),
        (lambda x: linalg.matrix_power(x, -2), "expected invertible matrices of 'linalg.inv'"),
        (lambda x: linalg.inv_ex(x, check_errors=True)[0], "expected invertible matrices"),
        (linalg.cholesky, "expected positive-definite matrices of 'linalg.cholesky', got one who"),
        (lambda x: linalg.lu_factor(x)[0], "expected full-rank matrices of 'linalg.lu_factor'"),
    ],
)
def test_errors_where_pytorch_has_them(function: Any, message: str):
    with pytest.raises(RuntimeError, match="linalg"):
        function(SINGULAR)
    compiled = xrelax.compile(as_model(function), (torch.eye(2),))
    with pytest.raises(np.linalg.LinAlgError, match=message):
        compiled(SINGULAR)


def test_info_instead_of_errors():
    x = torch.stack([torch.eye(2), SINGULAR])
    compiled = xrelax.compile(as_model(lambda x: tuple(linalg.inv_ex(x))), (x,))
    inverse, info = compiled(x)
    torch.testing.assert_close(info, linalg.inv_ex(x).info)
    torch.testing.assert_close(inverse[0], torch.eye(2))
    assert inverse[1].isnan().all()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_programs_that_are_decomposed_already():
    model = as_model(lambda x: linalg.inv(x) + linalg.inv_ex(x).inverse)
    program = torch.export.export(model, (torch.eye(2),)).run_decompositions()
    compiled = xrelax.compile(program)
    torch.testing.assert_close(compiled(2 * torch.eye(2)), torch.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="expected invertible matrices"):
        compiled(SINGULAR)

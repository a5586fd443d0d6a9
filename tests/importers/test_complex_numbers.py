"""Complex tensors of PyTorch programs: operators, arguments, results and models."""

from typing import Any

import numpy as np
import pytest

import xrelax
from xrelax.importers.unsupported import UnsupportedError

torch = pytest.importorskip("torch")
F = torch.nn.functional

X, Y = (torch.randn(3, 4, dtype=torch.complex64) for _ in range(2))
WIDE = torch.randn(3, 4, dtype=torch.complex128)
R = torch.randn(3, 4)
PICK = torch.tensor([2, 0])


ARITHMETIC = {
    "sums": lambda x, y: (x + y, x - y, torch.add(x, y, alpha=2), x + 1, 2 - x, x - 1j, x + y.real),
    "products": lambda x, y: (x * y, x * 2, 1j * x, x * y.imag, -x, x.square(), x * PICK[0]),
    "quotients": lambda x, y: (x / y, x / 2, 1 / x, x / y.real, y.real / x, x.reciprocal()),
    "powers": lambda x, y: (x**2, x**3, x**-2, x**0, x**1, x**6),
    "exponentials": lambda x, y: (x.exp(), x.log()),
    "magnitudes": lambda x, y: (x.abs(), x.angle(), x.real.angle(), x.sgn(), x.norm()),
    "parts": lambda x, y: (x.real * 2, x.imag, torch.view_as_real(x), x.conj() * y, x.conj().sum()),
    "made": lambda x, y: (
        torch.complex(x.real, y.imag), torch.polar(x.abs(), y.angle()),
        torch.view_as_complex(torch.stack([x.real, y.real], -1)),
    ),
    "filled": lambda x, y: (
        torch.ones_like(x), torch.zeros_like(x), torch.full_like(x, 2 + 1j),
        x + torch.full((4,), 1j), x * torch.ones(4, dtype=torch.complex64),
    ),
    "dtypes": lambda x, y: (
        x.real.to(torch.complex64), x.to(torch.complex128), x * y.real.double(), x * torch.arange(4)
    ),
    "matmuls": lambda x, y: (
        x @ y.mT, x @ y.mH, x @ y[0], torch.vdot(x[0], y[0]),
        torch.einsum("bi,ci->bc", x, y), torch.addmm(x[:, :3], x, y.mT, beta=2, alpha=1j),
        torch.outer(x[0], y[1]), F.linear(x, y), F.linear(x, y, y[0, :3]),
    ),
    "reductions": lambda x, y: (x.sum(), x.sum(-1), x.mean(0, keepdim=True), x.cumsum(1), x.diff()),
    "comparisons": lambda x, y: (x == y, x != y, x == x, x == 1),
    "tests": lambda x, y: [
        test(torch.complex(x.real, y.imag / (y.imag > 0)))
        for test in (torch.isnan, torch.isinf, torch.isfinite)
    ],
    "choices": lambda x, y: (
        torch.where(y.real > 0, x, y), torch.where(y.real > 0, x, 0), x.masked_fill(y.real > 0, 1j),
        torch.where(y.real > 0, x.real, y),
    ),
    "more": lambda x, y: (x.addcmul(x, y, value=2), torch.addcdiv(x, x, y, value=3)),
}  # fmt: skip
MOVEMENT = {
    "shapes": lambda x, y: (
        x.reshape(-1), x.T, x.unsqueeze(1).expand(3, 2, 4), x.repeat(2, 1), x[None].squeeze(0)
    ),
    "slices": lambda x, y: (x[:, 1:3], x[1], *x.split(2, 1), *x.unbind(0), torch.tril(x)),
    "joins": lambda x, y: (torch.cat([x, y.real], 1), torch.stack([x, y]), F.pad(x, (1, 2))),
    "orders": lambda x, y: (x.flip(0), x.roll(1, 1), x.diagonal()),
    "indices": lambda x, y: (x[PICK], x[:, PICK], x.gather(1, PICK[None]), x.index_select(0, PICK)),
    "updates": lambda x, y: (
        x.index_put((PICK,), y[:2]), x.scatter(0, PICK[None], y),
        torch.slice_scatter(x, y[:2], 0, 1), torch.select_scatter(x, y[0].real, 0, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("function", (ARITHMETIC | MOVEMENT).values(), ids=ARITHMETIC | MOVEMENT)
def test_operators(check: Any, function: Any):
    check(function, X, Y)


def test_numbers_of_double_precision(check: Any):
    check(lambda x: (x * x, x.abs(), x / (x + 1j), torch.view_as_real(x)), WIDE)


def test_magnitudes_and_quotients_do_not_overflow(compiled: Any):
    x = torch.tensor([3e30 + 4e30j, 3e-30 + 4e-30j, 0, complex(0, np.inf)], dtype=torch.complex64)
    got = compiled(lambda x: x.abs(), x)
    torch.testing.assert_close(got, torch.tensor([5e30, 5e-30, 0, np.inf]))
    torch.testing.assert_close(compiled(lambda x: x / x, x[:2]), torch.ones(2, dtype=x.dtype))


def test_arguments_and_results_are_complex_tensors():
    """Views, and conjugates that PyTorch has not computed, are valid arguments."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4, dtype=torch.complex64))

        def forward(self, x: Any, scale: Any) -> Any:
            return {"same": x, "sum": x * self.weight * scale, "size": x.abs()}

    batch, model = torch.export.Dim("batch"), Model().eval()
    dynamic = {"x": {0: batch}, "scale": None}
    compiled = xrelax.compile(model, (X, R[0]), dynamic_shapes=dynamic)
    for x in (X, torch.randn(4, 5, dtype=torch.complex64).T, Y.conj(), Y[:1]):
        got, wanted = compiled(x, R[0]), model(x, R[0])
        for name in wanted:
            torch.testing.assert_close(got[name], wanted[name].detach().resolve_conj())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (X.real, "expected argument 'x' to be a torch tensor of dtype complex64, got float32"),
        (WIDE, "expected argument 'x' to be a torch tensor of dtype complex64, got complex128"),
        (X.numpy(), "expected argument 'x' to be a torch tensor of dtype complex64, got ndarray"),
    ],
)
def test_other_arguments_are_refused(given: Any, message: str):
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    compiled = xrelax.compile(Model(), (X,))
    with pytest.raises(TypeError) as caught:
        compiled(given)
    assert str(caught.value) == message


def test_complex_numbers_for_a_real_argument_are_refused():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    model = xrelax.compile(Model(), (torch.view_as_real(X),))
    with pytest.raises(TypeError) as caught:
        model(X)
    assert str(caught.value) == "expected argument 'x' to have real numbers, got complex64"


def test_powers_that_are_not_integral_are_refused():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x**0.3

    with pytest.raises(UnsupportedError, match="expected an integral power of complex numbers"):
        xrelax.compile(Model(), (X,))


def test_the_backend_of_torch_compile_takes_and_returns_complex_numbers():
    function = torch.compile(lambda x, y: (x * y.conj(), x.abs()), backend="xrelax", dynamic=True)
    with torch.no_grad():
        for x in (X, X[:2]):
            product, size = function(x, x + 1)
            torch.testing.assert_close(product, x * (x + 1).conj())
            torch.testing.assert_close(size, x.abs())


class Rotary(torch.nn.Module):
    """The rotary embedding of Llama's reference: positions are angles of complex numbers."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        rates = 1.0 / 10000.0 ** (torch.arange(0, width, 2).float() / width)
        angles = torch.outer(torch.arange(length), rates)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, query: Any, key: Any) -> Any:
        turns = self.turns[: query.shape[1]].view(1, query.shape[1], 1, -1)
        return self.rotated(query, turns), self.rotated(key, turns)

    def rotated(self, x: Any, turns: Any) -> Any:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turns).flatten(3).type_as(x)


def test_rotary_embeddings(check: Any):
    def drawn(*shape: int) -> list[Any]:
        return [torch.randn(*shape) for _ in range(2)]

    dims = {0: "batch"}
    model, others = Rotary(8, 16).eval(), [drawn(1, 5, 2, 8), drawn(3, 5, 2, 8)]
    check(model, *drawn(2, 5, 2, 8), dynamic=[dims, dims], others=others)


def test_products_of_real_and_complex_matrices_are_refused():
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return x @ y

    operands = (torch.ones(3, 3), torch.ones(3, 3, dtype=torch.complex64))
    with pytest.raises(RuntimeError):
        Model()(*operands)
    with pytest.raises(UnsupportedError, match="expected operands of one dtype, got float32 and"):
        xrelax.compile(Model(), operands)

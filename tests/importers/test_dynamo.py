"""`torch.compile` with the backend "xrelax"."""

from collections.abc import Iterator
from typing import Any

import pytest

from xrelax import relax

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    relax.frontend.torch.register_backend()
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4)
    ).eval()


def test_it_is_listed():
    assert "xrelax" in torch._dynamo.list_backends()


@pytest.mark.parametrize("dynamic", [None, True])
def test_several_batch_sizes(dynamic: bool | None):
    reference = model()
    compiled = torch.compile(reference, backend="xrelax", dynamic=dynamic)
    with torch.no_grad():
        for size in (3, 5, 7):
            x = torch.randn(size, 8)
            torch.testing.assert_close(compiled(x), reference(x), rtol=1e-4, atol=1e-5)


def test_one_dynamic_graph_serves_all_sizes():
    compiled = torch.compile(model(), backend="xrelax", dynamic=True)
    with torch.no_grad(), torch._dynamo.config.patch(error_on_recompile=True):
        for size in (3, 5, 9):
            assert compiled(torch.randn(size, 8)).shape == (size, 4)


def test_weights_that_change_are_seen():
    reference = model()
    compiled = torch.compile(reference, backend="xrelax")
    x = torch.randn(3, 8)
    with torch.no_grad():
        compiled(x)
        reference[0].weight.mul_(2)
        torch.testing.assert_close(compiled(x), reference(x), rtol=1e-4, atol=1e-5)


def test_what_is_between_graphs_runs_in_python():
    seen: list[int] = []

    def function(x: Any) -> Any:
        y = x * 2 + 1
        torch._dynamo.graph_break()
        seen.append(len(x))
        return (y - 1, len(x) * 3) if len(x) > 2 else (y, 0)

    compiled = torch.compile(function, backend="xrelax")
    x = torch.randn(4, 2)
    torch.testing.assert_close(compiled(x), (x * 2, 12))
    assert seen == [4]


def test_sizes_among_the_outputs():
    def function(x: Any) -> Any:
        return x.reshape(-1), x.shape[0] * x.shape[1], x + x.shape[0]

    compiled = torch.compile(function, backend="xrelax", dynamic=True)
    for shape in ((3, 4), (5, 6)):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), function(x))


def test_inputs_that_change():
    def function(x: Any) -> Any:
        x.add_(1)
        return x * 2

    x, y = torch.zeros(3), torch.zeros(3)
    torch.testing.assert_close(torch.compile(function, backend="xrelax")(x), function(y))
    torch.testing.assert_close(x, y)


def test_gradients():
    reference = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    compiled = torch.compile(reference, backend="xrelax")
    x = torch.randn(5, 4)
    compiled(x).sum().backward()
    got = [p.grad.clone() for p in reference.parameters()]
    reference.zero_grad()
    reference(x).sum().backward()
    for gradient, p in zip(got, reference.parameters(), strict=True):
        torch.testing.assert_close(gradient, p.grad, rtol=1e-4, atol=1e-5)


def test_operators_without_a_conversion_are_all_named():
    def function(x: Any) -> Any:
        return torch.special.bessel_j0(x) + torch.special.bessel_y1(x)

    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        torch.compile(function, backend="xrelax")(torch.ones(3))
    message = str(caught.value)
    assert "got 2 operations without a conversion" in message
    assert "aten.special_bessel_j0.default" in message
    assert "aten.special_bessel_y1.default" in message


def test_the_entry_point_names_the_backend():
    import tomllib
    from pathlib import Path

    from xrelax.importers.torch import dynamo

    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    entries = settings["project"]["entry-points"]["torch_dynamo_backends"]
    assert entries == {"xrelax": f"{dynamo.__name__}:{dynamo.backend.__name__}"}


def test_integers_among_the_inputs():
    def function(x: Any, n: int) -> Any:
        return x * n + n

    compiled = torch.compile(function, backend="xrelax", dynamic=True)
    x = torch.randn(3)
    for n in (4, 5, 7):
        torch.testing.assert_close(compiled(x, n), function(x, n))


def test_numbers_and_tables_that_the_graph_holds():
    def function(x: Any) -> Any:
        x[:, 0] = 5
        return x[:, *torch.tril_indices(3, 3)], x.sum(), x.diagonal() * 0.1

    compiled = torch.compile(function, backend="xrelax")
    x, y = torch.ones(3, 3, 3), torch.ones(3, 3, 3)
    torch.testing.assert_close(compiled(x), function(y))
    torch.testing.assert_close(x, y)

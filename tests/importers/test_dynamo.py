"""`torch.compile` with the backend "xrelax"."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xrelax import relax
from xrelax.runtime import XRelaxWarning

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    torch._dynamo.reset()
    relax.frontend.torch.register_backend()
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


def two_bessels(x: Any) -> Any:
    y = (x * 2 + 1).relu()
    return torch.special.bessel_j0(y) + torch.special.bessel_y1(x.exp()) * y


def line_of(text: str) -> str:
    """The place of the first line of this file with a text, as messages have it."""
    lines = Path(__file__).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if text in line)
    return f"{__file__}:{number} `{lines[number - 1].strip()}`"


def test_operators_without_a_conversion_run_in_pytorch_and_one_warning_names_them():
    x = torch.rand(4, 3) + 0.5
    with pytest.warns(XRelaxWarning) as caught:
        result = torch.compile(two_bessels, backend="xrelax")(x)
    torch.testing.assert_close(result, two_bessels(x), rtol=1e-4, atol=1e-5)
    place = line_of("torch.special.bessel_j0(y)")
    assert [str(w.message) for w in caught if w.category is XRelaxWarning] == [
        "compiled 6 of 8 operations of a graph, in 2 parts, and PyTorch runs the others: expected "
        f"supported operations, got aten.special_bessel_j0.default at {place}, "
        f"aten.special_bessel_y1.default at {place}; "
        "options={'strict': True} makes this an error"
    ]


PARTS = {
    "sizes": (lambda x: torch.linalg.householder_product(torch.cat([x, x]), x[0]).sum() + x),
    "tuples": (lambda x: torch.special.bessel_j0(x.topk(2)[0]) + x.topk(2)[1]),
    "complex": (lambda x: torch.fft.rfft(x * 2).cumprod(0).abs() + 1),
    "memory": (lambda x: torch.as_strided((x * 2).t() + 1, (2, 2), (1, 2)) * x[:2, :2]),
    "nothing else": torch.special.bessel_j0,
    "no result": (lambda x: (torch.special.bessel_j0(x), x.shape[0] * 2, x)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("function", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.filterwarnings("ignore::xrelax.runtime.XRelaxWarning")
def test_parts_compute_what_pytorch_does(function: Any, dynamic: bool):
    compiled = torch.compile(function, backend="xrelax", dynamic=dynamic)
    for rows in (3, 5):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(compiled(x), function(x), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore::xrelax.runtime.XRelaxWarning")
def test_gradients_through_parts():
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            h = self.first(x)
            return self.last(torch.relu(torch.linalg.householder_product(h, h[0]) + h))

    reference, x = Model(), torch.randn(3, 3)
    torch.compile(reference, backend="xrelax")(x).sum().backward()
    got = [p.grad.clone() for p in reference.parameters()]
    reference.zero_grad()
    reference(x).sum().backward()
    for gradient, p in zip(got, reference.parameters(), strict=True):
        torch.testing.assert_close(gradient, p.grad, rtol=1e-3, atol=1e-4)


def test_dropout_in_training_runs_in_pytorch():
    model = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Dropout(0.5)).train()
    compiled = torch.compile(model, backend="xrelax")
    with pytest.warns(XRelaxWarning, match=r"aten.native_dropout.default at .*: dropout in train"):
        first = compiled(torch.ones(1, 4))
    assert 8 < (first == 0).sum() < 56
    assert not torch.equal(first, compiled(torch.ones(1, 4)))


LAYERS = (torch.nn.LSTM(3, 4), torch.nn.GRU(3, 4, bidirectional=True), torch.nn.RNN(3, 4))


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_recurrent_layers_are_compiled(layer: Any, monkeypatch: pytest.MonkeyPatch):
    from xrelax.importers.torch import partition

    built: list[Any] = []
    original = partition.build
    monkeypatch.setattr(partition, "build", lambda m, **o: built.append(m) or original(m, **o))
    x = torch.randn(5, 2, 3)
    with torch.no_grad():
        result, expected = torch.compile(layer.eval(), backend="xrelax")(x), layer(x)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
    assert len(built) == 1
    assert torch._C._get_mkldnn_enabled()


def test_a_function_that_cannot_be_captured_is_warned_of():
    def function(x: Any) -> Any:
        for _ in range(2):
            x = x * 2
            print(end="")
        return x

    x = torch.randn(3)
    compiled = torch.compile(function, backend="xrelax")
    with pytest.warns(XRelaxWarning) as caught:
        torch.testing.assert_close(compiled(x), x * 4)
    (message,) = [str(w.message) for w in caught if w.category is XRelaxWarning]
    assert message.startswith(
        "PyTorch runs 'function' in Python, and 0 graphs of it are compiled: TorchDynamo could not "
        f"capture {line_of('print(end=')}: "
    )


def test_functions_of_other_backends_are_not_warned_of():
    def function(x: Any) -> Any:
        for _ in range(2):
            x = x * 2
            print(end="")
        return x

    assert torch.compile(function, backend="eager")(torch.ones(2)).tolist() == [4, 4]


def test_strict_names_all_operators_without_a_conversion():
    options = {"strict": True}
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        torch.compile(two_bessels, backend="xrelax", options=options)(torch.ones(3))
    message = str(caught.value)
    assert "got 2 operations without a conversion" in message
    assert "aten.special_bessel_j0.default" in message
    assert "aten.special_bessel_y1.default" in message


def test_the_entry_point_names_the_backend():
    import tomllib

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


def test_relax_dynamo_is_the_backend_with_a_pipeline():
    reference, x = model(), torch.randn(3, 8)
    compiled = torch.compile(reference, backend=relax.frontend.torch.relax_dynamo("zero"))
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), reference(x), rtol=1e-4, atol=1e-5)


def test_captured_subgraphs_are_functions():
    def function(x: Any, y: Any) -> Any:
        z = x / (y.sin() + 2)
        return z * 2 if y.sum() < 100 else z

    x, y = torch.ones(4), torch.arange(4.0)
    mod = relax.frontend.torch.dynamo_capture_subgraphs(function, x, y=y)
    executable = relax.build(mod)
    below, z = executable["subgraph_0"](y, x)  # TorchDynamo's order of inputs
    assert bool(below.numpy())
    result = torch.from_dlpack(executable["subgraph_1"](z))
    torch.testing.assert_close(result, function(x, y), rtol=1e-5, atol=1e-6)


def test_captured_subgraphs_have_the_operators_of_from_fx():
    mod = relax.frontend.torch.dynamo_capture_subgraphs(model(), torch.randn(3, 8))
    names = [op.name for op in mod["subgraph_0"].op.walk()]
    assert names.count("relax.permute_dims") == names.count("relax.matmul") == 2
    assert "relax.linear" not in names


class Eigenvalues(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.linalg.eig(x)[0]


def test_graphs_that_cannot_be_imported_are_refused():
    with pytest.raises(relax.frontend.torch.UnsupportedError, match="linalg_eig"):
        relax.frontend.torch.dynamo_capture_subgraphs(Eigenvalues(), torch.eye(3))

"""What cannot be imported is reported at once, with names, places and advice."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xrelax
from xrelax import relax

torch = pytest.importorskip("torch")
UnsupportedError = relax.frontend.torch.UnsupportedError


class Five(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        a = torch.linalg.householder_product(x, x[0])
        b = torch.complex(x, x).cumprod(0).abs()
        c = torch.special.bessel_j0(x)
        d = torch.linalg.ldl_factor(x @ x.T + 3 * torch.eye(3))[0]
        e = torch.poisson(x.sigmoid())
        return a.sum() + b.sum() + c.sum() + d.sum() + e.sum()


def problems_of(model: torch.nn.Module, *inputs: Any) -> tuple[Any, ...]:
    with pytest.raises(UnsupportedError) as caught:
        xrelax.compile(model.eval(), inputs)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.problems) + 1
    assert lines[0].startswith("expected a model of supported operations, got ")
    return caught.value.problems


def test_all_five_operators_are_reported_with_their_lines():
    problems = problems_of(Five(), torch.randn(3, 3))
    lines = Path(__file__).read_text().splitlines()
    first = next(i for i, line in enumerate(lines, 1) if "householder" in line)
    for offset, name in enumerate(("householder", "cumprod", "bessel_j0", "ldl", "poisson")):
        found = [p for p in problems if name in p.target]
        assert found, name
        place = f"{__file__}:{first + offset} `{lines[first + offset - 1].strip()}`"
        assert found[0].place == place
        assert found[0].advice


class Block(torch.nn.Module):
    def __init__(self, *parts: Any) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)

    def forward(self, x: Any) -> Any:
        for part in self.parts:
            y = part(x)
            x = y if isinstance(y, torch.Tensor) else y[0]
        return x


TRAINING = (
    torch.nn.Dropout(0.5),
    torch.nn.AlphaDropout(0.5),
    torch.nn.BatchNorm1d(4),
    torch.nn.RReLU(),
    torch.nn.LSTM(4, 4, num_layers=2, dropout=0.5),
)


@pytest.mark.parametrize("part", TRAINING, ids=lambda part: type(part).__name__)
def test_modules_that_differ_in_training_mode_are_refused_by_their_path(part: Any):
    model = Block(torch.nn.Linear(4, 4), part).train()
    kind = type(part).__name__
    with pytest.raises(UnsupportedError) as caught:
        xrelax.compile(model, (torch.ones(3, 4),))
    assert str(caught.value) == (
        "expected modules in evaluation mode where training gives other results, "
        f"got model.parts.1 ({kind}): call model.eval() first"
    )
    assert [p.name for p in caught.value.problems] == ["parts.1"]


@pytest.mark.filterwarnings("ignore:The tensor attribute:UserWarning")
def test_modules_that_are_the_same_in_training_mode_are_compiled():
    model = Block(
        torch.nn.Linear(4, 4),
        torch.nn.Dropout(0.0),
        torch.nn.LSTM(4, 4, dropout=0.0),
        torch.nn.LayerNorm(4),
    ).train()
    x = torch.randn(3, 4)
    expected = model(x).detach()
    torch.testing.assert_close(xrelax.compile(model, (x,))(x), expected, rtol=1e-4, atol=1e-5)


def test_an_error_names_a_few_modules_and_counts_the_rest():
    with pytest.raises(UnsupportedError, match=r"model.parts.2 \(Dropout\) and 2 more: "):
        xrelax.compile(Block(*(torch.nn.Dropout() for _ in range(5))), (torch.ones(3, 4),))


def line_of(text: str) -> str:
    """The place of the first line of this file with a text, as messages have it."""
    lines = Path(__file__).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if text in line)
    return f"{__file__}:{number} `{lines[number - 1].strip()}`"


class Item(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x + int(x.sum().item())


class Branch(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x + 1 if x.sum() > 0 else x - 1


@pytest.mark.parametrize(
    ("model", "line"), [(Item(), "int(x.sum().item())"), (Branch(), "if x.sum() > 0")]
)
def test_python_code_that_depends_on_data_is_refused_with_its_line(model: Any, line: str):
    with pytest.raises(UnsupportedError) as caught:
        xrelax.compile(model.eval(), (torch.ones(3),))
    assert str(caught.value) == (
        "expected a model that can be exported, got Python code that depends on the values of a "
        f"tensor at {line_of(line)}: keep the value in a tensor: its use would depend on data"
    )


class Moves(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.arange(3.0))

    def forward(self, x: Any) -> Any:
        self.scale = self.scale.to(x.device)
        return x * self.scale


class Counts(Moves):
    def forward(self, x: Any) -> Any:
        self.scale = self.scale + 1
        return x * self.scale


def test_a_buffer_that_stays_as_it_is_may_be_assigned():
    x = torch.randn(2, 3)
    compiled = xrelax.compile(Moves().eval(), (x,))
    torch.testing.assert_close(compiled(x), Moves()(x))


def test_a_buffer_that_changes_is_refused_with_its_line():
    with pytest.raises(UnsupportedError) as caught:
        xrelax.compile(Counts().eval(), (torch.ones(3),))
    assert str(caught.value) == (
        "expected a program without side effects, got one that changes buffer 'scale' at "
        f"{line_of('self.scale + 1')}: return the new value, or call eval()"
    )


@pytest.mark.filterwarnings("ignore")
def test_models_quantized_in_eager_mode_are_refused_by_the_modules():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval()
    quantized = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear})
    with pytest.raises(UnsupportedError) as caught:
        xrelax.compile(quantized, (torch.ones(1, 4),))
    assert str(caught.value) == (
        "expected modules with tensors as weights, got model.0 (Linear): "
        "compile the model as it was before torch.ao.quantization"
    )


def test_operators_that_need_real_numbers_are_reported_for_complex_ones():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.to(torch.complex64).cumprod(0).abs()

    (problem,) = problems_of(Model(), torch.ones(2))
    assert (problem.target, problem.reason) == (
        "aten.cumprod.default",
        "expected real numbers, got complex64",
    )
    assert "torch.view_as_real" in problem.advice


def test_the_error_of_a_converter_is_the_cause():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.special.bessel_j1(x)

    def wrong(context: Any, *args: Any) -> Any:
        raise TypeError("expected a better converter")

    with pytest.raises(UnsupportedError, match="a better converter") as caught:
        relax.frontend.torch.from_exported_program(
            torch.export.export(Model(), (torch.ones(2),)),
            custom_convert_map={"aten.special_bessel_j1.default": wrong},
        )
    assert isinstance(caught.value.__cause__, TypeError)


REPLACED = """
import torch, xrelax
from xrelax.relax.frontend.torch import converts

@converts("aten.gelu.default")
def gelu(context, x, approximate="none"):
    return context.op("nn.relu", x)

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x)

x = torch.tensor([-1.0, 2.0])
assert xrelax.compile(Model(), (x,))(x).tolist() == [0, 2]
"""


def test_a_converter_replaces_one_of_ours_also_before_the_first_import():
    subprocess.run([sys.executable, "-c", REPLACED], check=True)


def test_nodes_that_no_result_needs_are_no_problem():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            torch.special.bessel_j0(x)
            return x + 1

    assert xrelax.compile(Model(), (torch.ones(2),))(torch.ones(2)).tolist() == [2, 2]


@pytest.mark.filterwarnings("ignore:The tensor attribute:UserWarning")
@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_layers_that_drop_values_in_an_exported_program(kind: Any):
    layer, x = kind(3, 4, num_layers=2, dropout=0.5), torch.ones(5, 2, 3)
    with pytest.raises(UnsupportedError, match=r"dropout in training mode; call model.eval\(\)"):
        xrelax.compile(torch.export.export(layer.train(), (x,)))
    assert xrelax.compile(torch.export.export(layer.eval(), (x,)))(x)[0].shape == (5, 2, 4)

"""What cannot be imported is reported at once, with names, places and advice."""

from pathlib import Path
from typing import Any

import pytest

import xrelax
from xrelax import relax

torch = pytest.importorskip("torch")
UnsupportedError = relax.frontend.torch.UnsupportedError


class Five(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        a = torch.linalg.svd(x)[1]
        b = torch.fft.rfft(x).abs()
        c = torch.special.bessel_j0(x)
        d = torch.linalg.cholesky(x @ x.T + 3 * torch.eye(3))
        e = torch.bernoulli(x.sigmoid())
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
    first = next(i for i, line in enumerate(lines, 1) if "svd" in line)
    for offset, name in enumerate(("svd", "fft", "bessel_j0", "cholesky", "rand")):
        found = [p for p in problems if name in p.target]
        assert found, name
        place = f"{__file__}:{first + offset} `{lines[first + offset - 1].strip()}`"
        assert found[0].place == place
        assert found[0].advice


def test_sizes_that_depend_on_data_are_reported_with_what_to_do():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x[x > 0].sum()

    problems = problems_of(Model(), torch.randn(3))
    assert any("depends on data" in str(p) for p in problems)


def test_training_mode_is_reported_with_what_to_do():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    with pytest.raises(UnsupportedError, match=r"dropout in training mode; call model.eval\(\)"):
        xrelax.compile(model.train(), (torch.ones(1, 4),))


def test_complex_numbers_are_reported():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return (x.to(torch.complex64) * 2j).abs()

    problems = problems_of(Model(), torch.ones(2))
    assert any("got complex64" in p.reason for p in problems)


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


def test_nodes_that_no_result_needs_are_no_problem():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            torch.special.bessel_j0(x)
            return x + 1

    assert xrelax.compile(Model(), (torch.ones(2),))(torch.ones(2)).tolist() == [2, 2]


def test_control_flow_is_one_problem():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    (problem,) = problems_of(Model(), torch.ones(3))
    assert problem.target == "higher_order.cond"
    assert "torch.where" in problem.advice


def test_symbol_that_no_input_gives():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.reshape(2, -1) * 2

    half = torch.export.Dim("half", min=1, max=8)
    with pytest.raises(
        ValueError, match=r"^expected a dim of an input that is '\w+' itself, got only"
    ):
        xrelax.compile(Model(), (torch.ones(8),), dynamic_shapes={"x": {0: 2 * half}})

"""`compiled.debug`: models compared operation by operation, with the names that PyTorch gives."""

from pathlib import Path
from typing import Any

import pytest

import xrelax
from xrelax.dialects.relax.operators.gelu import GeluOp

torch = pytest.importorskip("torch")


class Block(torch.nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(channels)
        self.point = torch.nn.Conv2d(channels, channels, 1)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.norm(self.conv(x)))
        return torch.relu(self.point(y) + x)


class Classifier(torch.nn.Module):
    def __init__(self, factor: float = 1.0):
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(16, 32)
        self.second = torch.nn.Linear(32, 8)
        self.second.weight.data.mul_(factor)

    def forward(self, x: Any) -> Any:
        hidden = torch.nn.functional.gelu(self.first(x))
        return torch.softmax(self.second(hidden), -1)


def residual() -> tuple[Any, Any]:
    torch.manual_seed(0)
    pool = torch.nn.MaxPool2d(2), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    first = torch.nn.Conv2d(3, 16, 3, stride=2)
    model = torch.nn.Sequential(first, Block(16), *pool, torch.nn.Linear(16, 10))
    return model.eval(), torch.randn(2, 3, 21, 21)


def transformer() -> tuple[Any, Any]:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
    return layer.eval(), torch.randn(2, 8, 32)


def classifier() -> tuple[Any, Any]:
    return Classifier().eval(), torch.randn(4, 16)


@pytest.mark.parametrize("make", [classifier, transformer, residual])
def test_models_have_no_bad_operation(make: Any):
    model, x = make()
    compiled = xrelax.compile(model, (x,))
    for reference in ("f64", "torch"):
        report = compiled.debug(x, reference=reference)
        assert report.first_bad is None
        assert sum(o.verdict == "ok" for o in report) > len(report) // 4
        torch.testing.assert_close(torch.from_dlpack(report.result[0]), compiled(x), rtol=0, atol=0)


def test_operations_have_names_modules_and_lines():
    model, x = residual()
    report = xrelax.compile(model, (x,)).debug(x, reference="torch")
    names = [o.name for o in report]
    assert len(set(names)) == len(names)
    assert report["conv2d_1"].module == "1.conv" and report["relu_1"].module == "1"
    assert report["relu_1"].source == f"{__file__}:{_line('self.point(y) + x)')}"
    assert "conv2d_2" in report["relu_1"].operations and "add" in report["relu_1"].operations
    assert report.reference == "PyTorch"


def _line(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if text in line)


def test_a_wrong_operator_is_named(monkeypatch: pytest.MonkeyPatch):
    right = GeluOp.compute.__func__  # pyright: ignore

    def wrong(cls: Any, te: Any, tensors: Any, attributes: Any) -> Any:
        x = right(cls, te, tensors, attributes)
        return te.elementwise(lambda v: v + te.const(0.01, v.dtype), x, name="T_wrong")

    monkeypatch.setattr(GeluOp, "compute", classmethod(wrong))
    model, x = classifier()
    compiled = xrelax.compile(model, (x,))
    for reference in ("f64", "torch"):
        bad = compiled.debug(x, reference=reference).first_bad
        assert bad.name == "gelu" and bad.operations == ("linear", "gelu")
        assert bad.source == f"{__file__}:{_line('functional.gelu(self.first(x))')}"


def test_two_models_of_one_graph():
    model, x = classifier()
    compiled = xrelax.compile(model, (x,))
    same = xrelax.compile(model, (x,), target="llvm -mcpu=haswell")
    assert compiled.debug(x, reference=same).first_bad is None
    other = xrelax.compile(Classifier(1.01).eval(), (x,))
    report = compiled.debug(x, reference=other)
    assert report["gelu"].verdict == "ok"
    assert report.first_bad.name == "linear_1" and report.first_bad.module == "second"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_models_of_two_dtypes(dtype: Any):
    """The reference gets the same numbers in its own dtype."""
    model, x = classifier()
    x = x.to(torch.bfloat16)
    compiled = xrelax.compile(model, (x.float(),))
    other, _ = classifier()
    short = xrelax.compile(other.to(dtype), (x.to(dtype),))
    report = short.debug(x.to(dtype), reference=compiled)
    assert report.first_bad is None
    expected = compiled.debug(x.float())["gelu"].values[0]
    assert (report["gelu"].expected[0] == expected).all()


@pytest.mark.parametrize("precision", ["bf16", "f16"])
def test_builds_with_operands_of_fewer_bits(precision: str):
    """Their rounding is none that is wrong; without it the error is too large."""
    model, x = classifier()
    compiled = xrelax.compile(model, (x,))
    short = xrelax.compile(model, (x,), precision=precision)
    for reference in ("f64", "torch", compiled):
        report = short.debug(x, reference=reference)
        assert report.first_bad is None and report["softmax"].error.largest > 0
    assert compiled.debug(x, reference=short).first_bad is None
    assert short.debug(x, rtol=1e-6).first_bad is not None
    other = xrelax.compile(Classifier(1.5).eval(), (x,))
    assert short.debug(x, reference=other).first_bad.module == "second"


def test_dynamic_shapes_and_structures():
    class Two(torch.nn.Module):
        def forward(self, x: Any, n: int, *, y: Any) -> Any:
            first, second = torch.split(torch.exp(x), 3, dim=1)
            return {"a": torch.cumsum(first * n, 0), "b": second + y}

    shapes = {"x": {0: torch.export.Dim("batch")}, "n": None, "y": None}
    inputs = {"y": torch.ones(3)}
    compiled = xrelax.compile(Two(), (torch.ones(4, 6), 2), inputs, dynamic_shapes=shapes)
    x = torch.randn(7, 6)
    for reference in ("f64", "torch"):
        report = compiled.debug(x, 2, y=torch.randn(3), reference=reference)
        assert report.first_bad is None and report["cumsum"].verdict == "ok"
        assert report["cumsum"].shapes == ((7, 3),)


def test_a_model_without_operations_has_no_bad_one():
    class Same(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    x = torch.randn(3)
    for reference in ("f64", "torch"):
        report = xrelax.compile(Same(), (x,)).debug(x, reference=reference)
        assert len(report) == 0 and report.first_bad is None


def test_uninitialized_memory_is_not_compared():
    class Filled(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            room, other = torch.empty_like(x), x.new_empty(3)
            return torch.sort(room)[0], other, torch.exp(x)

    x = torch.randn(4)
    report = xrelax.compile(Filled(), (x,)).debug(x, reference="torch")
    assert [o.name for o in report if "empty" in o.name and o.error is not None] == []
    assert report["exp"].verdict == "ok"


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch, where its trees are pickled
def test_wrong_requests_are_one_line():
    import pickle

    model, x = classifier()
    compiled = xrelax.compile(model, (x,))
    with pytest.raises(ValueError, match=r"^expected reference 'f64', .*, got 'jax'"):
        compiled.debug(x, reference="jax")
    model, image = residual()
    with pytest.raises(
        ValueError, match=r"^expected a reference with parameters \(x: .*\), got \(input: "
    ):
        compiled.debug(x, reference=xrelax.compile(model, (image,)))
    with pytest.raises(ValueError, match=r"argument 'x'"):
        compiled.debug(x[:, :3])
    with pytest.raises(ValueError, match=r"to debug, got one from a pickle"):
        pickle.loads(pickle.dumps(compiled)).debug(x)

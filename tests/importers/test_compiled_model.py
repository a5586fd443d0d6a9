"""Compiled models are called as the models are, and say in one line what does not fit."""

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import xrelax

torch = pytest.importorskip("torch")
Dim = torch.export.Dim


class Pair(NamedTuple):
    first: Any
    second: Any


class Model(torch.nn.Module):
    def forward(self, x: Any, n: int, mask: Any = None, *, extra: Any = None) -> Any:
        y = x * n if mask is None else x * mask
        total = y if extra is None else y + extra["bias"]
        return {"total": total, "pair": Pair(x + 1, None), "size": x.shape[0], "n": n}


@pytest.fixture(scope="module")
def compiled() -> Any:
    shapes = {"x": {0: Dim("batch", min=2, max=64)}, "n": None, "extra": {"bias": None}}
    return xrelax.compile(
        Model(), (torch.ones(4, 3), 2), {"extra": {"bias": torch.ones(3)}}, dynamic_shapes=shapes
    )


def bias() -> dict[str, Any]:
    return {"bias": torch.arange(3.0)}


def test_outputs_have_the_structure_of_the_model(compiled: Any):
    x = torch.randn(5, 3)
    result, expected = (m(x, 2, extra=bias()) for m in (compiled, Model()))
    assert list(result) == list(expected)
    assert isinstance(result["pair"], Pair) and result["pair"].second is None
    assert (result["size"], result["n"]) == (5, 2)
    torch.testing.assert_close(result["total"], expected["total"])
    torch.testing.assert_close(result["pair"].first, expected["pair"].first)


def test_arguments_by_name_in_any_order(compiled: Any):
    x = torch.randn(5, 3)
    torch.testing.assert_close(
        compiled(extra=bias(), n=2, x=x)["total"], compiled(x, 2, extra=bias())["total"]
    )


def test_numpy_in_gives_tensors_of_the_runtime(compiled: Any):
    x = np.ones((3, 3), np.float32)
    result = compiled(x, 2, extra={"bias": np.zeros(3, np.float32)})["total"]
    assert type(result).__module__.startswith("xrelax")
    assert result.numpy().tolist() == (x * 2).tolist()


def test_results_are_new_memory_that_torch_may_write(compiled: Any):
    x = torch.randn(4, 3)
    first = compiled(x, 2, extra=bias())["total"]
    second = compiled(x, 2, extra=bias())["total"]
    first.zero_()
    torch.testing.assert_close(second, x * 2 + bias()["bias"])


def test_tensors_that_are_not_contiguous(compiled: Any):
    x = torch.randn(3, 4).t()
    torch.testing.assert_close(compiled(x, 2, extra=bias())["total"], x * 2 + bias()["bias"])
    x = torch.randn(8, 3)[::2]
    torch.testing.assert_close(compiled(x, 2, extra=bias())["total"], x * 2 + bias()["bias"])


def test_tensors_with_gradients_only_where_none_are_recorded(compiled: Any):
    x = torch.randn(4, 3, requires_grad=True)
    with pytest.raises(ValueError, match="expected argument 'x' without a gradient"):
        compiled(x, 2, extra=bias())
    with torch.no_grad():
        result = compiled(x, 2, extra=bias())["total"]
    assert not result.requires_grad
    parameter = torch.nn.Parameter(x.detach())
    with torch.inference_mode():
        torch.testing.assert_close(compiled(parameter, 2, extra=bias())["total"], result)


X = torch.ones(4, 3)
CASES: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "missing": (TypeError, r"the model expects 3 arguments \(x, n, extra\), got 1", lambda m: m(X)),
    "unknown": (TypeError, r"the model has no argument 'y', expected \(x, n, extra\)",
                lambda m: m(X, 2, extra=bias(), y=1)),
    "twice": (TypeError, "the model got two values for argument 'x'", lambda m: m(X, 2, x=X)),
    "many": (TypeError, "the model expects 3 arguments", lambda m: m(X, 2, bias(), 4)),
    "structure": (TypeError, "expected arguments of structure", lambda m: m(X, 2, extra=[X])),
    "constant": (ValueError, "expected argument 'n' to be 2, its value in the export, got 3",
                 lambda m: m(X, 3, extra=bias())),
    "dtype": (TypeError, "expected argument 'x' to have dtype float32, got float64",
              lambda m: m(X.double(), 2, extra=bias())),
    "rank": (ValueError, r"expected argument 'x' to have shape \(batch, 3\), got \(3,\)",
             lambda m: m(X[0], 2, extra=bias())),
    "static dim": (ValueError, r"expected argument 'x' to have shape \(batch, 3\), got \(4, 5\)",
                   lambda m: m(torch.ones(4, 5), 2, extra=bias())),
    "range": (ValueError, r"expected dim 0 \('batch'\) of argument 'x' to be in \[2, 64\], got 65",
              lambda m: m(torch.ones(65, 3), 2, extra=bias())),
    "device": (ValueError, "expected argument 'x' on the cpu, got a tensor on meta",
               lambda m: m(X.to("meta"), 2, extra=bias())),
    "kind": (TypeError, "expected argument 'x' to be a tensor, got float",
             lambda m: m(1.5, 2, extra=bias())),
    "sparse": (ValueError, "expected argument 'x' to be dense, got a tensor of layout sparse_coo",
               lambda m: m(X.to_sparse(), 2, extra=bias())),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_wrong_argument(case: str, compiled: Any):
    kind, message, call = CASES[case]
    with pytest.raises(kind, match=message) as caught:
        call(compiled)
    assert "\n" not in str(caught.value)


def test_symbol_that_two_arguments_contradict():
    class Sum(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

    batch = Dim("batch")
    model = xrelax.compile(Sum(), (X, X), dynamic_shapes={"x": {0: batch}, "y": {0: batch}})
    with pytest.raises(ValueError, match="'batch' to be 4 as in argument 'x', got 3 in argument"):
        model(X, X[:3])


def test_example_inputs_that_do_not_fit():
    with pytest.raises(TypeError, match=r"inputs for Model, got 1: missing a required"):
        xrelax.compile(Model(), (X,))
    with pytest.raises(TypeError, match=r"example inputs for a torch.nn.Module"):
        xrelax.compile(Model())
    with pytest.raises(TypeError, match="expected a tuple of example inputs, got Tensor"):
        xrelax.compile(Model(), X)
    exported = torch.export.export(torch.nn.ReLU(), (X,))
    with pytest.raises(TypeError, match="expected no example inputs for an exported program"):
        xrelax.compile(exported, (X,))


def test_exported_program_and_checked_build():
    exported = torch.export.export(torch.nn.Linear(3, 2), (X,))
    model = xrelax.compile(exported, check=True)
    assert model(X).shape == (4, 2)


def test_constant_and_repeated_outputs():
    class Outputs(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(3.0))

        def forward(self, x: Any) -> Any:
            y = x + 1
            return y, y, x, self.weight

    model = xrelax.compile(Outputs(), (X,))
    for got, expected in zip(model(X), Outputs()(X), strict=True):
        torch.testing.assert_close(got, expected.detach())


def test_inputs_that_nothing_reads():
    class Some(torch.nn.Module):
        def forward(self, x: Any, unused: Any) -> Any:
            return x + 1

    assert xrelax.compile(Some(), (X, X))(X, X).tolist() == (X + 1).tolist()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int32, torch.bool], ids=str)
def test_dtypes_travel_without_a_copy(dtype: Any):
    class Same(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.flip(0)

    x = torch.tensor([0, 1, 1, 0, 1]).to(dtype)
    torch.testing.assert_close(xrelax.compile(Same(), (x,))(x), x.flip(0))


def test_integers_that_change():
    class Power(torch.nn.Module):
        def forward(self, x: Any, n: int) -> Any:
            return x * n + torch.arange(n).sum(), n + 1

    model = xrelax.compile(Power(), (X, 3), dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    for n in (3, 5, 8):
        result, expected = model(X, n), Power()(X, n)
        torch.testing.assert_close(result[0], expected[0])
        assert result[1] == expected[1]


def test_numbers_that_change_but_are_no_integers():
    class Scale(torch.nn.Module):
        def forward(self, x: Any, factor: float) -> Any:
            return x * factor

    model = xrelax.compile(Scale(), (X, 0.5))
    torch.testing.assert_close(model(X, 0.5), X * 0.5)
    with pytest.raises(ValueError, match=r"argument 'factor' to be 0\.5, its value in the"):
        model(X, 0.25)
    with pytest.raises(ValueError, match=r"argument 'factor' to be 0\.5, its value in the"):
        model(X, np.array([0.5, 0.5]))


class Sum(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + y, x * y


@pytest.fixture(scope="module")
def summed() -> Any:
    batch = torch.export.Dim("batch", min=2, max=8)
    shapes = {"x": {0: batch}, "y": {0: batch}}
    return xrelax.compile(Sum(), (torch.ones(4, 3), torch.ones(4, 3)), dynamic_shapes=shapes)


def test_calls_with_tensors_by_position_are_native(summed: Any, monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    original = type(summed)._tensors
    monkeypatch.setattr(
        type(summed), "_tensors", lambda *args: seen.append(args) or original(*args)
    )
    for rows in (2, 3, 2, 3, 8):
        x, y = torch.rand(rows, 3), torch.rand(rows, 3)
        result = summed(x, y)
        assert type(result) is tuple and all(type(r) is torch.Tensor for r in result)
        torch.testing.assert_close(result, Sum()(x, y))
        assert result[0].data_ptr() != x.data_ptr()
    assert len(seen) == 3


def test_arguments_that_native_code_leaves_to_the_model(summed: Any):
    x, y = torch.rand(4, 3), torch.rand(4, 3)
    summed(x, y)
    expected = Sum()(x, y)
    others = {
        "strided": x.T.contiguous().T,
        "parameter": torch.nn.Parameter(x, requires_grad=False),
        "negated": torch._neg_view(-x),
        "numpy": x.numpy(),
    }
    for other in others.values():
        torch.testing.assert_close(summed(other, y), expected)
        torch.testing.assert_close(summed(x=other, y=y), expected)
    with torch.no_grad():
        torch.testing.assert_close(summed(x.clone().requires_grad_(), y), expected)
    with pytest.raises(ValueError, match="expected argument 'x' without a gradient"):
        summed(x.clone().requires_grad_(), y)
    with pytest.raises(ValueError, match=r"\('batch'\) of argument 'x' to be in \[2, 8\], got 9"):
        summed(torch.rand(9, 3), torch.rand(9, 3))
    with pytest.raises(TypeError, match="the model expects 2 arguments"):
        summed(x)
    assert not isinstance(summed(x.numpy(), y.numpy())[0], torch.Tensor)


def test_dims_outside_of_the_range_are_refused_by_every_call(summed: Any):
    x = torch.rand(9, 3)
    for call in (summed, summed.executable["main"]) * 2:
        with pytest.raises(ValueError, match="to be in"):
            call(x, x)


@pytest.fixture
def clamped() -> Any:
    return xrelax.compile(torch.nn.Hardtanh(0, 9), (torch.zeros(1 << 22),))


def test_large_results_are_torch_tensors_in_the_memory_of_former_ones(
    clamped: Any, monkeypatch: pytest.MonkeyPatch
):
    x = torch.arange(1 << 22, dtype=torch.float32)
    clamped(x)
    monkeypatch.setattr(type(clamped), "_tensors", None)
    first = clamped(x)
    assert type(first) is torch.Tensor and torch.equal(first, x.clamp(0, 9))
    address, part = first.data_ptr(), first[5:7]
    del first
    assert clamped(x).data_ptr() != address and part.tolist() == [5, 6]
    del part
    assert address in [r.data_ptr() for r in (clamped(x), clamped(x))]


def test_large_results_under_a_mode_whose_new_tensors_have_no_data(clamped: Any):
    from torch._subclasses import FakeTensorMode

    x = torch.ones(1 << 22)
    clamped(x)
    with FakeTensorMode():
        found = clamped(x)
    assert torch.equal(found, x)


def test_calls_under_a_mode_whose_new_tensors_have_no_data(summed: Any):
    from torch._subclasses import FakeTensorMode

    x, y = torch.rand(4, 3), torch.rand(4, 3)
    expected = Sum()(x, y)
    summed(x, y)
    with FakeTensorMode():
        found = summed(x, y)
    torch.testing.assert_close(found, expected)


def test_a_saved_model_is_an_executable(summed: Any, tmp_path: Any):
    summed.save(tmp_path / "model")
    x, y = torch.rand(4, 3), torch.rand(4, 3)
    total, product = xrelax.runtime.load(tmp_path / "model")["main"](x, y)
    torch.testing.assert_close(torch.from_dlpack(total), x + y)
    torch.testing.assert_close(torch.from_dlpack(product), x * y)


def test_what_a_model_is_in_one_line(summed: Any):
    assert repr(summed) == (
        "<CompiledModel main(x: float32 (batch, 3), y: float32 (batch, 3)) -> "
        "(float32 (batch, 3), float32 (batch, 3)); 0 bytes of weights>"
    )
    linear = xrelax.compile(torch.nn.Linear(3, 5).eval(), (X,), target="llvm -mcpu=x86-64")
    size = sum(c.layout.nbytes for c in linear.executable.constants)
    assert size >= 20 * 4 and repr(linear).endswith(f"; {size:,} bytes of weights>")


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_pickled_model_is_called_as_the_model_is(compiled: Any, summed: Any):
    again = pickle.loads(pickle.dumps(compiled))
    x = torch.randn(5, 3)
    result, expected = again(x, 2, extra=bias()), compiled(x, 2, extra=bias())
    assert list(result) == list(expected) and isinstance(result["pair"], Pair)
    assert (result["size"], result["n"], repr(again)) == (5, 2, repr(compiled))
    torch.testing.assert_close(result["total"], expected["total"])
    for case in ("range", "structure", "constant"):
        kind, message, call = CASES[case]
        with pytest.raises(kind, match=message):
            call(again)
    with pytest.raises(ValueError, match="process has compiled to have its module, got one from"):
        again.module
    for _ in range(3):
        torch.testing.assert_close(pickle.loads(pickle.dumps(summed))(x, x), (x + x, x * x))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_deep_model_is_pickled():
    layers = [torch.nn.ReLU() for _ in range(300)]
    model = xrelax.compile(torch.nn.Sequential(*layers).eval(), (X,))
    assert torch.equal(pickle.loads(pickle.dumps(model))(X), model(X))

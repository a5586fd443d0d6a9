"""Graphs of `torch.fx` as modules, as TVM's importer takes them."""

from typing import Any

import numpy as np
import pytest

from xrelax import relax

torch = pytest.importorskip("torch")
from_fx = relax.frontend.torch.from_fx


def traced(*parts: torch.nn.Module) -> Any:
    torch.manual_seed(0)
    return torch.fx.symbolic_trace(torch.nn.Sequential(*parts))


def assert_equal(model: Any, info: list[Any], *inputs: Any) -> None:
    executable = relax.build(from_fx(model, info))
    result = executable["main"](*inputs)
    with torch.no_grad():
        expected = model.eval()(*inputs)
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_perceptron(bias: bool):
    model = traced(
        torch.nn.Linear(784, 128, bias=bias), torch.nn.ReLU(), torch.nn.Linear(128, 10, bias=bias)
    )
    assert_equal(model, [((1, 784), "float32")], torch.randn(1, 784))


def test_convolutions_and_norms():
    model = traced(
        torch.nn.Conv2d(3, 8, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(2),
        torch.nn.Dropout(0.5),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 5),
    )
    assert_equal(model, [((2, 3, 8, 8), "float32")], torch.randn(2, 3, 8, 8))


def test_functions_and_several_inputs():
    class Model(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.nn.functional.softmax(x + y * 2, dim=-1)

    model = torch.fx.symbolic_trace(Model())
    info = [((3, 4), "float32"), ((4,), "float32")]
    assert_equal(model, info, torch.randn(3, 4), torch.randn(4))


def test_names_are_those_of_tvm():
    mod = from_fx(traced(torch.nn.Linear(4, 2)), [((1, 4), "float32")])
    assert mod["main"].op.names == ("inp_0",)
    kept = from_fx(traced(torch.nn.Linear(4, 2)), [((1, 4), "float32")], keep_params_as_input=True)
    assert len(kept["main"].op.names) == 3
    assert kept["main"].attrs["num_input"] == 1


def test_the_mode_of_the_model_stays():
    model = traced(torch.nn.Dropout(0.5)).train()
    from_fx(model, [((2,), "float32")])
    assert model.training


def test_wrong_number_of_inputs():
    with pytest.raises(ValueError, match=r"for each input \(input_1\), got 2"):
        from_fx(traced(torch.nn.ReLU()), [((2,), "float32"), ((2,), "float32")])


class Function(torch.nn.Module):
    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "type_", "expected"),
    [
        (lambda x: x.size(), "R.Shape([1, 4])", (1, 4)),
        (lambda x: x.numel(), 'R.Tensor((), dtype="int32")', 4),
        (lambda x: x.is_floating_point(), 'R.Tensor((), dtype="bool")', True),
        (lambda x: x[0, 1:2].item(), 'R.Tensor((), dtype="float32")', 2.5),
        (
            lambda x: (None, x.shape, x.size(0)),
            'R.Tuple(R.Object, R.Shape([1, 4]), R.Tensor((), dtype="int32"))',
            (None, (1, 4), 1),
        ),
    ],
)
def test_results_other_than_tensors(function: Any, type_: str, expected: Any):
    mod = from_fx(torch.fx.symbolic_trace(Function(function)), [((1, 4), "float32")])
    assert f") -> {type_}:" in mod.script()
    result = relax.build(mod)["main"](torch.tensor([[1, 2.5, 3, 4]]))
    assert plain(result) == expected


def plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(plain(r) for r in result)
    return result.numpy().item() if hasattr(result, "numpy") else result


def test_results_without_a_counterpart():
    model = torch.fx.symbolic_trace(Function(lambda x: (x, "a")))
    with pytest.raises(
        relax.frontend.torch.UnsupportedError, match="tensors, numbers or None, got 'a'"
    ):
        from_fx(model, [((1, 4), "float32")])


def test_weights_as_inputs_are_in_the_order_of_names():
    mod = from_fx(traced(torch.nn.Linear(4, 2)), [((1, 4), "float32")], keep_params_as_input=True)
    assert mod["main"].op.names == ("inp_0", "0_bias", "0_weight")
    _, params = relax.frontend.detach_params(mod)
    assert [p.shape for p in params["main"]] == [(2,), (2, 4)]

"""LSTM, GRU and plain recurrent layers of PyTorch, as loops of any length."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import xrelax  # noqa: E402

TIME = torch.export.Dim("time", min=1, max=512)


class OfSequence(torch.nn.Module):
    def __init__(self, layer: Any):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


class OfStates(torch.nn.Module):
    def __init__(self, layer: Any):
        super().__init__()
        self.layer = layer

    def forward(self, x, h, c):
        outputs, (h, c) = self.layer(x, (h, c))
        return torch.relu(outputs[-1]), h, c


def is_equal(found: Any, wanted: Any) -> None:
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(
    "options",
    [
        {"num_layers": 2, "bidirectional": True},
        {"batch_first": True, "bias": False},
    ],
    ids=str,
)
def test_any_length(kind: str, options: dict[str, Any]):
    torch.manual_seed(0)
    model = OfSequence(getattr(torch.nn, kind)(5, 6, **options)).eval()
    axis = 1 if options.get("batch_first") else 0
    x = torch.randn(3, 4, 5)
    shapes, check = {"x": {axis: TIME}}, kind == "LSTM" and "bias" in options
    compiled = xrelax.compile(model, (x,), dynamic_shapes=shapes, check=check)
    assert compiled.module.script().count("R.loop") == options.get("num_layers", 1) * (
        2 if options.get("bidirectional") else 1
    )
    for length in (1, 2, 37):
        shape = [3, 4, 5]
        shape[axis] = length
        x = torch.randn(shape)
        with torch.no_grad():
            is_equal(compiled(x), model(x))


def test_given_states_and_relu():
    torch.manual_seed(0)
    model = OfStates(torch.nn.LSTM(5, 6, num_layers=2)).eval()
    args = torch.randn(7, 2, 5), torch.randn(2, 2, 6), torch.randn(2, 2, 6)
    shapes = {"x": {0: TIME}, "h": None, "c": None}
    compiled = xrelax.compile(model, args, dynamic_shapes=shapes)
    with torch.no_grad():
        is_equal(compiled(*args), model(*args))
    plain = OfSequence(torch.nn.RNN(5, 6, nonlinearity="relu")).eval()
    with torch.no_grad():
        is_equal(xrelax.compile(plain, (args[0],))(args[0]), plain(args[0]))


def test_a_sequence_without_a_batch_and_a_dynamic_batch():
    torch.manual_seed(0)
    model = OfSequence(torch.nn.GRU(5, 6)).eval()
    x = torch.randn(7, 5)
    with torch.no_grad():
        is_equal(xrelax.compile(model, (x,))(x), model(x))
    shapes = {"x": {0: TIME, 1: torch.export.Dim("batch", min=2, max=64)}}
    compiled = xrelax.compile(model, (torch.randn(3, 2, 5),), dynamic_shapes=shapes)
    x = torch.randn(11, 9, 5)
    with torch.no_grad():
        is_equal(compiled(x), model(x))


def test_debug_compares_with_pytorch():
    torch.manual_seed(0)
    model = OfSequence(torch.nn.LSTM(5, 6)).eval()
    x = torch.randn(7, 2, 5)
    assert xrelax.compile(model, (x,)).debug(x, reference="torch").first_bad is None


def test_modules_call_pytorch_again_after_the_export():
    layer = torch.nn.LSTM(5, 6).eval()
    xrelax.compile(OfSequence(layer), (torch.randn(3, 2, 5),))
    from torch.nn.modules import rnn

    assert rnn._VF is torch._VF
    assert layer(torch.randn(3, 2, 5))[0].requires_grad


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("bias", [True, False])
def test_projections(bias: bool):
    torch.manual_seed(0)
    layer = torch.nn.LSTM(5, 6, num_layers=2, bidirectional=bias, bias=bias, proj_size=3).eval()
    compiled = xrelax.compile(
        OfSequence(layer), (torch.randn(3, 2, 5),), dynamic_shapes={"x": {0: TIME}}
    )
    for length in (1, 4):
        x = torch.randn(length, 2, 5)
        with torch.no_grad():
            is_equal(compiled(x), layer(x))

"""LSTM, GRU and RNN of ONNX, as loops of any length, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx_models import check, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(kind: str, rng: Any, given: str = "x W R B", **attributes: Any) -> Any:
    """A model with constant weights; x has a symbolic length and batch."""
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    size = GATES[kind] * HIDDEN
    draw = lambda *shape: (rng.standard_normal(shape) / 2).astype(np.float32)  # noqa: E731
    constants = {
        "W": draw(directions, size, INPUT),
        "R": draw(directions, size, HIDDEN),
        "B": draw(directions, 2 * size),
        "h": draw(directions, BATCH, HIDDEN),
        "c": draw(directions, BATCH, HIDDEN),
        "P": draw(directions, 3 * HIDDEN),
        "lengths": np.array([5, 2, 1], np.int32),
    }
    names = given.split()
    inputs = [n if n != "-" else "" for n in names]
    outputs = "y h_n c_n" if kind == "LSTM" else "y h_n"
    made = node(kind, "x", outputs, hidden_size=HIDDEN, **attributes)
    del made.input[:]
    made.input.extend(inputs)
    used = {name: value for name, value in constants.items() if name in inputs}
    batch = BATCH if used.keys() & {"h", "lengths"} else "batch"
    shape = ["time", batch, INPUT]
    return model(made, {"x": ("float32", shape)}, outputs.split(), 14, used)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(
    ("given", "attributes"),
    [
        ("x W R", {}),
        ("x W R B", {"direction": "reverse"}),
        ("x W R B - h", {"direction": "bidirectional"}),
        ("x W R B lengths h", {"direction": "bidirectional"}),
        ("x W R B", {"clip": 0.5}),
    ],
    ids=str,
)
def test_layers(kind: str, given: str, attributes: dict[str, Any]):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((STEPS, BATCH, INPUT), np.float32)
    check(recurrent(kind, rng, given, **attributes), {"x": x}, tolerance=1e-4)


def test_one_artifact_for_all_lengths():
    rng = np.random.default_rng(0)
    made = recurrent("LSTM", rng, direction="bidirectional")
    compiled = check(made, {"x": rng.standard_normal((5, 3, INPUT), np.float32)}, tolerance=1e-4)
    assert "R.loop" in compiled.module.script()
    for shape in ((1, 1, INPUT), (40, 2, INPUT)):
        check(made, {"x": rng.standard_normal(shape, np.float32)}, tolerance=1e-4)


@pytest.mark.parametrize(
    ("kind", "given", "attributes"),
    [
        ("LSTM", "x W R B - h c P", {}),
        ("LSTM", "x W R", {"activations": ["HardSigmoid", "Softsign", "Relu"]}),
        ("GRU", "x W R B", {"linear_before_reset": 1}),
        ("GRU", "x W R", {"activations": ["Sigmoid", "LeakyRelu"], "activation_alpha": [0.1]}),
        ("RNN", "x W R B", {"activations": ["Affine"], "activation_alpha": [0.5],
                            "activation_beta": [0.1]}),
    ],
    ids=str,
)  # fmt: skip
def test_options(kind: str, given: str, attributes: dict[str, Any]):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((STEPS, BATCH, INPUT), np.float32)
    check(recurrent(kind, rng, given, **attributes), {"x": x}, tolerance=1e-4)


@pytest.mark.parametrize(
    ("kind", "attributes", "message"),
    [
        ("LSTM", {"input_forget": 1}, "coupled input and forget gates"),
        ("RNN", {"activations": ["Sine"]}, "activation 'sine'"),
        ("GRU", {"direction": "up"}, r"expected a direction \(forward, reverse, bidirectional\)"),
        ("RNN", {"activations": ["Tanh"] * 3}, "expected one activation"),
    ],
)
def test_refused(kind: str, attributes: dict[str, Any], message: str):
    with pytest.raises(UnsupportedError, match=message):
        compile_onnx(recurrent(kind, np.random.default_rng(0), **attributes))

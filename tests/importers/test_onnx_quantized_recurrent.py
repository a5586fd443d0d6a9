"""LSTM with quantized weights, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx_models import check, compare, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

STEPS, INPUT, HIDDEN = 6, 5, 8
DOMAINS = {"com.microsoft": 1}


def quantized_lstm(
    rng: Any,
    given: str = "x W R B - - - -",
    dtype: str = "int8",
    shift: int = 0,
    per_channel: bool = False,
    batch: int | str = 1,
    **attributes: Any,
) -> Any:
    """A model with constant weights of 8 bits; x has a symbolic length."""
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    size, limits = 4 * HIDDEN, np.iinfo(dtype)
    scales = (directions, size) if per_channel else (directions,)
    # ONNX Runtime adds two products in 16 bits, saturated, on processors without VNNI.
    unused = int(dtype == "int8")
    weights = lambda rows: rng.integers(  # noqa: E731
        limits.min >> unused, limits.max >> unused, (directions, rows, size), dtype, endpoint=True
    )
    draw = lambda *shape: (rng.standard_normal(shape) / 2).astype(np.float32)  # noqa: E731
    constants = {
        "W": weights(INPUT),
        "R": weights(HIDDEN),
        "B": draw(directions, 2 * size),
        "h": draw(directions, batch, HIDDEN) if batch == 1 else None,
        "c": draw(directions, batch, HIDDEN) if batch == 1 else None,
        "P": draw(directions, 3 * HIDDEN),
        "lengths": np.array([4], np.int32),
        "Ws": (rng.random(scales) / 100 + 0.002).astype(np.float32),
        "Rs": (rng.random(scales) / 100 + 0.002).astype(np.float32),
        "Wz": np.full(scales, shift, dtype),
        "Rz": np.full(scales, shift, dtype),
    }
    made = node("DynamicQuantizeLSTM", "x", "y h_n c_n", hidden_size=HIDDEN, **attributes)
    made.domain = "com.microsoft"
    del made.input[:]
    made.input.extend("" if n == "-" else n for n in [*given.split(), "Ws", "Wz", "Rs", "Rz"])
    used = {name: value for name, value in constants.items() if name in made.input}
    inputs = {"x": ("float32", ["time", batch, INPUT])}
    return model(made, inputs, ["y", "h_n", "c_n"], 14, used, DOMAINS)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "bidirectional", "dtype": "uint8", "shift": 131},
        {"direction": "reverse", "given": "x W R - - h c -", "per_channel": True},
        {"given": "x W R B lengths - c P", "dtype": "int8", "shift": -3},
        {"per_channel": True, "dtype": "uint8", "shift": 127, "clip": 1.5},
        {"activations": ["HardSigmoid", "Softsign", "Relu"]},
    ],
    ids=str,
)
def test_layers(options: dict[str, Any]):
    rng = np.random.default_rng(0)
    made = quantized_lstm(rng, **options)
    for steps in (STEPS,) if "lengths" in options.get("given", "") else (STEPS, 17):
        x = rng.standard_normal((steps, 1, INPUT), np.float32)
        check(made, {"x": x}, tolerance=1e-5)


def test_states_are_quantized_by_the_range_of_the_batch():
    import onnxruntime

    rng = np.random.default_rng(1)
    made = quantized_lstm(rng, batch="batch")
    feeds = {"x": rng.standard_normal((STEPS, 3, INPUT), np.float32)}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # each of its threads has its own range
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)
    compare(compile_onnx(made).run(None, feeds), session.run(None, feeds), tolerance=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_forget": 1}, "coupled input and forget gates"),
        ({"direction": "up"}, r"expected a direction \(forward, reverse, bidirectional\)"),
    ],
)
def test_refused(options: dict[str, Any], message: str):
    with pytest.raises(UnsupportedError, match=message):
        compile_onnx(quantized_lstm(np.random.default_rng(0), **options))

"""Fourier transforms against ONNX Runtime and NumPy, with lengths that are symbolic."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
TOLERANCE = 1e-4


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def transform(x, length=None, axis=None, opset=20, symbolic=True, **given):
    """A model of a DFT; dims have symbols apart from that of parts."""
    operands = {"l": length, "a": axis}
    constants = {n: np.array(v) for n, v in operands.items() if v is not None}
    names = ["x", *(n if n in constants else "" for n in operands)]
    node = helper.make_node("DFT", names[:2] if opset < 20 else names, ["y"], **given)
    dims = [f"d{i}" if symbolic else d for i, d in enumerate(x.shape[:-1])]
    return model(node, {"x": (x.dtype.name, [*dims, x.shape[-1]])}, ["y"], opset, constants)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("length", [None, 4, 9])
def test_transforms(length, parts, symbolic):
    x = drawn(2, 6, 3, parts)
    made = transform(x, length, 1, symbolic=symbolic)
    check(made, {"x": x}, tolerance=TOLERANCE)


@pytest.mark.parametrize("parts", [1, 2])
def test_inverse(parts):
    x = drawn(3, 7, parts)
    (found,) = compile_onnx(transform(x, inverse=1)).run(None, {"x": x})
    wanted = np.fft.ifft(x[..., 0] + (1j * x[..., 1] if parts == 2 else 0))
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, atol=TOLERANCE)


@pytest.mark.parametrize("length", [None, 5, 8, 12])
def test_one_side(length):
    x = drawn(3, 8, 1)
    made = transform(x, length, onesided=1)
    (found,) = compile_onnx(made).run(None, {"x": x})
    wanted = np.fft.rfft(x[..., 0], length)
    pairs = np.stack([wanted.real, wanted.imag], axis=-1)
    np.testing.assert_allclose(found, pairs, atol=TOLERANCE)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("length", [None, 7, 8, 12])
def test_real_data_from_one_side(length, symbolic):
    x = drawn(3, 5, 2)
    made = transform(x, length, inverse=1, onesided=1, symbolic=symbolic)
    (found,) = compile_onnx(made).run(None, {"x": x})
    wanted = np.fft.irfft(x[..., 0] + 1j * x[..., 1], length)
    np.testing.assert_allclose(found[..., 0], wanted, atol=TOLERANCE)


def test_axis_as_an_attribute():
    x = drawn(2, 5, 3, 1)
    check(transform(x, opset=17, axis=2), {"x": x}, tolerance=TOLERANCE)
    check(transform(x, opset=17), {"x": x}, tolerance=TOLERANCE)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_floats(dtype):
    x = drawn(2, 6, 1).astype(dtype)
    (found,) = compile_onnx(transform(x)).run(None, {"x": x})
    wanted = np.fft.fft(x[..., 0].astype(np.float64), axis=1).real
    assert found.dtype == dtype
    np.testing.assert_allclose(found[..., 0], wanted, atol=2e-2 if dtype == "float16" else 1e-12)


@pytest.mark.parametrize("onesided", [0, 1])
def test_short_time_transforms(onesided):
    """Frames have the length that is given, or that of the window."""
    x, window = drawn(2, 40, 1), np.hanning(10).astype(np.float32)
    for names in (["x", "s", "", "l"], ["x", "s", "w"], ["x", "s", "w", "l"]):
        constants = {"s": np.array(4), "l": np.array(10), "w": window}
        used = {n: v for n, v in constants.items() if n in names}
        node = helper.make_node("STFT", names, ["y"], onesided=onesided)
        made = model(node, {"x": ("float32", ["n", "t", 1])}, ["y"], 17, used)
        check(made, {"x": x}, tolerance=TOLERANCE)


def test_a_window_of_a_call():
    node = helper.make_node("STFT", ["x", "s", "w"], ["y"])
    inputs = {"x": ("float32", [1, "t", 1]), "w": ("float32", [8])}
    made = model(node, inputs, ["y"], 17, {"s": np.array(3)})
    check(made, {"x": drawn(1, 30, 1), "w": drawn(8)}, tolerance=TOLERANCE)


def test_mel_bands():
    values = {
        "bands": np.array(12), "length": np.array(64), "rate": np.array(8000),
        "low": np.array(20.0, np.float32), "high": np.array(3800.0, np.float32),
    }  # fmt: skip
    nodes = [
        helper.make_node("MelWeightMatrix", list(values), ["m"]),
        helper.make_node("MatMul", ["x", "m"], ["y"]),
    ]
    made = model(nodes, {"x": ("float32", ["t", 33])}, ["y"], 17, values)
    check(made, {"x": drawn(5, 33)}, tolerance=TOLERANCE)


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ((2, 6, 3), {}, "expected data whose last dim has a real part, or two parts"),
        ((2, 6, 2), {"onesided": 1}, "expected one side of real data, got complex numbers"),
        ((2, 6, 1), {"axis": 2},
         "expected the axis of a signal, got that of real and imaginary parts"),
        ((2, 6, 1), {"axis": 4}, "expected an axis from -3 to 2, got 4"),
    ],
)  # fmt: skip
def test_wrong_models(shape, given, message):
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(transform(drawn(*shape), **given))
    (problem,) = caught.value.problems
    assert problem.reason == message

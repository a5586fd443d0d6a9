"""`quantize` with scheme "dynamic": rows are quantized by their own values at run time."""

import numpy as np
import pytest
from small_networks import cnn, draw, mlp, module_of

import xrelax
from xrelax import relax, tir
from xrelax.inspection import stage_text

DOTS = "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"


def rounded(x, axes):
    """Values by way of int8, with a scale for what is not in `axes`."""
    scale = np.abs(x).max(axes, keepdims=True) / np.float32(127)
    return np.rint(x / np.where(scale, scale, 1)).astype(float) * scale


@pytest.mark.parametrize("shape", [(16,), (5, 16), (2, 3, 16), (2, 1, 3, 16)])
@pytest.mark.parametrize("operator", ["linear", "matmul"])
def test_rows_have_their_own_scale(operator, shape):
    """Rows of very different sizes, one of them of zeros."""
    weight, x = draw(8, 16), draw(*shape)
    rows = x.reshape(-1, 16)
    rows *= 10.0 ** np.arange(len(rows)).astype("float32")[:, None]
    rows[1:2] = 0
    constant = relax.const(weight if operator == "linear" else weight.T.copy())
    function = getattr(relax.op, operator)
    module = module_of(lambda b, x: b.emit(function(x, constant)), ("x", shape))
    found = xrelax.quantize(module, scheme="dynamic")
    wanted = rounded(x, -1) @ rounded(weight, 1).T
    got = relax.build(found.module, check=True)(x).numpy()
    largest = np.abs(wanted).max(-1, keepdims=True)
    assert (np.abs(got - wanted) <= 1e-5 * largest).all()
    if len(shape) > 1:
        assert "matmul_words" in stage_text(found.module, "relax", DOTS)


def test_images_have_their_own_scale():
    x, weight = draw(3, 4, 6, 6), draw(5, 4, 3, 3)
    x[1] *= 1000
    constant = relax.const(weight)
    module = module_of(
        lambda b, x: b.emit(relax.op.nn.conv2d(x, constant, padding=[1, 1, 1, 1])), ("x", x.shape)
    )
    found = xrelax.quantize(module, scheme="dynamic")
    got = relax.build(found.module, check=True)(x).numpy()
    padded = np.pad(rounded(x, (1, 2, 3)), [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    wanted = np.einsum("nchwyx,ocyx->nohw", windows, rounded(weight, (1, 2, 3)))
    assert (np.abs(got - wanted).max((1, 2, 3)) <= 1e-5 * np.abs(wanted).max((1, 2, 3))).all()
    assert "conv2d_words" in stage_text(found.module, "relax", DOTS)


def test_no_calibration_is_needed():
    found = xrelax.quantize(mlp(16, 32, 8), scheme="dynamic")
    assert [layer.dtype for layer in found.layers] == ["int8", "int8"]
    assert found.error is None and found.layers[0].sqnr is found.layers[0].range is None
    assert str(found).splitlines()[-1].split()[-3:] == ["-", "-", "int8"]


def test_inputs_measure_errors():
    module, data = mlp(16, 32, 8, outlier=400.0), [draw(4, 16)]
    data[0][:, 0] = 0
    whole = xrelax.quantize(module, data, scheme="dynamic")
    assert whole.layers[0].error > 10 * whole.layers[1].error > 0
    found = xrelax.quantize(module, data, scheme="dynamic", max_error=whole.error / 2)
    assert [layer.is_quantized for layer in found.layers] == [False, True]
    assert found.error <= whole.error / 2


def test_the_batch_and_the_length_may_be_symbols():
    weight, n, m = draw(8, 16), tir.Var("n", "int64"), tir.Var("m", "int64")
    constant = relax.const(weight)
    module = module_of(lambda b, x: b.emit(relax.op.linear(x, constant)), ("x", (n, m, 16)))
    found = xrelax.quantize(module, [draw(2, 3, 16), draw(1, 4, 16)], scheme="dynamic")
    executable = xrelax.compile(found)
    for shape in ((2, 5, 16), (7, 1, 16), (0, 3, 16)):
        x = draw(*shape)
        wanted = rounded(x, -1) @ rounded(weight, 1).T
        np.testing.assert_allclose(executable(x).numpy(), wanted, atol=1e-4)


def test_a_network_of_convolutions():
    module, x = cnn(), draw(2, 3, 12, 12)
    found = xrelax.quantize(module, [x], scheme="dynamic")
    assert 0 < found.error < 2e-2
    whole, halves = xrelax.compile(found)(x).numpy(), relax.build(module)(x).numpy()
    assert np.abs(whole - halves).max() < 4e-2 * np.abs(halves).max()

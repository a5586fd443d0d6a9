"""`xrelax.quantize`: near to float32, exact integers, ranges, and the layers that stay float32."""

import re
from functools import partial

import numpy as np
import pytest
from small_networks import cnn, draw, mlp, module_of

import xrelax
from xrelax import relax, tir
from xrelax.inspection import stage_text


@pytest.mark.parametrize(
    ("make", "shape"), [(partial(mlp, 16, 32, 8), (4, 16)), (cnn, (2, 3, 12, 12))]
)
def test_results_are_near_to_float32(make, shape):
    """Every pass keeps the integers of the quantized graph."""
    module, data = make(), [draw(*shape) for _ in range(3)]
    before = module.script()
    found = xrelax.quantize(module, data)
    assert module.script() == before
    assert 0 < found.error < 2e-2 and all(layer.is_quantized for layer in found.layers)
    executable = relax.build(found.module, check=True)
    for x in data:
        wanted = relax.build(module)(x).numpy()
        assert np.abs(executable(x).numpy() - wanted).max() < 4e-2 * np.abs(wanted).max()
    target = "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"
    text = stage_text(found.module, "relax", target)
    assert len(re.findall(r"relax\.nn\.(?:matmul|conv2d)_words", text)) == len(found.layers)


def test_a_norm_scales_the_weight_before_it_is_rounded():
    """A convolution and its batch norm are one layer on integers."""
    weight, four = draw(4, 3, 3, 3, scale=0.2), [np.abs(draw(4)) + 0.5 for _ in range(4)]

    def function(b, x):
        y = b.emit(relax.op.nn.conv2d(x, relax.const(weight)))
        return b.emit(relax.op.nn.batch_norm(y, *map(relax.const, four), axis=1)[0])

    module, x = module_of(function, ("x", (2, 3, 8, 8))), draw(2, 3, 8, 8)
    found = xrelax.quantize(module, [x])
    text = stage_text(found.module, "relax", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4")
    assert text.count("conv2d_words") == len(found.layers) == 1 and found.error < 2e-2


def test_weights_have_a_scale_for_each_channel():
    """Rows of very different sizes keep the precision of each."""
    weight = draw(3, 16) * np.array([[1e-3], [1.0], [1e3]], "float32")
    module = module_of(lambda b, x: b.emit(relax.op.linear(x, relax.const(weight))), ("x", (4, 16)))
    x = draw(4, 16)
    found = relax.build(xrelax.quantize(module, [x]).module)(x).numpy()
    wanted = x @ weight.T
    assert (np.abs(found - wanted).max(0) < 2e-2 * np.abs(wanted).max(0)).all()


def test_ranges_are_those_of_the_data():
    module = mlp(16, 4)
    data = [(np.linspace(-1, 3, 64, dtype="float32").reshape(4, 16),), draw(4, 16, scale=0.1)]
    (layer,) = xrelax.quantize(module, data).layers
    assert (layer.range.low, layer.range.high) == (-1, 3)
    assert layer.range.scale == pytest.approx(4 / 255) and layer.range.zero_point == 64
    (layer,) = xrelax.quantize(module, [np.full((4, 16), 2, "float32")]).layers
    assert (layer.range.low, layer.range.high, layer.range.zero_point) == (0, 2, 0)


def test_percentiles_leave_out_outliers():
    x = draw(4, 16)
    x[0, 0] = 1e4
    module = mlp(16, 4)
    (layer,) = xrelax.quantize(module, [x], scheme="percentile", percentile=98).layers
    assert layer.range.high < 10
    (layer,) = xrelax.quantize(module, [x]).layers
    assert layer.range.high == 1e4


def test_layers_that_lose_too_much_stay_in_float32():
    """The budget holds, and the layer with the outlier is the one that stays."""
    module, data = mlp(16, 32, 8, outlier=400.0), [draw(4, 16)]
    data[0][:, 0] = 0  # so that the outlier costs its row precision, and gives nothing
    whole = xrelax.quantize(module, data)
    found = xrelax.quantize(module, data, max_error=whole.error / 2)
    assert found.error <= whole.error / 2
    assert [layer.is_quantized for layer in found.layers] == [False, True]
    assert not any(
        layer.is_quantized for layer in xrelax.quantize(module, data, max_error=0).layers
    )


def test_the_table():
    found = xrelax.quantize(mlp(16, 4), [draw(4, 16)])
    head, *_, row, last = str(found).splitlines()
    assert head.split() == "layer operator low high scale zero point error SQNR dB data".split()
    assert "linear" in row and row.split()[-1] == "uint8"
    assert last.startswith("relative error of the results: ")
    assert repr(found).startswith("<Quantized: 1 of 1 layers on integers; relative error ")


def test_layers_without_a_constant_weight_are_left_alone():
    """Also a grouped convolution; shapes may be symbolic."""
    weight = draw(4, 4)

    def function(b, x, v):
        return b.emit(relax.op.matmul(b.emit(relax.op.matmul(x, relax.const(weight))), v))

    module = module_of(function, ("x", (tir.Var("n", "int64"), 4)), ("v", (4, 4)))
    found = xrelax.quantize(module, [(draw(3, 4), draw(4, 4)), (draw(5, 4), draw(4, 4))])
    assert len(found.layers) == 1
    x, v = draw(7, 4, scale=0.1), draw(4, 4)
    np.testing.assert_allclose(relax.build(found.module)(x, v).numpy(), x @ weight @ v, atol=0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calibration_data": []}, "expected calibration_data to have an input, got none"),
        ({"scheme": "best"}, "expected scheme of minmax, percentile, dynamic, got 'best'"),
        ({"percentile": 20}, "expected percentile above 50, at most 100, got 20"),
        ({"max_error": -1}, "expected max_error of at least 0, got -1"),
        (
            {"calibration_data": None, "scheme": "dynamic", "max_error": 0.1},
            "expected calibration_data for max_error, got none",
        ),
        (
            {"calibration_data": draw(4, 16)},
            "expected calibration_data to be a list of inputs, got one ndarray",
        ),
        (
            {"calibration_data": 3},
            "expected calibration_data to be a list of inputs, got one int",
        ),
        ({"skip": 3}, "expected skip to be a list of names, got 3"),
        ({"skip": "gv"}, "expected skip to be a list of names, got 'gv'"),
        (
            {"skip": ["conv*"]},
            "expected skip to have names of layers or operators (gv, linear), got 'conv*'",
        ),
        ({"function": "f"}, "expected a graph function 'f' to quantize, got none"),
        (
            {"calibration_data": [np.full((4, 16), np.inf, "float32")]},
            "expected finite activations to calibrate with, got inf or nan",
        ),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError) as caught:
        xrelax.quantize(mlp(16, 4), **{"calibration_data": [draw(4, 16)], **options})
    assert str(caught.value) == message


def test_a_function_without_layers():
    module = module_of(lambda b, x: b.emit(relax.op.nn.relu(x)), ("x", (4, 16)))
    with pytest.raises(
        ValueError, match="to have a linear layer, matmul or convolution of float32"
    ):
        xrelax.quantize(module, [draw(4, 16)])


def test_data_that_does_not_fit():
    with pytest.raises(ValueError, match="argument 'x'"):
        xrelax.quantize(mlp(16, 4), [draw(4, 15)])


def test_each_layer_has_the_error_that_it_causes_alone():
    """Against the arithmetic of quantized values in NumPy, in float64."""
    module, x = mlp(16, 4), draw(4, 16)
    (layer,) = (found := xrelax.quantize(module, [x])).layers
    weight, bias = (c.value.data.array for c in constants(module)[:2])
    scales = np.abs(weight).max(1, keepdims=True) / np.float32(127)
    scale, zero = np.float32(layer.range.scale), layer.range.zero_point
    rounded = (np.clip(np.rint(x / scale) + zero, 0, 255) - zero) * scale
    quantized = rounded.astype(float) @ (np.rint(weight / scales) * scales).T + bias
    exact = x.astype(float) @ weight.T + bias
    error = np.linalg.norm(quantized - exact) / np.linalg.norm(exact)
    assert layer.error == pytest.approx(error, rel=1e-3) == found.error
    assert layer.sqnr == pytest.approx(-20 * np.log10(error), abs=0.01)
    np.testing.assert_allclose(relax.build(found.module)(x).numpy(), quantized, atol=1e-5)


def constants(module):
    return [op for op in module.op.walk() if op.name == "relax.constant"]


def test_the_error_of_a_layer_is_not_that_of_others():
    """The outlier in the first weight leaves the error of the second layer as it is."""
    module, x = mlp(16, 32, 8, outlier=400.0), draw(4, 16)
    x[:, 0] = 0
    first, second = xrelax.quantize(module, [x]).layers
    assert first.error > 3 * second.error > 0


def test_skipped_layers_stay_in_float32():
    module, data = cnn(), [draw(2, 3, 12, 12)]
    found = xrelax.quantize(module, data, skip=["nn.conv2d"])
    assert [layer.dtype for layer in found.layers] == ["float32", "float32", "uint8"]
    assert found.layers[0].error > 0  # what its quantization would cause
    name = found.layers[1].name
    found = xrelax.quantize(module, data, skip=[name], max_error=1.0)
    assert [layer.is_quantized for layer in found.layers] == [True, False, True]


def test_a_budget_keeps_skipped_layers_in_float32():
    module, data = mlp(16, 32, 8), [draw(4, 16)]
    names = [layer.name for layer in xrelax.quantize(module, data).layers]
    found = xrelax.quantize(module, data, skip=names[:1], max_error=0)
    assert not any(layer.is_quantized for layer in found.layers)


def test_results_that_are_infinite_have_no_error_where_they_are_equal():
    """As those of a mask."""
    weight, mask = draw(8, 16), np.where(np.arange(8) % 2, 0, -np.inf).astype("float32")

    def function(b, x):
        y = b.emit(relax.op.linear(x, relax.const(weight)))
        return b.emit(relax.op.add(y, relax.const(mask)))

    found = xrelax.quantize(module_of(function, ("x", (4, 16))), [draw(4, 16)], max_error=0.1)
    assert 0 < found.error < 0.02 and found.layers[0].is_quantized


def test_arguments_by_name():
    module, x = mlp(16, 4), draw(4, 16)
    by_name = xrelax.quantize(module, [{"x": x}])
    assert by_name.layers == xrelax.quantize(module, [x]).layers
    with pytest.raises(TypeError, match="'y'"):
        xrelax.quantize(module, [{"y": x}])


def test_compile_takes_the_result():
    module, x = mlp(16, 4), draw(4, 16)
    found = xrelax.quantize(module, [x])
    first, second = xrelax.compile(found)(x), found.compile(target="llvm -mcpu=x86-64-v3")(x)
    np.testing.assert_allclose(first.numpy(), second.numpy(), atol=1e-5)


def test_options_of_other_models_are_refused():
    with pytest.raises(TypeError, match="expected no options for a module, got shape_dict"):
        xrelax.quantize(mlp(16, 4), [draw(4, 16)], shape_dict={})


def test_layers_that_share_a_weight_share_its_integers():
    weight = draw(64, 64, scale=0.1)

    def function(b, x):
        constant = relax.const(weight)
        y = b.emit(relax.op.nn.relu(b.emit(relax.op.linear(x, constant))))
        return b.emit(relax.op.linear(y, constant))

    found = xrelax.quantize(module_of(function, ("x", (4, 64))), [x := draw(4, 64)])
    assert len(found.layers) == 2 and found.error < 2e-2
    executable = xrelax.compile(found)
    wanted = np.maximum(x @ weight.T, 0) @ weight.T
    assert np.abs(executable(x).numpy() - wanted).max() < 4e-2 * np.abs(wanted).max()
    assert executable.stats()["constant_bytes"] < 2 * weight.size

"""`xrelax.quantize`: near to float32, exact integers, ranges, and the layers that stay float32."""

import re
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import xrelax
from xrelax import relax, tir
from xrelax.inspection import stage_text

RNG = np.random.default_rng(0)


def draw(*shape, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype("float32")


def module_of(function, *params):
    """A module of a function that emits operators of its parameters."""
    builder = relax.BlockBuilder()
    given = [relax.Var(n, relax.TensorStructInfo(s, "float32")) for n, s in params]
    with builder.function("main", given):
        with builder.dataflow():
            result = builder.emit_output(function(builder, *given))
        builder.emit_func_output(result)
    return builder.get()


def mlp(*sizes, outlier=0.0):
    """Linear layers with relu in between; an outlier in the weight of the first."""
    weights = [draw(n, k, scale=k**-0.5) for k, n in pairwise(sizes)]
    weights[0][0, 0] += outlier

    def function(b, x):
        for number, weight in enumerate(weights):
            bias = draw(weight.shape[0], scale=0.1)
            x = b.emit(relax.op.linear(x, relax.const(weight), relax.const(bias)))
            x = b.emit(relax.op.nn.relu(x)) if number + 1 < len(weights) else x
        return x

    return module_of(function, ("x", (4, sizes[0])))


def cnn():
    first, second = draw(8, 3, 3, 3, scale=0.2), draw(8, 8, 3, 3, scale=0.1)
    weight = draw(8, 5, scale=0.3)

    def function(b, x):
        y = b.emit(
            relax.op.nn.relu(relax.op.nn.conv2d(x, relax.const(first), padding=[1, 1, 1, 1]))
        )
        y = b.emit(relax.op.nn.max_pool2d(y, pool_size=[2, 2], strides=[2, 2]))
        y = b.emit(relax.op.nn.relu(relax.op.nn.conv2d(y, relax.const(second), strides=[2, 2])))
        return b.emit(relax.op.matmul(relax.op.mean(y, axis=[2, 3]), relax.const(weight)))

    return module_of(function, ("x", (2, 3, 12, 12)))


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
    assert head.split() == "layer operator low high scale zero point computes in".split()
    assert "linear" in row and row.split()[-1] == "int8"
    assert last.startswith("relative error of the results: ")


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
        ({"scheme": "best"}, "expected scheme of minmax, percentile, got 'best'"),
        ({"percentile": 20}, "expected percentile above 50, at most 100, got 20"),
        ({"max_error": -1}, "expected max_error of at least 0, got -1"),
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

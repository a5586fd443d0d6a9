"""Convolutions and pools of ONNX against ONNX Runtime: attributes, opsets, symbolic dims."""

from itertools import product

import numpy as np
import pytest
from onnx import helper
from onnx_models import by_onnxruntime, check, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
KINDS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def one_node(operator, x, weights=(), outputs=("y",), opset=22, symbolic=True, domain="", **given):
    """A model of one node whose input has symbols for its batch and spatial dims."""
    names = [f"w{i}" for i in range(len(weights))]
    node = helper.make_node(operator, ["x", *names], list(outputs), domain=domain, **given)
    dims = [d if i == 1 or not symbolic else f"d{i}" for i, d in enumerate(x.shape)]
    constants = dict(zip(names, weights, strict=True))
    inputs = {"x": (x.dtype.name, dims)}
    return model(node, inputs, outputs, opset, constants, {domain: 1} if domain else None)


def run(operator, x, weights=(), **given):
    return check(one_node(operator, x, weights, **given), {"x": x}, tolerance=2e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_automatic_padding(kind, symbolic):
    given = {"auto_pad": kind, "symbolic": symbolic}
    w, b = drawn(4, 1, 3, 2), drawn(4)
    run("Conv", drawn(2, 2, 7, 8), [w, b], strides=[2, 3], group=2, **given)
    run("MaxPool", drawn(2, 2, 7, 8), kernel_shape=[3, 2], strides=[2, 3], **given)
    pool = {"kernel_shape": [3, 2], "strides": [2, 3], "count_include_pad": 0}
    run("AveragePool", drawn(2, 2, 7, 8), **pool, **given)


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_same_padding_of_all_lengths(size):
    """The padding depends on the remainder of a length, which a call gives."""
    for kind, stride in product(("SAME_UPPER", "SAME_LOWER"), (2, 3)):
        made = one_node(
            "Conv", drawn(1, 2, 9), [drawn(3, 2, size)], auto_pad=kind, strides=[stride]
        )
        compiled = compile_onnx(made)
        for length in range(max(size, 2), max(size, 2) + 3):
            x = drawn(1, 2, length)
            (found,) = compiled.run(None, {"x": x})
            assert found.shape == (1, 3, -(-length // stride))
            check_same(found, x, made)


def check_same(found, x, made):
    np.testing.assert_allclose(found, by_onnxruntime(made, {"x": x})[0], rtol=2e-5, atol=2e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolution_of_each_rank(rank):
    x, w = drawn(2, 4, *range(6, 6 + rank)), drawn(6, 2, *[3, 2, 1][:rank])
    pads = [*[1] * rank, *[2] * rank]
    given = {"dilations": [2, 1, 1][:rank], "strides": [1, 2, 2][:rank], "pads": pads, "group": 2}
    run("Conv", x, [w, drawn(6)], **given)
    run("Conv", x, [w], opset=9, **given)


@pytest.mark.sampled
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed_convolution_of_each_rank(rank):
    x, w = drawn(2, 4, *range(3, 3 + rank)), drawn(4, 3, *[3, 2, 4][:rank])
    given = {"strides": [2, 3, 1][:rank], "group": 2, "pads": [*[1] * rank, *[0] * rank]}
    run("ConvTranspose", x, [w, drawn(6)], output_padding=[1, 2, 0][:rank], **given)
    run("ConvTranspose", x, [w], opset=10, **given)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
def test_transposed_convolution_with_a_shape(kind):
    x, w = drawn(1, 2, 4, 5), drawn(2, 3, 3, 3)
    for shape in ([8, 10], [9, 11], [7, 9]):
        given = {"output_shape": shape, "strides": [2, 2], "auto_pad": kind}
        run("ConvTranspose", x, [w], symbolic=False, **given)
    run("ConvTranspose", x, [w], strides=[2, 2], auto_pad=kind)


def test_transposed_convolution_with_a_shape_and_symbols():
    """Padding that depends on a symbol is cut off of the result."""
    run(
        "ConvTranspose",
        drawn(1, 2, 4, 5),
        [drawn(2, 3, 3, 3)],
        output_shape=[8, 10],
        strides=[2] * 2,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", [(9,), (8, 9), (5, 6, 7)])
def test_indices_of_max_pools(shape, order):
    rank = len(shape)
    given = {"kernel_shape": [2, 3, 2][:rank], "strides": [2, 1, 2][:rank], "storage_order": order}
    outputs = ("y", "indices")
    run("MaxPool", drawn(2, 3, *shape), outputs=outputs, pads=[1, 1, 0][:rank] * 2, **given)
    run("MaxPool", drawn(2, 3, *shape), outputs=outputs, auto_pad="SAME_LOWER", **given)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_max_pool_of_integers(dtype):
    x = RNG.integers(*((0, 255) if dtype == "uint8" else (-128, -1)), (1, 2, 7, 7)).astype(dtype)
    run("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], opset=12)
    run("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER", opset=12)


@pytest.mark.sampled
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pools_that_hang_over(rank):
    x = drawn(1, 2, *[7, 8, 9][:rank])
    given = {"kernel_shape": [3, 4, 2][:rank], "strides": [3, 3, 3][:rank], "ceil_mode": 1}
    for pads in ([0] * 2 * rank, [1] * 2 * rank):
        run("MaxPool", x, pads=pads, **given)
        run("LpPool", x, pads=pads, p=3, **given)
        for counted in (0, 1):
            run("AveragePool", x, pads=pads, count_include_pad=counted, **given)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows(p):
    run("LpPool", drawn(2, 3, 8, 7), kernel_shape=[2, 3], strides=[2, 1], p=p, opset=11)
    run("GlobalLpPool", drawn(2, 3, 4, 5), p=p, opset=13)


@pytest.mark.parametrize("shape", [(6,), (5, 6), (4, 5, 6), (2, 3, 2, 3)])
def test_pools_over_all(shape):
    x, axes = drawn(2, 3, *shape), tuple(range(2, 2 + len(shape)))
    for operator, function in (("GlobalAveragePool", np.mean), ("GlobalMaxPool", np.max)):
        (found,) = compile_onnx(one_node(operator, x)).run(None, {"x": x})
        wanted = function(x, axis=axes, keepdims=True)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_average_pools_with_dilation():
    run("AveragePool", drawn(1, 2, 9, 9), kernel_shape=[3, 2], dilations=[2, 3], opset=19)


@pytest.mark.sampled
@pytest.mark.parametrize("activation", ["Relu", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"])
def test_fused_convolution(activation):
    numbers = {"LeakyRelu": [0.3], "Clip": [-0.5, 0.25], "HardSigmoid": [0.3, 0.4]}
    given = {"activation_params": numbers[activation]} if activation in numbers else {}
    x, weights = drawn(2, 2, 6, 5), [drawn(3, 2, 3, 3), drawn(3)]
    run("FusedConv", x, weights, activation=activation, domain="com.microsoft", **given)


def test_convolution_with_channels_last():
    x, w, b = drawn(2, 6, 5, 3), drawn(4, 3, 3, 2), drawn(4)
    made = one_node(
        "NhwcConv", x, [w, b], domain="com.microsoft", pads=[1, 0, 1, 0], symbolic=False
    )
    (found,) = compile_onnx(made).run(None, {"x": x})
    first = one_node("Conv", x.transpose(0, 3, 1, 2), [w, b], pads=[1, 0, 1, 0])
    (wanted,) = compile_onnx(first).run(None, {"x": x.transpose(0, 3, 1, 2).copy()})
    np.testing.assert_allclose(found, wanted.transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)


def test_unpooling_with_symbols():
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 2, 2)
    indices = np.array([[[[0, 3], [9, 10]], [[16, 19], [29, 31]]]])
    node = helper.make_node("MaxUnpool", ["x", "i"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    inputs = {"x": ("float32", ["n", 2, "h", "w"]), "i": ("int64", ["n", 2, "h", "w"])}
    check(model(node, inputs, ["y"], 22), {"x": x, "i": indices})


@pytest.mark.parametrize(
    ("operator", "weights", "given", "message"),
    [
        ("Conv", [drawn(3, 2, 3)], {}, "expected a weight of rank 4, got rank 3"),
        ("Conv", [drawn(3, 2, 3, 3)], {"strides": [1]}, "expected strides of 2 dims, got 1"),
        ("Conv", [drawn(3, 2, 3, 3)], {"pads": [1, 1]}, "expected 4 pads, got 2"),
        ("Conv", [drawn(3, 2, 3, 3)], {"kernel_shape": [3, 2]},
         "expected a weight with windows of [3, 2], got (3, 3)"),
        ("Conv", [drawn(3, 2, 3, 3)], {"auto_pad": "SAME"},
         "expected a kind of automatic padding, got 'SAME'"),
        ("Conv", [drawn(3, 3, 3, 3)], {},
         "expected channels of 'relax.nn.conv2d' to be compatible, got (d0, 2, d2, d3) as NCHW, "
         "(3, 3, 3, 3) as OIHW and 1 groups"),
        ("ConvTranspose", [drawn(2, 2, 3, 3)], {"output_padding": [1]},
         "expected output_padding of 2 dims, got 1"),
        ("MaxPool", [], {"kernel_shape": [3]}, "expected kernel_shape of 2 dims, got 1"),
    ],
)  # fmt: skip
def test_wrong_attributes(operator, weights, given, message):
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(one_node(operator, drawn(1, 2, 6, 6), weights, **given))
    (problem,) = caught.value.problems
    assert problem.reason == message

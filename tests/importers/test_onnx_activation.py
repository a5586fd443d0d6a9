"""Activations of ONNX and of ONNX Runtime, and softmax along an axis or over several."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
node = helper.make_node

ACTIVATIONS = {
    "Celu": {"alpha": 0.7},
    "Elu": {"alpha": 1.5},
    "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
    "HardSwish": {},
    "LeakyRelu": {"alpha": 0.2},
    "Mish": {},
    "Relu": {},
    "Selu": {"alpha": 1.2, "gamma": 0.9},
    "Shrink": {"bias": 0.3, "lambd": 0.8},
    "Sigmoid": {},
    "Softplus": {},
    "Softsign": {},
    "Tanh": {},
    "ThresholdedRelu": {"alpha": 0.5},
}


def numbers(dtype="float32"):
    values = [-1000, -30, -5, -1, -0.0, 0, 0.5, 0.8, 1, 5, 21, 45, 1000, np.inf, np.nan]
    return np.array(values + [v / 7 for v in range(-20, 20)]).astype(dtype)


def activations(attributes=True):
    """A model with each activation, with attributes or with the defaults."""
    nodes = [node(op, ["x"], [op], **(a if attributes else {})) for op, a in ACTIVATIONS.items()]
    return nodes, list(ACTIVATIONS)


@pytest.mark.parametrize("attributes", [True, False])
def test_activations(attributes):
    made = model(*_with_input(*activations(attributes), "float32"), opset=18)
    check(made, {"x": numbers()[:-1]} if attributes else {"x": numbers()})


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_activations_of_other_dtypes(dtype):
    made = model(*_with_input(*activations(), dtype), opset=18)
    x = np.concatenate([numbers(dtype)[2:9], numbers(dtype)[15:]])
    # ONNX's evaluator has float32 constants.
    check(made, {"x": x}, by="reference", tolerance=1e-7 if dtype == "float64" else None)


def _with_input(nodes, outputs, dtype):
    return nodes, {"x": (dtype, ["n"])}, outputs


def test_half_precision_is_rounded_once():
    nodes = [node("Mish", ["x"], ["m"]), node("Celu", ["x"], ["c"], alpha=0.3)]
    made = model(nodes, {"x": ("float16", ["n"])}, ["m", "c"], opset=18)
    x = np.linspace(-4, 4, 400).astype(np.float16)
    wide = x.astype(np.float64)
    mish = wide * np.tanh(np.log1p(np.exp(wide)))
    celu = np.maximum(wide, 0) + np.minimum(0, 0.3 * np.expm1(wide / 0.3))
    found = compile_onnx(made).run(None, {"x": x})
    for one, wanted in zip(found, (mish, celu), strict=True):
        assert np.abs(one - wanted.astype(np.float16)).max() <= np.spacing(np.float16(1)) / 2
        assert (one == wanted.astype(np.float16)).mean() > 0.99


def test_gelu_and_swish():
    nodes = [
        node("Gelu", ["x"], ["exact"]),
        node("Gelu", ["x"], ["tanh"], approximate="tanh"),
        node("Swish", ["x"], ["silu"]),
        node("Swish", ["x"], ["swish"], alpha=1.5),
    ]
    made = model(nodes, {"x": ("float32", ["n"])}, ["exact", "tanh", "silu", "swish"], opset=24)
    check(made, {"x": RNG.standard_normal(50, np.float32)}, by="reference")


def test_integers():
    nodes = [node("Relu", ["x"], ["r"]), node("Shrink", ["x"], ["s"], bias=1.5, lambd=2.5)]
    made = model(nodes, {"x": ("int32", ["n"])}, ["r", "s"])
    check(made, {"x": np.arange(-6, 7, dtype=np.int32)}, by="reference")


def test_experimental_activations():
    nodes = [
        node("Affine", ["x"], ["a"], alpha=2.0, beta=0.5),
        node("ScaledTanh", ["x"], ["s"], alpha=2.0, beta=0.5),
        node("ParametricSoftplus", ["x"], ["p"], alpha=2.0, beta=0.5),
    ]
    made = model(nodes, {"x": ("float32", ["n"])}, ["a", "s", "p"], opset=5)
    x = RNG.standard_normal(20, np.float32)
    wanted = [2 * x + 0.5, 2 * np.tanh(x / 2), 2 * np.log1p(np.exp(x / 2))]
    compare(compile_onnx(made).run(None, {"x": x}), wanted)


def test_inputs_that_may_be_overwritten_in_opset_1_are_not():
    nodes = [node("Relu", ["x"], ["y"], consumed_inputs=[1]), node("Add", ["x", "y"], ["z"])]
    made = model(nodes, {"x": ("float32", ["n"])}, ["z"], opset=1)
    x = np.array([-1, 2], np.float32)
    compare(compile_onnx(made).run(None, {"x": x}), [np.array([-1, 4], np.float32)])


def test_selu_of_opset_1_has_rounded_constants():
    x = np.array([-1, 2], np.float32)
    found = {}
    for opset in (1, 6):
        made = model(node("Selu", ["x"], ["y"]), {"x": ("float32", ["n"])}, ["y"], opset=opset)
        found[opset] = compile_onnx(made).run(None, {"x": x})[0]
    np.testing.assert_allclose(found[1], [1.0507 * 1.6732 * np.expm1(-1), 2.1014], rtol=1e-6)
    np.testing.assert_allclose(found[6], [-1.1113307, 2.101402], rtol=1e-6)


@pytest.mark.parametrize("shape,slope", [((2, 3, 4), (3,)), ((2, 3), (3,)), ((2, 3, 4), (1,))])
def test_slopes_of_channels_before_opset_7(shape, slope):
    made = model(
        node("PRelu", ["x", "s"], ["y"]),
        {"x": ("float32", ["n", *shape[1:]]), "s": ("float32", slope)},
        ["y"],
        opset=6,
    )
    x, s = RNG.standard_normal(shape, np.float32), RNG.standard_normal(slope, np.float32)
    wide = s.reshape([-1] + [1] * (len(shape) - 2))
    compare(compile_onnx(made).run(None, {"x": x, "s": s}), [np.where(x < 0, wide * x, x)])


@pytest.mark.parametrize("opset", [11, 13])
def test_softmax_is_over_one_axis_from_opset_13_on(opset):
    operators = ["Softmax", "LogSoftmax", "Hardmax"]
    nodes = [node(op, ["x"], [op]) for op in operators]
    nodes += [node(op, ["x"], [f"{op}_{axis}"], axis=axis) for op in operators for axis in (0, -1)]
    made = model(
        nodes, {"x": ("float32", ["n", 3, "m"])}, [n.output[0] for n in nodes], opset=opset
    )
    compiled = check(made, {"x": RNG.standard_normal((2, 3, 4), np.float32) * 9})
    (found,) = compiled.run(["Softmax"], {"x": np.ones((4, 3, 5), np.float32)})
    assert np.ptp(found) == 0 and found[0, 0, 0] == pytest.approx(1 / 15 if opset == 11 else 1 / 5)


def test_hardmax_has_one_for_the_first_of_equal_elements():
    made = model(node("Hardmax", ["x"], ["y"]), {"x": ("float32", ["n", 4])}, ["y"])
    check(made, {"x": np.array([[1, 3, 3, 2], [0, 0, 0, 0]], np.float32)})


def test_gelus_of_onnx_runtime():
    nodes = [
        node("Gelu", ["x"], ["gelu"]),
        node("FastGelu", ["x"], ["fast"]),
        node("FastGelu", ["x", "b"], ["fast_bias"]),
        node("BiasGelu", ["x", "b"], ["bias"]),
        node("QuickGelu", ["x"], ["quick"]),
        node("QuickGelu", ["x"], ["sharp"], alpha=2.0),
    ]
    for item in nodes:
        item.domain = "com.microsoft"
    made = model(
        nodes,
        {"x": ("float32", ["n", 5]), "b": ("float32", [5])},
        [n.output[0] for n in nodes],
        domains={"com.microsoft": 1},
    )
    x, b = RNG.standard_normal((3, 5), np.float32), RNG.standard_normal(5, np.float32)
    check(made, {"x": x, "b": b})


@pytest.mark.parametrize(
    "made,message",
    [
        (node("Gelu", ["x"], ["y"], approximate="sigmoid"), "approximate to be none or tanh"),
        (node("Softmax", ["x"], ["y"], axis=2), "expected an axis from -1 to 0, got 2"),
        (node("LeakyRelu", ["x"], ["y"], slope=0.1), "attribute 'slope'"),
        (node("Elu", ["x"], ["y"], alpha=[1.0]), "'alpha' to be a float, got floats"),
        (node("Elu", [""], ["y"]), "expected input 'x' to be a tensor, got none"),
    ],
)
def test_errors(made, message):
    with pytest.raises(UnsupportedError, match=message):
        compile_onnx(model(made, {"x": ("float32", ["n"])}, ["y"], opset=20))

"""Normalizations of ONNX and of ONNX Runtime, dropout, and random numbers."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
node = helper.make_node
MICROSOFT = "com.microsoft"


def floats(*shape):
    return RNG.standard_normal(shape, np.float32)


def positive(*shape):
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


LAYER_NORMS = {
    "last": (["s"], {"s": [4]}, {}),
    "with shift": (["s", "b"], {"s": [4], "b": [4]}, {"epsilon": 0.1}),
    "two axes": (["s", "b"], {"s": [3, 4], "b": [4]}, {"axis": -2}),
    "one scale": (["s", "b"], {"s": [1], "b": []}, {"axis": 1}),
    "scales of samples": (["s", "b"], {"s": [2, 1, 4], "b": [4]}, {"axis": 1}),
}


@pytest.mark.parametrize("name", LAYER_NORMS)
def test_layer_normalization(name):
    weights, shapes, attributes = LAYER_NORMS[name]
    made = model(
        node("LayerNormalization", ["x", *weights], ["y", "mean", "inverse"], **attributes),
        {"x": ("float32", ["n", 3, 4])} | {n: ("float32", s) for n, s in shapes.items()},
        ["y", "mean", "inverse"],
    )
    feeds = {"x": floats(2, 3, 4)} | {n: positive(*s) for n, s in shapes.items()}
    check(made, feeds, by="reference")


@pytest.mark.parametrize("shape,axis", [([4], -1), ([3, 4], 1), ([1], 1), ([2, 3, 4], 2)])
def test_rms_normalization(shape, axis):
    made = model(
        node("RMSNormalization", ["x", "s"], ["y"], axis=axis, epsilon=0.01),
        {"x": ("float32", ["n", 3, 4]), "s": ("float32", shape)},
        ["y"],
        opset=23,
    )
    check(made, {"x": floats(2, 3, 4), "s": positive(*shape)}, by="reference")


def test_half_precision_with_float32_scales():
    made = model(
        node("RMSNormalization", ["x", "s"], ["y"]),
        {"x": ("float16", ["n", 4]), "s": ("float32", [4])},
        ["y"],
        opset=23,
    )
    x, s = (floats(2, 4) * 300).astype(np.float16), positive(4)
    wide = x.astype(np.float32)
    wanted = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * s
    compare(compile_onnx(made).run(None, {"x": x, "s": s}), [wanted])


def test_normalizations_without_weights():
    nodes = [
        node("LpNormalization", ["x"], ["l1"], p=1, axis=1),
        node("LpNormalization", ["x"], ["l2"]),
        node("MeanVarianceNormalization", ["x"], ["mvn"]),
        node("MeanVarianceNormalization", ["x"], ["last"], axes=[-1]),
        node("LRN", ["x"], ["lrn"], size=3, alpha=0.5, beta=0.6, bias=1.5),
    ]
    outputs = [n.output[0] for n in nodes]
    made = model(nodes, {"x": ("float32", ["n", 5, "h", "w"])}, outputs, opset=22)
    check(made, {"x": floats(2, 5, 3, 4)}, tolerance=1e-4)


def test_zeros_have_a_norm_of_zero():
    nodes = [node("LpNormalization", ["x"], [f"y{p}"], p=p) for p in (1, 2)]
    made = model(nodes, {"x": ("float32", ["n", 2])}, ["y1", "y2"], opset=22)
    found = compile_onnx(made).run(None, {"x": np.array([[0, 0], [3, 4]], np.float32)})
    wanted = [[[0, 0], [3 / 7, 4 / 7]], [[0, 0], [0.6, 0.8]]]
    compare(found, [np.array(w, np.float32) for w in wanted])


def test_an_even_number_of_channels_has_more_of_them_behind():
    made = model(
        node("LRN", ["x"], ["y"], size=4, alpha=0.5, beta=0.5),
        {"x": ("float32", ["n", 6, "h"])},
        ["y"],
    )
    x = floats(2, 6, 3)
    squares = np.pad(x * x, ((0, 0), (1, 2), (0, 0)))
    total = sum(squares[:, c : c + 6] for c in range(4))
    compare(compile_onnx(made).run(None, {"x": x}), [x / np.sqrt(1 + 0.5 / 4 * total)])


@pytest.mark.parametrize("across", [0, 1])
def test_mean_variance_normalization_of_opset_1(across):
    nodes = [
        node("MeanVarianceNormalization", ["x"], ["y"], across_channels=across),
        node("MeanVarianceNormalization", ["x"], ["z"], across_channels=across,
             normalize_variance=0),
    ]  # fmt: skip
    made = model(nodes, {"x": ("float32", ["n", 3, 4, 5])}, ["y", "z"], opset=8)
    x = floats(2, 3, 4, 5)
    axes = (1, 2, 3) if across else (2, 3)
    centred = x - x.mean(axes, keepdims=True)
    found = compile_onnx(made).run(None, {"x": x})
    compare(found, [centred / x.std(axes, keepdims=True), centred])


def microsoft(*args, **attributes):
    return node(*args, domain=MICROSOFT, **attributes)


def test_layer_normalizations_of_sums():
    outputs = ["y", "mean", "inverse", "sum"]
    nodes = [
        microsoft("SkipLayerNormalization", ["x", "skip", "s", "b", "bias"], outputs, epsilon=1e-5),
        microsoft("SkipLayerNormalization", ["x", "one", "s"], ["z"]),
        microsoft("SkipSimplifiedLayerNormalization", ["x", "skip", "s"], ["r", "", "", "added"]),
        node("SimplifiedLayerNormalization", ["x", "s"], ["simple"], axis=-1, epsilon=1e-3),
    ]
    vector = ("float32", [8])
    made = model(
        nodes,
        {
            "x": ("float32", ["n", "m", 8]),
            "skip": ("float32", ["n", "m", 8]),
            "one": ("float32", [1, "m", 8]),
            "s": vector,
            "b": vector,
            "bias": vector,
        },
        ["y", "sum", "z", "r", "added", "simple"],
        domains={MICROSOFT: 1},
    )
    feeds = {"x": floats(2, 3, 8), "skip": floats(2, 3, 8), "one": floats(1, 3, 8)}
    check(made, feeds | {n: positive(8) for n in ("s", "b", "bias")})


def test_statistics_of_sums():
    nodes = [
        microsoft("SkipLayerNormalization", ["x", "x", "s"], ["", "mean", "inverse"]),
        microsoft("SkipSimplifiedLayerNormalization", ["x", "x", "s"], ["", "average", "root"]),
    ]
    names = ["mean", "inverse", "average", "root"]
    made = model(
        nodes,
        {"x": ("float32", ["n", "m", 8]), "s": ("float32", [8])},
        names,
        domains={MICROSOFT: 1},
    )
    x = floats(2, 3, 8)
    both = 2 * x
    mean, var = both.mean(-1, keepdims=True), both.var(-1, keepdims=True)
    root = 1 / np.sqrt((both * both).mean(-1, keepdims=True))
    found = compile_onnx(made).run(None, {"x": x, "s": positive(8)})
    compare(found, [mean, 1 / np.sqrt(var), mean, root])


@pytest.mark.parametrize("positions", [False, True])
def test_embeddings(positions):
    inputs = ["ids", "segments", "words", "places", "kinds", "s", "b", "mask"]
    inputs += ["positions"] * positions
    made = model(
        microsoft("EmbedLayerNormalization", inputs, ["y", "count", "sum"], epsilon=1e-5),
        {
            **{n: ("int32", ["n", "m"]) for n in ("ids", "segments", "mask")},
            **({"positions": ("int32", ["n", "m"])} if positions else {}),
            "words": ("float32", [9, 4]),
            "places": ("float32", [7, 4]),
            "kinds": ("float32", [2, 4]),
            "s": ("float32", [4]),
            "b": ("float32", [4]),
        },
        ["y", "count", "sum"],
        domains={MICROSOFT: 1},
    )
    integers = {"ids": 9, "segments": 2, "mask": 2} | ({"positions": 7} if positions else {})
    feeds = {n: RNG.integers(0, most, (2, 5)).astype(np.int32) for n, most in integers.items()}
    feeds["mask"] = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    shapes = {"words": (9, 4), "places": (7, 4), "kinds": (2, 4), "s": (4,), "b": (4,)}
    check(made, feeds | {n: positive(*s) for n, s in shapes.items()})


@pytest.mark.parametrize("opset", [6, 7, 10, 13])
def test_dropout_has_no_effect_in_inference(opset):
    attributes = {6: {"is_test": 1, "ratio": 0.3}, 7: {"ratio": 0.3}, 10: {}, 13: {"seed": 1}}
    made = model(
        node("Dropout", ["x"], ["y", "mask"], **attributes[opset]),
        {"x": ("float32", ["n", 3])},
        ["y", "mask"],
        opset=opset,
    )
    x = floats(2, 3)
    mask = np.ones((2, 3), bool if opset >= 10 else np.float32)
    compare(compile_onnx(made).run(None, {"x": x}), [x, mask])


@pytest.mark.parametrize("ratio,training", [(0.0, True), (0.5, False)])
def test_dropout_is_the_identity_for_a_ratio_of_0(ratio, training):
    made = model(
        node("Dropout", ["x", "ratio", "training"], ["y"]),
        {"x": ("float32", ["n"]), "training": ("bool", [])},
        ["y"],
        initializers={"ratio": np.float32(ratio)},
    )
    x = floats(5)
    compare(compile_onnx(made).run(None, {"x": x, "training": np.array(training)}), [x])


X, VECTOR = ("float32", ["n", 3, 4]), ("float32", [3])


@pytest.mark.parametrize(
    "made,message",
    [
        (node("Dropout", ["x", "half", "true"], ["y"]),
         "dropout in training mode; export the model for inference"),
        (node("LpNormalization", ["x"], ["y"], p=3), "expected p to be 1 or 2, got 3"),
        (node("InstanceNormalization", ["x", "w", "w"], ["y"]), "to give !relax.tensor<[3], f32>"),
        (node("BatchNormalization", ["x", "v"], ["y"]), "expected at least 5 inputs, got 2"),
        (node("LRN", ["v"], ["y"], size=3), "expected a tensor of at least 2 dims, got 1"),
        (node("LayerNormalization", ["x", "v"], ["y"], axis=3), "an axis from -3 to 2, got 3"),
        (node("GroupNormalization", ["x", "v", "v"], ["y"], num_groups=2), "to divide the chan"),
    ],
)  # fmt: skip
def test_errors(made, message):
    constants = {"half": np.float32(0.5), "true": np.array(True)}
    inputs = {"x": X, "v": VECTOR, "w": ("float32", [5])}
    with pytest.raises(UnsupportedError) as caught:
        compile_onnx(model(made, inputs, ["y"], opset=21, initializers=constants))
    (problem,) = caught.value.problems
    assert message in str(problem)

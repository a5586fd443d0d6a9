"""Gathers, scatters and selections of ONNX, with symbolic dims and in all opsets."""

import numpy as np
import pytest
from onnx_models import check, check_all, compare, floats, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx

ARRAYS = np.random.default_rng(5)


def ints(low, high, *shape):
    return ARRAYS.integers(low, high, shape)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [2, -1, [0, -2], [[1, 1, 0]]])
def test_gather(axis, indices):
    nodes = node("Gather", "x i", axis=axis)
    feeds = [{"x": floats(n, 4, 3)} for n in (3, 6)]
    check_all(nodes, {"x": ["n", 4, 3]}, feeds, constants={"i": np.array(indices)})


def test_gather_by_data():
    inputs = {"x": ("float32", ["n", "m"]), "i": ("int32", ["k", 2])}
    made = model(node("Gather", "x i", axis=1), inputs, ["y"])
    compiled = check(made, {"x": floats(3, 5), "i": ints(-5, 5, 4, 2).astype(np.int32)})
    assert compiled.constant_inputs == ()


def test_gather_at_the_last_place():
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Sub", "n one", "last"),
        node("Gather", "x last"),
    ]  # fmt: skip
    constants = {"zero": np.array(0), "one": np.array(1)}
    check_all(nodes, {"x": ["n", 3]}, [{"x": floats(n, 3)} for n in (1, 4)], 13, constants)


@pytest.mark.parametrize(("index", "least"), [(3, 4), (-3, 3)])
def test_gather_checks_symbolic_dims(index, least):
    made = model(
        node("Gather", "x i"), {"x": ("float32", ["n", 2])}, ["y"], 13, {"i": np.array(index)}
    )
    compiled = check(made, {"x": floats(least, 2)})
    with pytest.raises(ValueError, match=f"expected dim 0 to be {least}, got {least - 1}"):
        compiled.run(None, {"x": floats(least - 1, 2)})


@pytest.mark.parametrize("axis", [0, -1])
def test_gather_elements(axis):
    inputs = {"x": ("float32", ["n", 4]), "i": ("int64", ["n", 4] if axis else ["k", 2])}
    made = model(node("GatherElements", "x i", axis=axis), inputs, ["y"], 13)
    shape = (3, 4) if axis else (5, 2)
    check(made, {"x": floats(3, 4), "i": ints(-3, 3, *shape)})


@pytest.mark.parametrize(("batch", "depth"), [(0, 1), (0, 2), (1, 1), (1, 2)])
def test_gather_nd(batch, depth):
    shape = ["b", "k", depth] if batch else ["k", 2, depth]
    inputs = {"x": ("float32", ["b", 4, 5]), "i": ("int64", shape)}
    made = model(node("GatherND", "x i", batch_dims=batch), inputs, ["y"], 13)
    places = ints(-2, 2, 2, 3, depth) if batch else ints(-2, 2, 3, 2, depth)
    check(made, {"x": floats(2, 4, 5), "i": places})


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
def test_scatter_elements(reduction):
    inputs = {"x": ("float32", ["n", 4]), "i": ("int64", ["n", 2]), "u": ("float32", ["k", 2])}
    nodes = node("ScatterElements", "x i u", axis=1, reduction=reduction)
    places = ints(-4, 4, 3, 2) if reduction != "none" else np.array([[0, 1], [-1, 0], [2, 3]])
    made = model(nodes, inputs, ["y"], 18)
    check(made, {"x": floats(3, 4), "i": places, "u": floats(3, 2)})


def test_scatter_in_opset_9():
    inputs = {"x": ("float32", ["n", 4]), "i": ("int64", [2, 4]), "u": ("float32", [2, 4])}
    made = model(node("Scatter", "x i u"), inputs, ["y"], 9)
    check(made, {"x": floats(5, 4), "i": np.array([[1, 0, 2, 3]] * 2), "u": floats(2, 4)})


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_scatter_nd(reduction):
    inputs = {"x": ("float32", ["n", 4]), "i": ("int64", ["k", 1]), "u": ("float32", ["k", "m"])}
    made = model(node("ScatterND", "x i u", reduction=reduction), inputs, ["y"], 18)
    check(made, {"x": floats(5, 4), "i": np.array([[1], [-1], [0]]), "u": floats(3, 4)})


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis):
    inputs = {"i": ("int64", ["n", 3]), "v": ("float32", [2])}
    made = model(node("OneHot", "i d v", axis=axis), inputs, ["y"], 11, {"d": np.array(5)})
    check(made, {"i": ints(-6, 7, 4, 3), "v": np.float32([-1, 2])})


def test_one_hot_of_a_symbolic_depth():
    nodes = [node("Shape", "x", "s"), node("Squeeze", "s", "d"), node("OneHot", "i d v")]
    inputs = {"x": ("float32", ["n"]), "i": ("int64", ["m"])}
    made = model(nodes, inputs, ["y"], 13, {"v": np.float32([0, 1])})
    check(made, {"x": floats(4), "i": np.array([0, 3, -1, 9])})


def test_one_hot_of_a_float_as_depth():
    nodes = [
        node("Shape", "x", "s"), node("Squeeze", "s", "n"), node("Cast", "n", "d", to=1),
        node("OneHot", "i d v"),
    ]  # fmt: skip
    inputs = {"x": ("float32", ["n"]), "i": ("int64", [3])}
    compiled = compile_onnx(model(nodes, inputs, ["y"], 13, {"v": np.float32([0, 1])}))
    for n in (2, 5):
        found = compiled.run(None, {"x": floats(n), "i": np.array([0, 1, 1])})
        np.testing.assert_array_equal(found[0], np.eye(n, dtype=np.float32)[[0, 1, 1]])
    assert compiled.constant_sizes == ("n",)


@pytest.mark.parametrize("axis", [None, 1])
def test_compress(axis):
    inputs = {"x": ("float32", ["n", 4]), "c": ("bool", [3])}
    attributes = {} if axis is None else {"axis": axis}
    made = model(node("Compress", "x c", **attributes), inputs, ["y"], 11)
    for flags in ([True, False, True], [False, False, False]):
        compiled = check(made, {"x": floats(3, 4), "c": np.array(flags)})
    assert not compiled.constant_inputs


def test_nonzero_of_ones_counts():
    ones = np.ones(1, np.int64)
    nodes = [node("Shape", "x", "s"), node("Expand", "one s", "ones"), node("NonZero", "ones")]
    made = model(nodes, {"x": ("float32", ["n"])}, ["y"], 13, {"one": ones})
    for n in (1, 5):
        check(made, {"x": floats(n)})


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_unique(is_sorted, axis):
    values = np.float32([[2, 1, 1], [0, 1, 1], [2, 1, 1]])
    attributes = {"sorted": is_sorted, **({} if axis is None else {"axis": axis})}
    names = ["y", "i", "v", "c"]
    made = model(
        node("Unique", "x", " ".join(names), **attributes), {"x": ("float32", ["n", 3])}, names
    )
    assert not check(made, {"x": values}).constant_inputs


def test_rows_that_a_condition_chooses():
    nodes = [
        node("ReduceSum", "x one", "s", keepdims=0),
        node("Greater", "s zero", "c"),
        node("NonZero", "c", "p"),
        node("Transpose", "p", "q"),
        node("GatherND", "x q", "rows"),
        node("Softmax", "rows", "y"),
        node("Shape", "y", "size"),
    ]
    constants = {"one": np.array([1]), "zero": np.float32(0)}
    made = model(nodes, {"x": ("float32", ["n", 4])}, ["y", "size"], 17, constants)
    for rows in (1, 6, 200):
        check(made, {"x": floats(rows, 4)})
    check(made, {"x": -np.ones((5, 4), np.float32)})


@pytest.mark.parametrize("is_centered", [0, 1])
def test_non_max_suppression(is_centered):
    constants = {"m": np.array(6), "o": np.float32(0.3), "l": np.float32(0.1)}
    nodes = [
        node("NonMaxSuppression", "b s m o l", "chosen", center_point_box=is_centered),
        node("Gather", "chosen column", "boxes", axis=1),
        node("NonMaxSuppression", "b s m o", "more", center_point_box=is_centered),
    ]
    inputs = {"b": ("float32", [2, "n", 4]), "s": ("float32", [2, 3, "n"])}
    made = model(
        nodes, inputs, ["chosen", "boxes", "more"], 11, constants | {"column": np.array(2)}
    )
    for count in (1, 30, 300):
        check(made, {"b": np.abs(floats(2, count, 4)), "s": floats(2, 3, count)})


@pytest.mark.parametrize(("time", "batch"), [(0, 1), (1, 0), (1, 2)])
def test_reverse_sequence(time, batch):
    inputs = {"x": ("float32", ["a", "b", 3]), "l": ("int64", ["k"])}
    nodes = node("ReverseSequence", "x l", time_axis=time, batch_axis=batch)
    made = model(nodes, inputs, ["y"], 13)
    lengths = np.array([1, 3, 0])
    shape = (4, 3, 3) if batch == 1 else (3, 4, 3)
    if batch == 2:
        compiled = compile_onnx(made)
        x = floats(*shape)
        wanted = x.copy()
        for b, length in enumerate(lengths):
            wanted[:, :length, b] = x[:, :length, b][:, ::-1]
        compare(compiled.run(None, {"x": x, "l": lengths}), [wanted])
    else:
        check(made, {"x": floats(*shape), "l": lengths})


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_tensor_scatter(mode):
    inputs = {
        "c": ("float32", ["b", 2, 6, 3]), "u": ("float32", ["b", 2, "t", 3]), "w": ("int64", ["b"])
    }  # fmt: skip
    made = model(node("TensorScatter", "c u w", mode=mode), inputs, ["y"], 24)
    starts = np.array([1, 5] if mode == "circular" else [1, 4])
    feeds = {"c": floats(2, 2, 6, 3), "u": floats(2, 2, 2, 3), "w": starts}
    check(made, feeds, "reference")


def test_array_feature_extractor():
    inputs = {"x": ("float32", ["n", 4]), "i": ("int64", [2])}
    nodes = node("ArrayFeatureExtractor", "x i", domain="ai.onnx.ml")
    made = model(nodes, inputs, ["y"], 13, domains={"ai.onnx.ml": 3})
    check(made, {"x": floats(3, 4), "i": np.array([2, 0])})


@pytest.mark.parametrize(("strides", "dilations"), [([1, 1], [1, 1]), ([2, 1], [1, 2])])
def test_col2im(strides, dilations):
    columns = ((8 - 3) // strides[0] + 1) * (7 + 2 - dilations[1])
    nodes = node("Col2Im", "x i b", strides=strides, dilations=dilations, pads=[0, 1, 0, 1])
    constants = {"i": np.array([8, 7]), "b": np.array([3, 2])}
    shapes = {"x": ["n", 12, columns]}
    check_all(nodes, shapes, [{"x": floats(2, 12, columns)}], 18, constants, "reference")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (node("Gather", "x i", axis=2), "expected an axis from -2 to 1, got 2"),
        (node("Gather", "x four"), "expected an index of a dim of 2, got 4"),
        (node("ScatterElements", "x j x", reduction="mean"), "expected one of none, add"),
        (node("ScatterND", "x i x"), "expected index tuples for 2 dims, got a length of 3"),
        (node("OneHot", "i i x"), "expected a depth to be one number, got 3"),
        (node("TensorScatter", "x x", mode="ring"), "expected linear or circular, got 'ring'"),
    ],
)
def test_invalid_models(nodes, message):
    constants = {"i": np.array([0, 1, 0]), "j": ints(0, 2, 2, 3), "four": np.array(4)}
    with pytest.raises(ValueError, match=message) as error:
        compile_onnx(model(nodes, {"x": ("float32", [2, 3])}, ["y"], 24, constants))
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize("is_centered", [0, 1])
def test_non_max_suppression_of_constants(is_centered):
    constants = {
        "b": np.abs(floats(2, 20, 4)), "s": floats(2, 3, 20), "m": np.array(6),
        "o": np.float32(0.3), "l": np.float32(-0.5),
    }  # fmt: skip
    nodes = node("NonMaxSuppression", "b s m o l", center_point_box=is_centered)
    check(model(nodes, {}, ["y"], 11, constants), {})

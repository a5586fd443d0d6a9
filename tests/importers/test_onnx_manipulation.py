"""Reshapes, joins and splits of ONNX, with symbolic dims and in all opsets."""

import numpy as np
import pytest
from onnx_models import check, check_all, floats, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx


@pytest.mark.parametrize("shape", [[0, -1], [-1, 2, 0], [0, 2, 3], [0, 1, -1, 6]])
def test_reshape(shape):
    feeds = [{"x": floats(n, 6, 2)} for n in (1, 5)]
    constants = {"s": np.array(shape if shape != [0, 2, 3] else [0, 3, 4], np.int64)}
    if shape == [-1, 2, 0]:
        constants = {"s": np.array([-1, 2, 2], np.int64)}
    check_all(node("Reshape", "x s"), {"x": ["n", 6, 2]}, feeds, constants=constants)


def test_reshape_that_is_checked_on_calls():
    nodes = node("Reshape", "x s")
    constants = {"s": np.array([-1, 4], np.int64)}
    check_all(nodes, {"x": ["n", 6]}, [{"x": floats(n, 6)} for n in (2, 4)], constants=constants)
    made = model(nodes, {"x": ("float32", ["n", 6])}, ["y"], 17, constants)
    with pytest.raises(ValueError, match="expected dim 0 to be 4, got 6"):
        compile_onnx(made).run(None, {"x": floats(1, 6)})


def test_reshape_to_the_shape_of_another():
    nodes = [node("Shape", "z", "s"), node("Reshape", "x s")]
    check_all(nodes, {"x": ["n", "m"], "z": ["m", "n"]}, [{"x": floats(3, 4), "z": floats(4, 3)}])


def test_reshape_by_an_attribute():
    made = model(node("Reshape", "x", shape=[2, -1]), {"x": ("float32", [3, 4])}, ["y"], 4)
    x = floats(3, 4)
    np.testing.assert_array_equal(compile_onnx(made).run(None, {"x": x})[0], x.reshape(2, 6))


def test_reshape_with_zeros():
    constants = {"s": np.array([0, 3], np.int64)}
    nodes = node("Reshape", "x s", allowzero=1)
    check_all(nodes, {"x": [2, 0]}, [{"x": floats(2, 0)}], constants=constants)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, 3])
def test_flatten(axis):
    feeds = [{"x": floats(2, 3, 4)}]
    check_all(node("Flatten", "x", axis=axis), {"x": ["n", "m", 4]}, feeds)


@pytest.mark.parametrize("opset", [11, 13])
def test_squeeze_and_unsqueeze(opset):
    given = [{"axes": a} if opset < 13 else {} for a in ([1, -1], [0, -1])]
    names = ["x", "a"] if opset < 13 else ["x axes", "a others"]
    nodes = [
        node("Squeeze", names[0], "a", **given[0]),
        node("Unsqueeze", names[1], "y", **given[1]),
    ]
    constants = {"axes": np.array([1, -1]), "others": np.array([0, -1])} if opset >= 13 else {}
    feeds = [{"x": floats(n, 1, 4, 1)} for n in (1, 3)]
    check_all(nodes, {"x": ["n", 1, 4, "m"]}, feeds, opset, constants)


def test_squeeze_all():
    check_all(node("Squeeze", "x"), {"x": [1, 3, 1]}, [{"x": floats(1, 3, 1)}])
    made = model(node("Squeeze", "x"), {"x": ("float32", ["n", 3])}, ["y"])
    compiled = compile_onnx(made)
    for n in (1, 2):
        assert compiled.run(None, {"x": floats(n, 3)})[0].shape == ((3,) if n == 1 else (2, 3))
    assert compiled.constant_sizes == ("n",)


@pytest.mark.parametrize("perm", [None, [2, 0, 1]])
def test_transpose(perm):
    attributes = {} if perm is None else {"perm": perm}
    check_all(node("Transpose", "x", **attributes), {"x": ["n", 3, "m"]}, [{"x": floats(2, 3, 4)}])


def test_concat():
    shapes = {"x": ["n", 3, 4], "z": ["m", 3, "k"]}
    check_all(
        node("Concat", "x z x", axis=-3), shapes, [{"x": floats(2, 3, 4), "z": floats(5, 3, 4)}]
    )


@pytest.mark.parametrize(
    ("opset", "attributes", "inputs", "count"),
    [
        (2, {"split": [1, 3], "axis": 1}, "x", 2),
        (11, {"split": [1, 3], "axis": -2}, "x", 2),
        (11, {}, "x", 2),
        (13, {"axis": 1}, "x s", 2),
        (13, {"axis": 0}, "x", 3),
        (18, {"axis": 2, "num_outputs": 3}, "x", 3),
        (18, {"axis": 0, "num_outputs": 2}, "x", 2),
    ],
)
def test_split(opset, attributes, inputs, count):
    names = [f"y{i}" for i in range(count)]
    constants = {"s": np.array([1, 3])} if "s" in inputs else {}
    made = model(
        node("Split", inputs, " ".join(names), **attributes),
        {"x": ("float32", ["n", 4, 7])}, names, opset, constants,
    )  # fmt: skip
    by = "reference" if opset < 7 else "onnxruntime"
    check(made, {"x": floats(6, 4, 7)}, by)


def test_split_into_too_many_parts():
    names = ["a", "b", "c", "d"]
    nodes = node("Split", "x", " ".join(names), num_outputs=4)
    compiled = check(model(nodes, {"x": ("float32", ["n"])}, names, 18), {"x": floats(7)})
    with pytest.raises(ValueError, match="expected dim 0 to be 6, got 5"):
        compiled.run(None, {"x": floats(5)})


def test_split_of_wrong_lengths():
    made = model(
        node("Split", "x s", "a b"), {"x": ("float32", [5])}, ["a", "b"], 13,
        {"s": np.array([2, 2])},
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"expected 2 parts of a dim of 5, got \(2, 2\)"):
        compile_onnx(made)
    made = model(node("Split", "x", "a b"), {"x": ("float32", ["n"])}, ["a", "b"], 13)
    with pytest.raises(ValueError, match="expected dim 0 to be 4, got 5"):
        compile_onnx(made).run(None, {"x": floats(5)})


def test_expand():
    nodes = [node("Shape", "z", "s"), node("Expand", "x s")]
    feeds = [{"x": floats(3, 1), "z": floats(2, 1, 5)}]
    check_all(nodes, {"x": [3, 1], "z": ["n", 1, "m"]}, feeds)
    constants = {"s": np.array([4, 1, 1])}
    check_all(node("Expand", "x s"), {"x": ["n", 3]}, [{"x": floats(2, 3)}], constants=constants)


def test_tile():
    constants = {"r": np.array([2, 1, 3])}
    feeds = [{"x": floats(2, 3, 4)}]
    check_all(node("Tile", "x r"), {"x": ["n", 3, "m"]}, feeds, constants=constants)
    nodes = [node("Shape", "z", "s"), node("Tile", "x s")]
    check_all(nodes, {"x": ["n", 3], "z": ["a", "b"]}, [{"x": floats(2, 3), "z": floats(3, 2)}])


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_and_space(mode):
    feeds = [{"x": floats(n, 8, 2, 6)} for n in (1, 3)]
    nodes = node("DepthToSpace", "x", blocksize=2, mode=mode)
    check_all(nodes, {"x": ["n", 8, "h", "w"]}, feeds)
    check_all(node("SpaceToDepth", "x", blocksize=2), {"x": ["n", 8, "h", "w"]}, feeds)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (node("Flatten", "x", axis=4), "expected an axis from -2 to 2, got 4"),
        (node("Transpose", "x", perm=[0, 0]), r"expected a permutation of 2 dims, got \[0, 0\]"),
        (node("Reshape", "x s"), r"expected one dim to infer, got \(-1, -1\) for \(2, 3\)"),
        (node("Concat", "x z", axis=0), "expected tensors of one rank, got 1, 2"),
        (node("Tile", "x s t"), "expected at most 2 inputs, got 3"),
        (node("Unsqueeze", "x t"), r"expected different axes, got \[0, 0\]"),
        (node("Pad", "x t"), "expected 4 widths, got 2"),
        (node("Pad", "x t", mode="mirror"), "expected 4 widths|one of constant"),
        (node("DepthToSpace", "x", blocksize=2), "expected 4 dims and mode DCR or CRD, got 2"),
    ],
)
def test_invalid_models(nodes, message):
    constants = {"s": np.array([-1, -1]), "t": np.array([0, 0])}
    inputs = {"x": ("float32", [2, 3]), "z": ("float32", [4])}
    with pytest.raises(ValueError, match=message) as error:
        compile_onnx(model(nodes, inputs, ["y"], 13, constants))
    assert len(str(error.value).splitlines()) == 2  # a headline, and a line for the node

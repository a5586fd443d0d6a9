"""Slices and padding of ONNX, with symbolic dims and in all opsets."""

import numpy as np
import pytest
from onnx_models import check, check_all, floats, model, node

from xrelax.importers.onnx.compiled_model import compile_onnx


def test_slice_in_opset_1():
    nodes = node("Slice", "x", starts=[1, -3], ends=[2**31 - 1, -1], axes=[0, 1])
    check_all(nodes, {"x": ["n", "m"]}, [{"x": floats(n, m)} for n, m in ((4, 6), (1, 2))], 9)


@pytest.mark.parametrize("opset", [10, 13])
@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (1, 2**63 - 1, 1), (-3, 2**31 - 1, 2), (-1, -(2**63), -1), (5, 0, -2), (2, 100, 3),
        (-100, -1, 1), (4, 2, 1), (3, -(2**31), -1), (-5, -9, -1), (-(2**62), -99, -2), (-4, 0, -1),
    ],
)  # fmt: skip
def test_slice(opset, start, end, step):
    constants = {"s": [start], "e": [end], "a": [-2], "t": [step]}
    constants = {name: np.array(value, np.int64) for name, value in constants.items()}
    feeds = [{"x": floats(2, n, 3)} for n in (1, 6, 9)]
    check_all(node("Slice", "x s e a t"), {"x": [2, "n", 3]}, feeds, opset, constants)


def test_slice_to_symbolic_bounds():
    nodes = [
        node("Shape", "z", "s"),
        node("Slice", "s zero one", "end"),
        node("Slice", "x one end"),
    ]
    constants = {"zero": np.array([0]), "one": np.array([1])}
    feeds = [{"x": floats(n, 3), "z": floats(m, 1)} for n, m in ((7, 4), (3, 9), (5, 1))]
    check_all(nodes, {"x": ["n", 3], "z": ["m", 1]}, feeds, 13, constants)


def test_slice_in_reverse_from_a_symbolic_start():
    nodes = [
        node("Shape", "x", "s"), node("Sub", "s five", "start"),
        node("Slice", "x start end zero step"),
    ]  # fmt: skip
    constants = {"five": [5], "end": [-99], "zero": [0], "step": [-1]}
    constants = {name: np.array(value) for name, value in constants.items()}
    check_all(nodes, {"x": ["n"]}, [{"x": floats(n)} for n in (1, 3, 5, 7)], 13, constants)


def test_slice_of_inputs_that_calls_give():
    inputs = {"x": ("float32", ["n", 3]), "s": ("int64", [1]), "e": ("int64", [1])}
    made = model(node("Slice", "x s e"), inputs, ["y"])
    for start, end in ((0, 2), (-2, 5)):
        compiled = check(made, {"x": floats(4, 3), "s": np.array([start]), "e": np.array([end])})
    assert compiled.constant_inputs == ("s", "e")


PADS = [
    ("constant", [1, 0, 2, 0, 3, 0], None),
    ("constant", [-1, 2, 0, 0, -1, 1], None),
    ("reflect", [0, 1, 2, 0, 2, 1], None),
    ("edge", [2, 0, 1, 1, 0, 4], None),
    ("wrap", [0, 2, 1, 0, 1, 3], None),
    ("reflect", [1, 2], [-1]),
    ("edge", [3, 1, 0, 2], [2, 0]),
]


@pytest.mark.parametrize(("mode", "pads", "axes"), PADS)
def test_pad(mode, pads, axes):
    constants = {"p": np.array(pads, np.int64), "v": np.float32(1.5)}
    if axes is not None:
        constants["a"] = np.array(axes, np.int64)
    nodes = node("Pad", "x p v a" if axes is not None else "x p v", mode=mode)
    check_all(nodes, {"x": ["n", 4, "m"]}, [{"x": floats(3, 4, 5)}], 19, constants)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_by_symbolic_widths(mode):
    nodes = [
        node("Shape", "z", "s"),
        node("Concat", "s zero s", "p", axis=0),
        node("Pad", "x p v", mode=mode),
    ]
    inputs = {name: ("float32", s) for name, s in {"x": ["n", 6], "z": ["m"], "v": []}.items()}
    made = model(nodes, inputs, ["y"], 19, {"zero": np.array([0])})
    made.graph.node[1].input[:] = ["s", "zero", "s", "zero"]
    for n, m in ((4, 2), (5, 3)):
        feeds = {"x": floats(n, 6), "z": floats(m), "v": np.float32(-2)}
        check(made, feeds)


@pytest.mark.parametrize("opset", [1, 2])
def test_pad_in_opsets(opset):
    name = "paddings" if opset == 1 else "pads"
    nodes = node("Pad", "x", value=2.0, **{name: [0, 1, 1, 0]})
    x = floats(2, 3)
    found = compile_onnx(model(nodes, {"x": ("float32", [2, 3])}, ["y"], opset)).run(None, {"x": x})
    np.testing.assert_array_equal(found[0], np.pad(x, [(0, 1), (1, 0)], constant_values=2))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_to_a_length(mode):
    """The width is 5 - n, which removes elements where it is negative."""
    nodes = [
        node("Shape", "x", "s"), node("Sub", "five s", "w"),
        node("Concat", "zero w", "p", axis=0), node("Pad", "x p", mode=mode),
    ]  # fmt: skip
    constants = {"five": np.array([5]), "zero": np.array([0])}
    check_all(nodes, {"x": ["n"]}, [{"x": floats(n)} for n in (3, 5, 8)], 19, constants)


def test_center_crop_pad():
    constants = {"s": np.array([5, 3])}
    nodes = node("CenterCropPad", "x s", axes=[0, 2])
    check_all(nodes, {"x": [4, 3, 7]}, [{"x": floats(4, 3, 7)}], 18, constants, "reference")


@pytest.mark.parametrize("upper", [0, 1])
def test_triangles(upper):
    nodes = node("Trilu", "x k", upper=upper)
    feeds = [{"x": floats(3, n, 4)} for n in (2, 5)]
    check_all(nodes, {"x": ["b", "n", 4]}, feeds, constants={"k": np.array(-1)})

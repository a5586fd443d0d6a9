"""Ranges, windows and other tensors that ONNX makes of sizes."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_models import check, floats, model, node


@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("operator", ["HannWindow", "HammingWindow", "BlackmanWindow"])
def test_windows(operator, periodic):
    nodes = [
        node("Shape", "x", "s"), node("Squeeze", "s", "n"),
        node(operator, "n", periodic=periodic, output_datatype=TensorProto.DOUBLE),
    ]  # fmt: skip
    made = model(nodes, {"x": ("float32", ["n"])}, ["y"], 17)
    for n in (4, 9):
        check(made, {"x": floats(n)}, tolerance=1e-6)


@pytest.mark.parametrize(
    ("bounds", "dtype"), [((0, 10, 3), "int64"), ((9, -1, -2), "int32"), ((1, 2, 0.25), "float32")]
)
def test_range(bounds, dtype):
    constants = dict(zip("abc", (np.array(b, dtype) for b in bounds), strict=True))
    check(model(node("Range", "a b c"), {}, ["y"], 17, constants), {})
    inputs = {name: (dtype, []) for name in "abc"}
    check(model(node("Range", "a b c"), inputs, ["y"], 17), constants)


def test_range_of_a_symbolic_length():
    nodes = [
        node("Shape", "x", "s"), node("Squeeze", "s", "n"), node("Mul", "n two", "end"),
        node("Range", "n end one"),
    ]  # fmt: skip
    made = model(
        nodes, {"x": ("float32", ["n"])}, ["y"], 17, {"two": np.array(2), "one": np.array(1)}
    )
    for n in (1, 6):
        check(made, {"x": floats(n)})


@pytest.mark.parametrize("step", [1, 3, -2])
def test_range_that_may_be_empty(step):
    nodes = [
        node("Shape", "x", "s"), node("Squeeze", "s", "n"), node("Sub", "n five", "e"),
        node("Range", "zero e step" if step > 0 else "e zero step"),
    ]  # fmt: skip
    constants = {"five": np.array(5), "zero": np.array(0), "step": np.array(step)}
    made = model(nodes, {"x": ("float32", ["n"])}, ["y"], 17, constants)
    for n in (3, 5, 6, 12):
        check(made, {"x": floats(n)})


def test_eye_like():
    made = model(
        node("EyeLike", "x", k=-1, dtype=TensorProto.INT32), {"x": ("float32", ["n", 3])}, ["y"], 17
    )
    check(made, {"x": floats(4, 3)})

"""Sizes and bounds of slices that depend on data, in modules for all values of inputs."""

import numpy as np
import onnx
import pytest
from onnx_models import by_onnxruntime, by_reference, compare, floats

from xrelax import relax
from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.relax.frontend.onnx import from_onnx

SLICES = """
(float[n, 6] x, int64[1] s, int64[1] e, int64[2] t) => (float[a, 6] y, float[b, c] z) {
    y = Slice (x, s, e)
    axes = Constant <value_ints: ints = [1, 0]> ()
    starts = Concat <axis: int = 0> (s, s)
    ends = Concat <axis: int = 0> (e, e)
    z = Slice (x, starts, ends, axes, t)
}"""
SHAPES = """
(float[n, 6] x, int64[2] s, int64 k) => (float[a, b] y, float[c, d, e] z, float[f, g] t) {
    y = Reshape (x, s)
    rows = Shape <end: int = 1> (x)
    one = Constant <value_ints: ints = [1]> ()
    rest = Constant <value_ints: ints = [-1]> ()
    middle = Reshape (k, one)
    shape = Concat <axis: int = 0> (rows, middle, rest)
    halves = Reshape (x, shape)
    z = Add (halves, halves)
    repeats = Concat <axis: int = 0> (middle, one)
    t = Tile (x, repeats)
}"""
NUMBERS = """
(int64 a, int64 b, int64 c, int64[2] s, float[n, 1] x) => (
    int64[m] y, float[d, e] z, float[f, g] t, float[n, h] top
) {
    y = Range (a, b, c)
    z = ConstantOfShape (s)
    first = Expand (x, s)
    second = Expand (x, s)
    t = Add (first, second)
    one = Constant <value_ints: ints = [1]> ()
    top, places = TopK (t, one)
}"""
COUNTED = """
(float[n, m] x) => (int64[k] y, float[k, m] z) {
    half = Constant <value_float: float = 0.5> ()
    above = Greater (x, half)
    ones = Cast <to: int = 7> (above)
    count = ReduceSum <keepdims: int = 0> (ones)
    zero = Constant <value_int: int = 0> ()
    one = Constant <value_int: int = 1> ()
    y = Range (zero, count, one)
    first = Constant <value_ints: ints = [0]> ()
    length = Constant <value_ints: ints = [1]> ()
    end = Reshape (count, length)
    z = Slice (x, first, end)
}"""


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> graph {text}')


@pytest.mark.parametrize(
    ("text", "feeds"),
    [
        (SLICES, [([1], [4], [1, 2]), ([-3], [100], [2, 1]), ([-1], [-100], [-2, -1])]),
        (SHAPES, [([3, 8], 3), ([0, -1], 2), ([-1, 2], 6)]),
        (NUMBERS, [(2, 9, 3, [4, 3], floats(4, 1)), (9, 2, -3, [1, 5], floats(1, 1))]),
    ],
    ids=["slices", "shapes", "numbers"],
)
def test_values_of_inputs(text: str, feeds):
    made = parsed(text)
    compiled = relax.build(from_onnx(made))["main"]
    names = [value.name for value in made.graph.input]
    for given in feeds:
        inputs = [np.asarray(value) for value in given]
        inputs = inputs if text == NUMBERS else [floats(4, 6), *inputs]
        wanted = by_onnxruntime(made, dict(zip(names, inputs, strict=True)))
        compare([found.numpy() for found in compiled(*inputs)], wanted)


def test_values_of_operators():
    made = parsed(COUNTED)
    compiled = compile_onnx(made)
    assert compiled.constant_inputs == ()
    for rows in (6, 9):
        feeds = {"x": floats(rows, 1)}
        compare(compiled.run(None, feeds), by_reference(made, feeds))


def test_negative_sizes():
    made = parsed("(int64[1] s) => (float[n] y) { y = ConstantOfShape (s) }")
    compiled = relax.build(from_onnx(made))["main"]
    with pytest.raises(ValueError, match="expected a dim of at least 0"):
        compiled(np.array([-1]))

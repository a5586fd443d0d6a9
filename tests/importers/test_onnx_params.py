"""Initializers of ONNX models as parameters, and outputs that are sequences."""

from typing import Any

import numpy as np
import pytest

import xrelax
from xrelax import relax
from xrelax.script import from_source

onnx = pytest.importorskip("onnx")

RESIZE = """
<ir_version: 10, opset_import: ["" : 18]>
model (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y)
<float[4] scales = {1, 1, 2, 2}, int64[2] shape = {4, 4}> {
    z = Resize <mode = "nearest"> (x, , scales)
    y = Identity(z)
}
"""
SCALED = """
<ir_version: 10, opset_import: ["" : 18]>
model (float[n, 2] x) => (float[k, 2] y)
<float[2] w = {2, 3}, float factor = {0.5}, int64[1] axes = {0}> {
    a = Mul(x, w)
    b = Mul(a, factor)
    c = Unsqueeze(b, axes)
    y = Squeeze(c, axes)
}
"""


def imported(text: str, **options: Any) -> Any:
    return relax.frontend.onnx.from_onnx(onnx.parser.parse_model(text), **options)


def test_all_initializers_are_parameters():
    mod = imported(SCALED, keep_params_in_input=True)
    main = mod["main"]
    assert [p.name_hint for p in main.params] == ["x", "w", "factor", "axes"]
    assert [t.numpy().tolist() for t in main.attrs["params"]] == [[2, 3], 0.5, [0]]
    names = [op.name for op in mod.op.walk() if op.name.startswith("relax.")]
    assert "relax.expand_dims" in names and "relax.squeeze" in names
    detached, params = relax.frontend.detach_params(mod)
    x = np.ones((3, 2), np.float32)
    result = relax.build(detached)["main"](x, *params["main"])
    np.testing.assert_array_equal(result.numpy(), x * [1, 1.5])
    doubled = [np.float32([4, 6]), *params["main"][1:]]
    np.testing.assert_array_equal(relax.build(detached)["main"](x, *doubled).numpy(), x * [2, 3])


def test_operators_read_numbers_of_parameters():
    mod = imported(RESIZE, keep_params_in_input=True)
    detached, params = relax.frontend.detach_params(mod)
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    result = relax.build(detached)["main"](x, *params["main"])
    np.testing.assert_array_equal(result.numpy(), x.repeat(2, 2).repeat(2, 3))


def test_parameters_are_printed():
    mod = imported(SCALED, keep_params_in_input=True)
    assert '"params": [metadata["relax.expr.Constant"][0], metadata[' in mod.script()
    again = from_source(mod.script(show_meta=True))
    xrelax.ir.assert_structural_equal(again, mod)
    assert [t.numpy().tolist() for t in again["main"].attrs["params"]] == [[2, 3], 0.5, [0]]


def test_a_sequence_is_a_tuple():
    mod = imported("""
<ir_version: 10, opset_import: ["" : 18]>
model (float[4, 2] x) => (seq(float[2, 2]) parts, float[4, 2] y) <int64 two = {2}> {
    parts = SplitToSequence <axis = 0> (x, two)
    y = Neg(x)
}
""")
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    parts, y = relax.build(mod)["main"](x)
    np.testing.assert_array_equal([p.numpy() for p in parts], [x[:2], x[2:]])
    np.testing.assert_array_equal(y.numpy(), -x)


def test_legalized_models_may_have_sizes_that_data_says():
    mod = imported("""
<ir_version: 10, opset_import: ["" : 18]>
model (float[5] x) => (float[k] y) { y = Unique <sorted = 1> (x) }
""")
    legalized = relax.transform.LegalizeOps()(mod)
    result = relax.build(legalized)["main"](np.float32([3, 1, 3, 2, 1]))
    np.testing.assert_array_equal(result.numpy(), [1, 2, 3])


def test_reductions_over_all_axes_have_no_axis():
    mod = imported("""
<ir_version: 10, opset_import: ["" : 18]>
model (float[n, 2] x) => (float y) { y = ReduceSum <keepdims = 0> (x) }
""")
    assert "R.sum(x)" in mod.script()

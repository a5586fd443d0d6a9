"""Operators on numbers that are known during the import, compared with ONNX Runtime."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import by_onnxruntime, model

from xrelax.importers.onnx.fold import folded

INT, F = np.int64, np.float32
NUMBERS = [
    ("Div", [INT([7, -7, 6]), INT([2, 2, -4])], {}),
    ("Div", [F([7, -7]), F([2, 0])], {}),
    ("Mod", [INT([7, -7, 6]), INT([3, 3, -4])], {}),
    ("Pow", [np.int32([2, 3]), np.int32([2, 3])], {}),
    ("Pow", [F([2, 3]), INT([2, -1])], {}),
    ("Max", [F([1, 5]), F([[2], [3]]), F([4, 0])], {}),
    ("Clip", [F([-3, 0.5, 9]), F(-1), F(2)], {}),
    ("Cast", [F([1.9, -1.9, 0])], {"to": TensorProto.INT32}),
    ("Cast", [INT([0, 2, -1])], {"to": TensorProto.BOOL}),
    ("Round", [F([0.5, 1.5, 2.5, -0.5])], {}),
    ("Equal", [INT([1, 2]), INT([[1], [2]])], {}),
    ("LessOrEqual", [F([1, 2]), F(1)], {}),
    ("Not", [np.array([True, False])], {}),
    ("Xor", [np.array([True, False]), np.array([True])], {}),
    ("Sqrt", [F([4, 2])], {}),
    ("Sign", [np.int32([4, 0, -2])], {}),
    ("ReduceSum", [np.int32([[1, 2], [3, 4]]), INT([0])], {"keepdims": 0}),
    ("ReduceSum", [F([[1, 2]])], {"noop_with_empty_axes": 1}),
    ("ReduceProd", [np.int32([[1, 2], [3, 4]])], {"keepdims": 1}),
    ("ReduceMean", [F([[1, 2], [3, 4]]), INT([-1])], {}),
    ("ArgMax", [F([[1, 5, 5], [3, 4, 0]])], {"axis": 1, "keepdims": 0}),
    ("Concat", [np.int32([[1]]), np.int32([[2]])], {"axis": -1}),
    ("Split", [INT([1, 2, 3]), INT([1, 2])], {"axis": 0}),
    ("Gather", [F([[1, 2], [3, 4]]), INT([[1, -1], [0, 0]])], {"axis": 1}),
    ("GatherElements", [F([[1, 2], [3, 4]]), INT([[1]])], {"axis": 0}),
    ("GatherND", [F([[1, 2], [3, 4]]), INT([[1], [0]])], {}),
    ("ScatterElements", [F([1, 2, 3]), INT([-1, 0]), F([8, 9])], {}),
    ("ScatterND", [F([[1, 2], [3, 4]]), INT([[1], [0]]), F([[5, 6], [7, 8]])], {}),
    ("Slice", [INT([1, 2, 3, 4]), INT([-1]), INT([-(2**63)]), INT([0]), INT([-2])], {}),
    ("Slice", [INT([1, 2, 3]), INT([-9]), INT([2]), INT([-1])], {}),
    ("Slice", [INT([1, 2, 3]), INT([-5]), INT([-9]), INT([0]), INT([-1])], {}),
    ("Flatten", [F(np.ones((2, 3, 4)))], {"axis": -1}),
    ("Reshape", [F(np.ones((2, 3))), INT([0, -1, 1])], {}),
    ("Transpose", [F([[1, 2, 3]])], {}),
    ("Squeeze", [F([[[1, 2]]]), INT([0, 1])], {}),
    ("Unsqueeze", [F([1, 2]), INT([0, -1])], {}),
    ("Expand", [INT([[1], [2]]), INT([2, 1, 3])], {}),
    ("Tile", [INT([[1, 2]]), INT([2, 2])], {}),
    ("Where", [np.array([True, False]), F([1, 2]), F([3, 4])], {}),
    ("Range", [F(1), F(2), F(0.3)], {}),
    ("Range", [INT(5), INT(0), INT(-2)], {}),
    ("ConstantOfShape", [INT([2, 1])], {}),
    ("CumSum", [np.int32([1, 2, 3]), np.array(0)], {}),
    ("NonZero", [F([[1, 0], [2, 3]])], {}),
    ("Compress", [F([[1, 2], [3, 4]]), np.array([False, True])], {"axis": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "arrays", "attributes"), NUMBERS)
def test_numbers(operator, arrays, attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    outputs = ["y", "z"] if operator == "Split" else ["y"]
    nodes = helper.make_node(operator, names, outputs, **attributes)
    proto = model(nodes, {}, outputs, 18, dict(zip(names, arrays, strict=True)))
    wanted = by_onnxruntime(proto, {})
    found = folded(operator, arrays, attributes, 18)
    assert found is not None
    for one, other in zip(found, wanted, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("operator", "arrays", "attributes"),
    [
        ("Div", [INT([1]), INT([0])], {}),
        ("Cast", [F([np.nan, 3e9])], {"to": TensorProto.INT32}),
        ("Expand", [INT([1]), INT([2000])], {}),
        ("Gather", [INT([1, 2]), INT([2])], {}),
        ("Pow", [INT([2]), INT([-1])], {}),
        ("Relu", [F([1])], {}),
    ],
)
def test_what_is_not_known(operator, arrays, attributes):
    assert folded(operator, arrays, attributes, 18) is None

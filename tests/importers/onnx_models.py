"""Small ONNX models, and the comparison of compiled ones with other implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from xrelax.importers.onnx.compiled_model import OnnxModel, compile_onnx
from xrelax.importers.onnx.weights import DTYPES

_ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}
TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-5, "float64": 1e-11}


def model(
    nodes: Any,
    inputs: Mapping[str, tuple[str, Sequence[int | str]]],
    outputs: Sequence[str],
    opset: int = 17,
    initializers: Mapping[str, Any] | None = None,
    domains: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """A model of nodes; `inputs` have dtypes and shapes, as in ``{"x": ("float32", ["n", 4])}``.

    Initializers are arrays, `domains` have versions.
    """
    given = [helper.make_tensor_value_info(n, _ELEMENTS[d], s) for n, (d, s) in inputs.items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    constants = [
        numpy_helper.from_array(np.asarray(value), name)
        for name, value in (initializers or {}).items()
    ]
    nodes = [nodes] if isinstance(nodes, onnx.NodeProto) else list(nodes)
    graph = helper.make_graph(nodes, "graph", given, results, constants)
    opsets = [helper.make_opsetid(n, v) for n, v in {"": opset, **(domains or {})}.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def check(
    made: onnx.ModelProto,
    feeds: Mapping[str, Any],
    by: str = "onnxruntime",
    tolerance: float | None = None,
) -> OnnxModel:
    """Compile a model, compare its outputs with those of another implementation, and return it.

    `by` is "onnxruntime" or "reference", ONNX's evaluator.
    """
    compiled = compile_onnx(made)
    wanted = by_onnxruntime(made, feeds) if by == "onnxruntime" else by_reference(made, feeds)
    compare(compiled.run(None, feeds), wanted, tolerance)
    return compiled


def node(operator: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    """A node; names of inputs and outputs stand between spaces."""
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)


def value(name: str, element: int = onnx.TensorProto.FLOAT, shape: Any = None) -> Any:
    """The description of an input or output of a graph, of floats by default."""
    return helper.make_tensor_value_info(name, element, shape)


def body_graph(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    constants: Mapping[str, Any] | None = None,
) -> onnx.GraphProto:
    """The body of a node; inputs and outputs are names of floats, or values."""
    given, results = ([value(i) if isinstance(i, str) else i for i in v] for v in (inputs, outputs))
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in (constants or {}).items()]
    return helper.make_graph(nodes, "body", given, results, tensors)


def operations(compiled: OnnxModel) -> list[str]:
    """The names of the operations of an imported module."""
    return [op.name for op in compiled.module.op.walk()]


def check_all(
    nodes: Any,
    shapes: Mapping[str, Sequence[int | str]],
    feeds: Sequence[Mapping[str, Any]],
    opset: int = 17,
    constants: Mapping[str, Any] | None = None,
    by: str = "onnxruntime",
) -> None:
    """Compare the last node's results on float32 inputs of these shapes, for each of several."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    inputs = {name: ("float32", shape) for name, shape in shapes.items()}
    made = model(nodes, inputs, list(nodes[-1].output), opset, constants)
    compiled = compile_onnx(made)
    other = by_onnxruntime if by == "onnxruntime" else by_reference
    for given in feeds:
        compare(compiled.run(None, given), other(made, given))


def floats(*shape: int) -> Any:
    """Numbers of float32 that depend on the shape."""
    return np.random.default_rng(shape).standard_normal(shape, np.float32)


def compare(found: Sequence[Any], wanted: Sequence[Any], tolerance: float | None = None) -> None:
    """Raise AssertionError unless shapes, dtypes and values agree; bfloat16 is read as float32."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        if other.dtype.name == "bfloat16":
            other = other.astype(np.float32)
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        most = TOLERANCES.get(one.dtype.name, 0) if tolerance is None else tolerance
        if one.dtype.name in TOLERANCES:
            np.testing.assert_allclose(one, other, rtol=most, atol=most)
        else:
            np.testing.assert_array_equal(one, other)


def by_onnxruntime(made: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    """The outputs of ONNX Runtime, without its optimizations of the graph."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, {name: np.asarray(value) for name, value in feeds.items()}))


def by_reference(made: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    """The outputs of ONNX's evaluator in NumPy."""
    from onnx.reference import ReferenceEvaluator

    found = ReferenceEvaluator(made).run(None, dict(feeds))
    return [np.asarray(value) for value in found]

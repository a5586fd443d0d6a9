"""The functions by which ONNX defines some operators, for those that have no converter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import onnx
from onnx import defs, helper

from .tensor import Tensor
from .weights import DTYPES

_ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}


class Body(NamedTuple):
    """The nodes of a function, and the names of its inputs and outputs."""

    nodes: Sequence[Any]
    inputs: Sequence[str]
    outputs: Sequence[str]


def function_body(
    node: Any, domain: str, opset: int, operands: Sequence[Tensor | None]
) -> Body | None:
    """The function of an operator, with the attributes of a node; `None` if there is none."""
    if not defs.has(node.op_type, domain=domain, max_inclusive_version=opset):
        return None
    schema = defs.get_schema(node.op_type, domain=domain, max_inclusive_version=opset)
    body = _definition(schema, node, opset, operands)
    if body is None:
        return None
    values = {a.name: a for a in node.attribute}
    defaults = {name: a.default_value for name, a in schema.attributes.items()}
    nodes = [_bound(inner, values, defaults) for inner in body.node]
    return Body(nodes, list(body.input), list(body.output))


def _definition(schema: Any, node: Any, opset: int, operands: Sequence[Tensor | None]) -> Any:
    body = onnx.FunctionProto()
    versions = [v for v in schema.function_opset_versions if v <= opset]
    if versions:
        body.ParseFromString(schema.get_function_with_opset_version(max(versions)))
        return body
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if not versions:
        return None
    types = [_type(o).SerializeToString() for o in operands]
    content = schema.get_context_dependent_function_with_opset_version(
        max(versions), node.SerializeToString(), types
    )
    body.ParseFromString(content)
    return body


def _type(operand: Tensor | None) -> Any:
    if operand is None:
        return onnx.TypeProto()
    dims = [d.offset if d.is_constant else str(d) for d in operand.dims]
    return helper.make_tensor_type_proto(_ELEMENTS[operand.dtype], dims)


def _bound(node: Any, values: dict[str, Any], defaults: dict[str, Any]) -> Any:
    """A node of a function whose attributes that refer to the function's have their values."""
    bound = onnx.NodeProto()
    bound.CopyFrom(node)
    del bound.attribute[:]
    for attribute in node.attribute:
        reference = attribute.ref_attr_name
        if not reference:
            bound.attribute.append(attribute)
            continue
        given = values.get(reference) or defaults.get(reference)
        if given is not None and given.type:
            made = bound.attribute.add()
            made.CopyFrom(given)
            made.name = attribute.name
    return bound

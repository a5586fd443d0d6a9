"""Mutants of ONNX models: changed bytes, dims, types, attributes, names, nodes, opsets."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import onnx
from onnx import helper
from onnx_bases import bases

DIMS = (0, 1, 2, 3, 5, -1, -2, 7, 64, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e30, -1e-30, float("inf"))
TEXTS = ("", "x", "y", "NOTSET", "SAME_UPPER", "VALID", "nearest", "reflect", "\u00e9", "a b", "R")
FLAGS = (
    *("align_corners", "allowzero", "antialias", "broadcast", "ceil_mode", "center_point_box"),
    *("count_include_pad", "detect_negative", "detect_positive", "exclude_outside", "exclusive"),
    *("fmod", "input_forget", "interleaved", "inverse", "is_causal", "keepdims", "largest"),
    *("linear_before_reset", "new_axis", "noop_with_empty_axes", "onesided", "periodic"),
    *("reverse", "saturate", "select_last_index", "sorted", "spatial", "storage_order"),
    *("training_mode", "transA", "transB", "upper"),
)
"""Attributes that ONNX defines for 0 and 1 alone."""
ELEMENTS = (*range(24), 99, -1)


def mutant(seed: int) -> tuple[str, bytes]:
    """The name of a model and the bytes of a changed copy, which depend on the seed alone."""
    rng = random.Random(seed)
    names = list(bases())
    name = rng.choice(names[:3] if rng.random() < 0.3 else names)
    made = onnx.ModelProto()
    made.CopyFrom(bases()[name])
    if rng.random() < 0.15:
        return name, _with_changed_bytes(rng, made.SerializeToString())
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(CHANGES)(rng, made)
    return name, made.SerializeToString()


def _with_changed_bytes(rng: random.Random, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(found) or 1)
        match rng.randrange(4):
            case 0:
                found[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                found[at:at] = rng.randbytes(rng.randrange(4))
            case 2:
                del found[at : at + rng.randrange(1, 9)]
            case _:
                del found[at:]
    return bytes(found)


def _graph(rng: random.Random, made: Any) -> Any:
    """The graph, or one in it."""
    graph = made.graph
    while rng.random() < 0.7:
        inner = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
        if not inner:
            break
        graph = rng.choice(inner)
    return graph


def _change_dim(rng: random.Random, made: Any) -> None:
    graph = _graph(rng, made)
    shapes = [v.type.tensor_type.shape for v in (*graph.input, *graph.output)]
    if dims := [d for shape in shapes for d in shape.dim]:
        dim = rng.choice(dims)
        if rng.random() < 0.3:
            dim.dim_param = rng.choice(("n", "m", "2*n", "", "n\u00e9", "lambda"))
        else:
            dim.dim_value = rng.choice(DIMS)


def _change_rank(rng: random.Random, made: Any) -> None:
    if made.graph.input:
        shape = rng.choice(made.graph.input).type.tensor_type.shape
        if shape.dim and rng.random() < 0.5:
            del shape.dim[rng.randrange(len(shape.dim))]
        else:
            shape.dim.add(dim_value=rng.choice((0, 1, 2, 3)))


def _change_type(rng: random.Random, made: Any) -> None:
    graph = _graph(rng, made)
    infos = [v.type.tensor_type for v in (*graph.input, *graph.output)]
    tensors = [*graph.initializer, *_tensors(graph)]
    if tensors and (not infos or rng.random() < 0.4):
        rng.choice(tensors).data_type = rng.choice(ELEMENTS)
    elif infos:
        rng.choice(infos).elem_type = rng.choice(ELEMENTS)


def _tensors(graph: Any) -> list[Any]:
    return [a.t for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.TENSOR]


def _change_constant(rng: random.Random, made: Any) -> None:
    graph = _graph(rng, made)
    if not (tensors := [*graph.initializer, *_tensors(graph)]):
        return
    tensor = rng.choice(tensors)
    match rng.randrange(4):
        case 0 if tensor.dims:
            tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(DIMS)
        case 1 if tensor.raw_data:
            tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data))]
        case 2 if tensor.raw_data:
            at = rng.randrange(len(tensor.raw_data))
            tensor.raw_data = (
                tensor.raw_data[:at] + bytes([rng.randrange(256)]) + tensor.raw_data[at + 1 :]
            )
        case _:
            tensor.dims.append(rng.choice((1, 1, 2)))


def _node(rng: random.Random, made: Any) -> Any:
    nodes = _graph(rng, made).node
    return rng.choice(nodes) if nodes else onnx.NodeProto()


def _change_attribute(rng: random.Random, made: Any) -> None:
    node = _node(rng, made)
    if not node.attribute:
        return
    attribute = rng.choice(node.attribute)
    match attribute.type:
        case onnx.AttributeProto.INT:
            attribute.i = rng.choice((0, 1) if attribute.name in FLAGS else DIMS)
        case onnx.AttributeProto.FLOAT:
            value = rng.choice(FLOATS)
            attribute.f = abs(value) if attribute.name == "softcap" else value
        case onnx.AttributeProto.STRING:
            attribute.s = rng.choice(TEXTS).encode()
        case onnx.AttributeProto.INTS if attribute.ints and rng.random() < 0.7:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(DIMS)
        case onnx.AttributeProto.INTS:
            attribute.ints.append(rng.choice(DIMS))
        case _:
            attribute.type = rng.randrange(15)


def _change_kind_of_attribute(rng: random.Random, made: Any) -> None:
    node = _node(rng, made)
    values: tuple[Any, ...] = (1, 0.5, "x", [1, 2], [0.5], ["a"])
    name = rng.choice(node.attribute).name if node.attribute else "axis"
    name = rng.choice((name, "axis", "axes", "to", "alpha", "group", "unknown"))
    kept = [a for a in node.attribute if a.name != name]
    changed = helper.make_attribute(name, rng.choice(values))
    del node.attribute[:]
    node.attribute.extend(kept if rng.random() < 0.3 else [*kept, changed])


def _change_names(rng: random.Random, made: Any) -> None:
    graph, node = _graph(rng, made), _node(rng, made)
    known = ["", *(i.name for i in graph.input), *(o for n in graph.node for o in n.output)]
    known += [t.name for t in graph.initializer]
    names = node.output if rng.random() < 0.2 else node.input
    if names and rng.random() < 0.8:
        names[rng.randrange(len(names))] = rng.choice(known)
    elif names and rng.random() < 0.5:
        del names[rng.randrange(len(names))]
    else:
        names.append(rng.choice(known))


def _change_operator(rng: random.Random, made: Any) -> None:
    node = _node(rng, made)
    if rng.random() < 0.2:
        node.domain = rng.choice(("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.acme"))
    else:
        others = [n.op_type for m in bases().values() for n in m.graph.node]
        node.op_type = rng.choice(others)


def _change_nodes(rng: random.Random, made: Any) -> None:
    nodes = _graph(rng, made).node
    if not nodes:
        return
    at = rng.randrange(len(nodes))
    match rng.randrange(3):
        case 0:
            del nodes[at]
        case 1:
            nodes.append(nodes[at])
        case _:
            kept = list(nodes)
            rng.shuffle(kept)
            del nodes[:]
            nodes.extend(kept)


def _change_values(rng: random.Random, made: Any) -> None:
    graph = _graph(rng, made)
    kind = rng.choice((graph.input, graph.output, graph.initializer))
    if not kind:
        return
    at = rng.randrange(len(kind))
    match rng.randrange(3):
        case 0:
            del kind[at]
        case 1:
            kind.append(kind[at])
        case _:
            kind[at].name = rng.choice((*TEXTS, "class", kind[at].name + "_2"))


def _change_opset(rng: random.Random, made: Any) -> None:
    if made.opset_import:
        rng.choice(made.opset_import).version = rng.choice((*range(1, 29), 0, -1, 99, 1 << 40))


CHANGES: tuple[Callable[[random.Random, Any], None], ...] = (
    _change_dim, _change_rank, _change_type, _change_constant, _change_attribute,
    _change_attribute, _change_kind_of_attribute, _change_names, _change_names, _change_operator,
    _change_nodes, _change_values, _change_opset,
)  # fmt: skip

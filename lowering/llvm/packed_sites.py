"""Calls of registered functions as the runtime sees them: tensors, words, and their structure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import FunctionType

from ...dialects import rt, tir
from ...dialects.dtypes import dtype_name
from ...dialects.tir.types import BufferType
from ...runtime.signature import NOTHING, Node, PackedSite, Signature, TensorSpec
from .specs import buffer_types, plain_dims, structure_of, tensor_specs
from .types import lowered


def packed_site(op: rt.CallPackedOp | tir.CallIntrinOp) -> PackedSite:
    """The site of a call in a graph or in a kernel."""
    if isinstance(op, tir.CallIntrinOp):
        return _kernel_site(op)
    returned = len(op.outputs) if op.returns is not None else 0
    text = None if op.text is None else op.text.data
    kept = tuple(map(tuple, op.kept_results))
    tensors = tensor_specs((*op.inputs, *op.outputs))
    signature = None if op.signature is None else _site_signature(op, op.signature, returned)
    return PackedSite(op.callee.data, tensors, returned, text, kept, signature)


def _kernel_site(op: tir.CallIntrinOp) -> PackedSite:
    """A call in a kernel: numbers are tensors of rank 0, as is the result where it is used."""
    tensors: list[TensorSpec] = []
    nodes: list[Node] = []
    for arg in op.args[1:]:
        number = len(tensors)
        if isinstance(arg.owner, tir.StringOp):
            nodes.append(("text", arg.owner.text.data))
        elif isinstance(type_ := arg.type, BufferType):
            nodes.append(number)
            tensors.append(TensorSpec(type_.dtype, plain_dims(type_.dims)))
        else:
            dtype = dtype_name(lowered(type_))
            nodes.append(("scalar", dtype, number))
            tensors.append(TensorSpec(dtype, ()))
    result = NOTHING
    if op.result is not None and op.result.uses:
        dtype = dtype_name(op.result.type)
        result = ("scalar", dtype, len(tensors))
        tensors.append(TensorSpec(dtype, ()))
    signature = Signature((), tuple(nodes), result)
    returned = int(result is not NOTHING)
    return PackedSite(op.packed_callee or "", tuple(tensors), returned, signature=signature)


def _site_signature(op: rt.CallPackedOp, types: FunctionType, returned: int) -> Signature:
    """The structure of a call's arguments and result; its numbers are those of words after dims."""
    tensors = itertools.count()
    words = itertools.count(sum(t.rank for t in buffer_types((*op.inputs, *op.outputs))))
    arguments = [_numbered(structure_of(t, tensors), words) for t in types.inputs.data]
    if not returned:
        arguments += [next(tensors) for _ in op.outputs]
        return Signature((), tuple(arguments), NOTHING)
    return Signature((), tuple(arguments), structure_of(types.outputs.data[0], tensors))


def _numbered(node: Node, words: Iterator[int]) -> Node:
    """A node with numbers of words in the place of dims."""
    if isinstance(node, int):
        return node
    match node[0]:
        case "tuple":
            return ("tuple", *(_numbered(cast(Node, n), words) for n in node[1:]))
        case "shape":
            return ("shape", *(next(words) for _ in node[1:]))
        case "prim":
            return ("prim", node[1], next(words))
        case _:
            return node

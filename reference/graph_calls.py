"""Calls of kernels and of registered functions from graphs, and what an evaluation holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, SSAValue

from ..dialects import relax
from ..dialects.relax.constant import storage_dtype
from ..dialects.relax.objects import is_plain
from ..dialects.relax.prim_values import tensor_of
from ..dialects.relax.types import TensorType, tensors_in
from ..dialects.rt.call_packed import VALUE_OF
from ..dialects.sym import ExprAttr, exprs_of
from .arguments import GraphValue, flatten
from .expressions import number, shape_of
from .memory import Buffer
from .objects import without_buffers
from .registered import object_of
from .session import Session, array_of
from .values import EvaluationError

PackedCall: TypeAlias = relax.CallPurePackedOp | relax.CallPackedOp


@dataclass
class Graph:
    """A graph function that runs: what its symbols and values are."""

    session: Session
    symbols: dict[str, int]
    values: dict[SSAValue, GraphValue] = field(default_factory=lambda: {})
    own: Sequence[Buffer] = ()
    """The tensors that the caller of the program passes, which calls may change in place."""


def fresh(graph: Graph, type_: Attribute, name: str) -> GraphValue:
    """Undefined memory for a tensor type, or for each tensor of a tuple type."""
    if isinstance(type_, TupleType):
        return tuple(fresh(graph, t, name) for t in cast(Sequence[Attribute], type_.types.data))
    assert isinstance(type_, TensorType) and type_.dims is not None and type_.dtype is not None
    shape = shape_of(type_.dims, graph.symbols)
    array = graph.session.precision.fresh(type_.dtype, shape)
    written = np.zeros(shape, np.bool_) if graph.session.tracks else None
    return Buffer(array, type_.dtype, name, written=written)


def numbers(graph: Graph, exprs: ArrayAttr[ExprAttr] | None) -> list[int]:
    """The values of integer expressions."""
    return [] if exprs is None else [number(e, graph.symbols) for e in exprs_of(exprs)]


def arguments(graph: Graph, operands: Sequence[SSAValue]) -> list[Buffer]:
    """The tensors of operands in order, those of tuples one by one."""
    return [leaf for v in operands for leaf in flatten(graph.values[v])]


def values_of(graph: Graph, operands: Sequence[SSAValue]) -> list[GraphValue]:
    """What a registered function gets for operands."""
    return [without_buffers(v.type, graph.values[v]) for v in operands]


def _call_tir(graph: Graph, op: relax.CallTIROp) -> None:
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected a PrimFunc '{op.callee_name}' in the module, got none")
    result = fresh(graph, op.result.type, op.result.name_hint or op.callee_name)
    inputs, outputs = arguments(graph, op.args), flatten(result)
    graph.session.run_kernel(kernel, [*inputs, *outputs], numbers(graph, op.tir_vars))
    graph.values[op.result] = result


def _call_tir_inplace(graph: Graph, op: relax.CallTIRInplaceOp) -> None:
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected a PrimFunc '{op.callee_name}' in the module, got none")
    args = arguments(graph, op.args)
    outputs = list(flatten(fresh(graph, op.result.type, op.callee_name)))
    for index, position in enumerate(op.positions):
        if position != -1:
            source = args[position]
            args[position] = outputs[index] = source if _is_own(graph, source) else source.copy()
    own = [o for o, position in zip(outputs, op.positions, strict=True) if position == -1]
    graph.session.run_kernel(kernel, [*args, *own], numbers(graph, op.tir_vars))
    is_tuple = isinstance(op.result.type, TupleType)
    graph.values[op.result] = tuple(outputs) if is_tuple else outputs[0]


def _call_kernel(graph: Graph, op: relax.CallKernelOp) -> None:
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is None:
        raise EvaluationError(f"expected a PrimFunc '{op.callee_name}' in the module, got none")
    graph.session.run_kernel(kernel, arguments(graph, op.args), numbers(graph, op.tir_vars))
    graph.values[op.result] = ()


def _call_dps_packed(graph: Graph, op: relax.CallDPSPackedOp) -> None:
    result = fresh(graph, op.result.type, op.result.name_hint or op.callee_name)
    outputs = flatten(result)
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is not None:
        graph.session.run_kernel(kernel, [*arguments(graph, op.args), *outputs], ())
    else:
        args = values_of(graph, op.args)
        graph.session.call_registered(op.callee_name, [*args, *outputs], outputs)
    graph.values[op.result] = result


def _call_pure_packed(graph: Graph, op: PackedCall) -> None:
    inputs, types = _given(graph, op), tensors_in(op.result.type)
    changed = [v for p in _places(op) if p != -1 and isinstance(v := inputs[p], Buffer)]
    if op.result.first_use is None and op.callee.data != VALUE_OF:  # as natively, of any type
        graph.session.call_registered(op.callee.data, inputs, changed)
        return
    if not is_plain([], op.result.type):
        found = graph.session.call_registered(op.callee.data, inputs, ())
        graph.values[op.result] = returned(graph, op.callee.data, op.result.type, found)
        return
    if not all(t.is_known for t in types):
        graph.values[op.result] = _of_unknown_type(graph, op, inputs)
        return
    result = fresh(graph, op.result.type, op.result.name_hint or op.callee.data)
    outputs = list(flatten(result))
    for index, position in enumerate(_places(op)):
        if position != -1 and _is_own(graph, value := inputs[position]):
            outputs[index] = cast(Buffer, value)
    graph.session.call_for_result(op.callee.data, inputs, outputs, changed)
    is_tuple = isinstance(result, tuple)
    graph.values[op.result] = result if not changed else tuple(outputs) if is_tuple else outputs[0]


def _given(graph: Graph, op: PackedCall) -> Sequence[GraphValue]:
    """The arguments of a call; those that it may change in place are copies, or the caller's."""
    values = list(values_of(graph, op.args))
    for position in _places(op):
        if position != -1 and isinstance(value := values[position], Buffer):
            values[position] = value if _is_own(graph, value) else value.copy()
    return values


def _places(op: PackedCall) -> Sequence[int]:
    """For each result the position of the argument that becomes it, or -1; often none."""
    return op.positions if isinstance(op, relax.CallPurePackedOp) else ()


def _is_own(graph: Graph, value: GraphValue) -> bool:
    """Whether it is a tensor that the caller of the program passes."""
    return any(value is own for own in graph.own)


def returned(graph: Graph, name: str, type_: Attribute, found: Any) -> GraphValue:
    """What a registered function returns, as a value of a type with objects or numbers."""
    match type_:
        case relax.ObjectType():
            return object_of(found)
        case TupleType(types=fields) if found is None and not fields.data:
            return ()
        case TupleType(types=fields):
            if not isinstance(found, tuple | list) or len(fields.data) != len(found):  # pyright: ignore[reportUnknownArgumentType]
                raise EvaluationError(f"expected '{name}' to return {len(fields.data)} values")
            pairs = zip(fields.data, cast("Sequence[Any]", found), strict=True)
            return tuple(returned(graph, name, t, f) for t, f in pairs)
        case relax.PrimType():
            found = np.asarray(found, storage_dtype(type_.dtype))
            result = fresh(graph, tensor_of(type_), name)
        case _:
            result = fresh(graph, type_, name)
    graph.session.store(name, array_of(found), cast(Buffer, result))
    return result


def _of_unknown_type(graph: Graph, op: PackedCall, inputs: Sequence[GraphValue]) -> GraphValue:
    """What a registered function returns, of a type that the program does not know."""
    count = len(tensors_in(op.result.type))
    found = iter(graph.session.returned_buffers(op.callee.data, inputs, count))

    def value(type_: Attribute) -> GraphValue:
        if isinstance(type_, TupleType):
            return tuple(value(t) for t in cast(Sequence[Attribute], type_.types.data))
        return next(found)

    return value(op.result.type)


def _call_packed(graph: Graph, op: relax.CallPackedOp) -> None:
    if op.result.first_use is not None:
        _call_pure_packed(graph, op)
        return
    args = values_of(graph, op.args)
    leaves: list[Any] = [leaf for v in op.args for leaf in flatten(graph.values[v])]
    written = [leaf for leaf in leaves if isinstance(leaf, Buffer)]
    graph.values[op.result] = graph.session.call_registered(op.callee.data, args, written)


def _string(graph: Graph, op: relax.StringOp) -> None:
    graph.values[op.result] = op.text.data


CALLS: dict[str, Callable[[Graph, Any], None]] = {
    "relax.call_dps_packed": _call_dps_packed,
    "relax.call_kernel": _call_kernel,
    "relax.call_packed": _call_packed,
    "relax.call_pure_packed": _call_pure_packed,
    "relax.call_tir": _call_tir,
    "relax.call_tir_inplace": _call_tir_inplace,
    "relax.str": _string,
}
"""How each call is made."""

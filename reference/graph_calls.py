"""Calls of kernels and of registered functions from graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import TupleType

from ..dialects import relax
from ..dialects.relax.types import tensors_in
from .graph_arguments import flatten
from .graph_state import Graph, arguments, fresh, numbers
from .values import EvaluationError


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
            is_own = any(source is own for own in graph.own)
            args[position] = outputs[index] = source if is_own else source.copy()
    own = [o for o, position in zip(outputs, op.positions, strict=True) if position == -1]
    graph.session.run_kernel(kernel, [*args, *own], numbers(graph, op.tir_vars))
    is_tuple = isinstance(op.result.type, TupleType)
    graph.values[op.result] = tuple(outputs) if is_tuple else outputs[0]


def _call_dps_packed(graph: Graph, op: relax.CallDPSPackedOp) -> None:
    result = fresh(graph, op.result.type, op.result.name_hint or op.callee_name)
    buffers, outputs = arguments(graph, op.args), flatten(result)
    kernel = graph.session.kernel_named(op.callee_name)
    if kernel is not None:
        graph.session.run_kernel(kernel, [*buffers, *outputs], ())
    else:
        graph.session.call_registered(op.callee_name, [*buffers, *outputs], outputs)
    graph.values[op.result] = result


def _call_pure_packed(graph: Graph, op: relax.CallPurePackedOp | relax.CallPackedOp) -> None:
    result = fresh(graph, op.result.type, op.result.name_hint or op.callee.data)
    inputs = arguments(graph, op.args)
    graph.session.call_for_result(op.callee.data, inputs, flatten(result))
    graph.values[op.result] = result


def _call_packed(graph: Graph, op: relax.CallPackedOp) -> None:
    if op.result.first_use is not None and tensors_in(op.result.type):
        _call_pure_packed(graph, op)
        return
    buffers = arguments(graph, op.args)
    graph.values[op.result] = graph.session.call_registered(op.callee.data, buffers, buffers)


CALLS: dict[str, Callable[[Graph, Any], None]] = {
    "relax.call_dps_packed": _call_dps_packed,
    "relax.call_packed": _call_packed,
    "relax.call_pure_packed": _call_pure_packed,
    "relax.call_tir": _call_tir,
    "relax.call_tir_inplace": _call_tir_inplace,
}
"""How each call is made."""

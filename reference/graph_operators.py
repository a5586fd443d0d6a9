"""Operators of graphs: what their `reference` finds, as they infer it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from ..dialects import relax
from ..dialects.relax.operators.base import evaluated
from ..dialects.relax.types import TensorType, tensors_in
from .expressions import number, shape_of
from .graph_state import Graph
from .memory import Buffer
from .values import EvaluationError


def run_operator(graph: Graph, op: relax.OperatorOp) -> None:
    """Compute the result of an operator by its `reference`."""
    precision = graph.session.precision
    operands = [cast(Buffer, graph.values[v]) for v in op.operands]
    for operand in operands:
        operand.verify_written()
    arrays = [
        precision.load(b.dtype, b.array) if b.dtype == "bfloat16" else b.array for b in operands
    ]
    attributes = evaluated(op.attribute_values(), partial(number, symbols=graph.symbols))
    found = op.reference(arrays, attributes)
    if isinstance(op.result.type, TensorType):
        result = _operator_result(graph, op, op.result.type, operands, found)
    else:
        types = tensors_in(op.result.type)
        result = tuple(
            _operator_result(graph, op, t, operands, f) for t, f in zip(types, found, strict=True)
        )
    graph.values[op.result] = result


def _operator_result(
    graph: Graph, op: relax.OperatorOp, type_: TensorType, operands: Sequence[Buffer], found: Any
) -> Buffer:
    """The memory of what an operator's reference found, of the dtype and shape that it infers."""
    precision, found = graph.session.precision, np.asarray(found)
    dtype = type_.dtype or (operands[0].dtype if operands else str(found.dtype))
    stored = (
        precision.store(dtype, precision.narrow(dtype, found)) if dtype == "bfloat16" else found
    )
    array = np.array(stored, precision.storage(dtype))
    if type_.dims is not None:
        shape = shape_of(type_.dims, graph.symbols)
        if shape != array.shape:
            raise EvaluationError(f"expected '{op.name}' to give shape {shape}, got {array.shape}")
    longest = max(
        (n for b in operands for n in (*b.array.shape, b.array.size // max(1, array.size))),
        default=1,
    )
    elementwise = all(
        b.array.size <= array.size and b.array.shape in (array.shape, ()) for b in operands
    )
    graph.session.terms = max(graph.session.terms, 1 if elementwise else longest)
    return Buffer(array, dtype, op.result.name_hint or op.name)

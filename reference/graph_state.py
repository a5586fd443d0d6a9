"""What the evaluation of a graph function holds, and the memory of its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, SSAValue

from ..dialects.relax.types import TensorType
from ..dialects.sym import ExprAttr, exprs_of
from .expressions import number, shape_of
from .graph_arguments import GraphValue, flatten
from .memory import Buffer
from .session import Session


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

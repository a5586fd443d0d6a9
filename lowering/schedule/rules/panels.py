"""Lay out constant operands in panels, which a loop reads from one end to the other.

::

    W[k, n]      ⇒      W[n // width, k, n % width]
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ..index_map import IndexMap
from ..primitives.schedule import Schedule
from .match_contraction import Contraction, column_dim


def lay_out_panels(sch: Schedule, contraction: Contraction, load: tir.LoadOp, width: int) -> bool:
    """Lay out a loaded operand in panels of a width, the last one padded; whether it applied.

    The columns must be an index of the operand by themselves, and all accesses in known bounds.
    """
    place = column_dim(contraction, load)
    if place is None:
        return False
    assert isinstance(load.buffer.type, tir.BufferType)
    dims = load.buffer.type.dims

    def panels(e: Sequence[IntExpr]) -> list[IntExpr]:
        return [e[place] // width, *e[:place], *e[place + 1 :], e[place] % width]

    shape = [(dims[place] + width - 1) // width, *dims[:place], *dims[place + 1 :]]
    block = contraction.block
    buffer = ("read", block.read_buffers.index(load.buffer))
    places = IndexMap.of(panels, len(dims))
    # refused if another block reads the operand at indices without known bounds
    return sch.applies(sch.transform_layout, sch.rv(block), buffer, places, shape=[*shape, width])

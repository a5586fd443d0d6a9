"""Tiles that are not whole: they get loops of their own, with as many rows and columns as exist.

::

    for i0 in (0, 3): for i1 in (0, 4):     for i0 in (0, 2): for i1 in (0, 4): block "Y_i_0" …
      block "Y" … where i0 * 4 + i1 < 9  ⇒  for i0 in (2, 1): for i1 in (0, 1): block "Y_i_1" …
"""

from __future__ import annotations

from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import operations_in
from ..primitives.schedule import Schedule


def peel_remainder(sch: Schedule, loop: tir.ForOp, extent: IntExpr, size: int) -> list[tir.ForOp]:
    """A loop over tiles in two parts if the last tile is not whole, which it has for itself."""
    count = extent.constant
    if count is None or count < size or count % size == 0:
        return [loop]
    parts = sch.try_(sch.loop_partition, sch.rv(loop), [None, 1], preserve_unit_iters=False)
    # what does not exist is computed as well where that is refused
    return [loop] if parts is None else [sch.loop(part) for part in parts]


def trim_remainder(sch: Schedule, part: tir.ForOp) -> None:
    """Drop iterations that a part of the tiles has no rows or columns for; vectors stay whole."""
    for inner in operations_in(part):
        if isinstance(inner, tir.ForOp) and inner is not part and inner.kind.data != "vectorized":
            sch.applies(sch.loop_trim, sch.rv(inner))  # where it is known how many there are

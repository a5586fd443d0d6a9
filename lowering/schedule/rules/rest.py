"""Tiles that are not whole: they get loops of their own, with as many rows and columns as exist.

::

    for i0 in (0, 3): for i1 in (0, 4):     for i0 in (0, 2): for i1 in (0, 4): block "Y_i_0" …
      block "Y" … where i0 * 4 + i1 < 9  ⇒  for i0 in (2, 1): for i1 in (0, 1): block "Y_i_1" …
"""

from __future__ import annotations

from contextlib import suppress

from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import operations_in
from ..blocks import ScheduleError
from ..partition import partition
from ..trim import trim


def whole_and_rest(loop: tir.ForOp, extent: IntExpr, size: int) -> list[tir.ForOp]:
    """A loop over tiles in two parts if the last tile is not whole, which it has for itself."""
    count = extent.constant
    if count is None or count < size or count % size == 0:
        return [loop]
    try:
        return partition(loop, [None, 1], preserve_unit_iters=False)
    except ScheduleError:  # what does not exist is computed as well then
        return [loop]


def trim_inside(part: tir.ForOp) -> None:
    """Drop iterations that a part of the tiles has no rows or columns for; vectors stay whole."""
    for inner in operations_in(part):
        if isinstance(inner, tir.ForOp) and inner is not part and inner.kind.data != "vectorized":
            with suppress(ScheduleError):  # nobody knows how many there are
                trim(inner)

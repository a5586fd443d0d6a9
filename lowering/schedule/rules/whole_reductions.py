"""Rules keep reductions whole: a part in each iteration of a loop keeps the loop from threads.

::

    for i, j: T[i, j] = exp(X[i, j])                     for i:
    for i, j: Y[j] += T[i, j]              (not) ⇒         for j: T[i, j] = exp(X[i, j])
                                                           for j: Y[j] += T[i, j]
"""

from __future__ import annotations

from ....dialects import tir
from ....dialects.sym import Values
from ..blocks import ScheduleError, common_block, perfect_nest, statement_in
from ..primitives.schedule import Schedule
from ..required_ranges import required_ranges


def moves_whole(sch: Schedule, block: tir.BlockOp, loop: tir.ForOp) -> bool:
    """Move a block into a loop of its producer, if it then reduces whole; whether it moved."""
    place = sch.rv(block), sch.rv(loop)
    return not _splits_reduction(block, loop) and sch.applies(sch.reverse_compute_at, *place)


def _splits_reduction(block: tir.BlockOp, loop: tir.ForOp) -> bool:
    """Whether a reduction at a loop would be over a part of its range in each iteration."""
    if block.init is None:
        return False
    statement = statement_in(common_block([perfect_nest(block), loop]), loop)
    assert statement is not None
    try:
        parts = required_ranges(block, loop, statement, Values())
    except ScheduleError:
        return False
    return any(
        block.axis_kinds[axis] == "reduce" and part.extent != block.axes.data[axis].extent.data
        for axis, part in parts.items()
    )

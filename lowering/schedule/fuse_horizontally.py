"""`fuse_horizontally`: nests one after the other become iterations of one loop.

::

    for i in (0, 25): A                      for s in (0, 26)
    for j in (25, 1): B               ⇒        for i in (s, min(1, max(0, 25 - s))): A
                                               for j in (25, max(0, s - 24)): B
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, IntExpr, maximum, minimum
from ...dialects.sym import Values
from .blocks import ScheduleError
from .copy_block import new_loops
from .loop_checks import loop_text, verify_plain


def fuse_horizontally(nests: Sequence[tir.ForOp]) -> tir.ForOp:
    """Replace nests by a serial loop, returned, that runs an iteration of one of them at a time.

    Their order stays. Raises ScheduleError for loops with annotations, those that do not follow
    each other, and numbers of iterations that are not constant.
    """
    _verify(nests)
    values = Values()
    counts = [nest.extent.data.constant or 0 for nest in nests]
    (loop,) = new_loops(["section"], [IntExpr.of(sum(counts))], values)
    parent = nests[0].parent
    assert parent is not None
    parent.insert_op_before(loop, nests[0])
    first = 0
    for nest, count in zip(nests, counts, strict=True):
        position = values.expr(loop.loop_var) - first
        low = values.rebase(nest.min.data, nest.operands_)
        start = low if count == 1 else low + position
        size = _is_in(position, count, first == 0, nest is nests[-1])
        loop.body.block.add_op(tir.ForOp(start, size, values.list, nest.detach_region(nest.body)))
        nest.detach()
        nest.erase()
        first += count
    return loop


def _is_in(position: IntExpr, count: int, is_first: bool, is_last: bool) -> IntExpr:
    """1 where a position is in ``[0, count)``, 0 elsewhere."""
    behind = count - position
    before = position + 1
    inside = before if is_last else behind if is_first else minimum(before, behind)
    low = maximum(ZERO, inside)
    return low if count == 1 else minimum(ONE, low)


def _verify(nests: Sequence[tir.ForOp]) -> None:
    if not nests:
        raise ScheduleError("expected at least one loop to fuse")
    for nest in nests:
        if nest.kind.data != "parallel":
            verify_plain(nest)
        if nest.extent.data.constant is None:
            raise ScheduleError(
                f"expected {loop_text(nest)} to have a constant number of iterations, "
                f"got {nest.extent.data}",
                nest,
            )
    for nest, following in pairwise(nests):
        if nest.next_op is not following:
            raise ScheduleError(
                f"expected {loop_text(following)} to follow {loop_text(nest)}", following
            )

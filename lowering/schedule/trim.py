"""`loop_trim`: a loop ends where the predicates of all that it runs do.

::

    for i in (0, 9):                               for i in (0, 5):
      block "Y" (v: (0, 9) = i) where i < 5   ⇒      block "Y" (v: (0, 5) = i)
"""

from __future__ import annotations

from ...dialects import tir
from ...dialects.bounds import interval_of
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import ExprAttr, Values
from ..scope import describe
from .blocks import ScheduleError
from .copy_scalars import ranges_of_values
from .index_values import add_predicates
from .loop_checks import loop_text, outermost_blocks, verify_only_blocks
from .partition import narrow_axes
from .regions import refresh_around


def trim(loop: tir.ForOp) -> tir.ForOp:
    """Drop the last iterations of a loop, those of which it is known that no block runs.

    The loop keeps its kind and annotations, predicates that are always true then go away, and
    nothing changes where the last iteration may run a block. In TVM ``loop_partition``, the pass,
    does the same. Returns the loop. Raises ScheduleError for bounds that are not constant, and
    where something but blocks has effects.
    """
    start, extent = loop.min.data.constant, loop.extent.data.constant
    if start is None or extent is None:
        bounds = (describe(e, loop.operands_) for e in (loop.min.data, loop.extent.data))
        raise ScheduleError(
            f"expected {loop_text(loop)} to have constant bounds, got ({', '.join(bounds)})", loop
        )
    verify_only_blocks(loop)
    ends = [_end(loop, block) for block in outermost_blocks(loop)]
    last = max((start + extent if end is None else end for end in ends), default=start + extent)
    if last < start + extent:
        loop.properties["extent"] = ExprAttr(IntExpr.of(max(last - start, 0)))
        inside = [op for op in operations_in(loop) if isinstance(op, tir.BlockOp)]
        for block in inside:
            narrow_axes(block)
            add_predicates(block, (), Values())
        refresh_around(inside)
    return loop


def _end(loop: tir.ForOp, block: tir.BlockOp) -> int | None:
    """The iteration of a loop from which on a predicate of a block is false, if there is one."""
    values = Values()
    variable = values.atom(loop.loop_var)
    found: list[int] = []
    for bound in block.predicates.data:
        room = values.rebase(bound.rhs.data - bound.lhs.data - 1, block.numbering())
        parts = room.split_on(variable)
        span = None if parts is None else interval_of(parts[1], ranges_of_values(values))
        if parts is None or span is None:
            continue
        step, most = parts[0].constant, span.upper.constant
        if step is not None and most is not None and step < 0:
            found.append(most // -step + 1)
    return min(found, default=None)

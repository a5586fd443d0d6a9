"""Loops end where the predicates of what they run do.

::

    for i in (0, 9):                                     for i in (0, 5):
      block "Y" (v: (45, 5) = i + 45) where i < 5   ⇒      block "Y" (v: (45, 5) = i + 45)
"""

from __future__ import annotations

from ...dialects import tir
from ...dialects.bounds import interval_of
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import ExprAttr, Values
from .blocks import blocks_in
from .copy_scalars import ranges_of_values
from .index_values import add_predicates
from .regions import refresh_around


def trim(loop: tir.ForOp) -> None:
    """Drop last iterations of the loops inside of a loop in which no block runs.

    Loops of vectors keep their lanes. Predicates that are always true then go away.
    """
    for inner in operations_in(loop):
        if isinstance(inner, tir.ForOp) and inner is not loop and inner.kind.data != "vectorized":
            _trim(inner)
    for block in blocks_in(loop):
        add_predicates(block, (), Values())
    refresh_around(blocks_in(loop))


def _trim(loop: tir.ForOp) -> None:
    start, extent = loop.min.data.constant, loop.extent.data.constant
    if start is None or extent is None:
        return
    ends = [_end(loop, block) for block in blocks_in(loop)]
    kept = [start + extent if end is None else end for end in ends]
    if kept and start < max(kept) < start + extent:
        loop.properties["extent"] = ExprAttr(IntExpr.of(max(kept) - start))


def _end(loop: tir.ForOp, block: tir.BlockOp) -> int | None:
    """The iteration of a loop from which on a predicate of a block is false, if there is one."""
    values = Values()
    variable = values.expr(loop.loop_var).as_atom
    assert variable is not None
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

"""Nests one after the other that threads cannot share become iterations of one loop.

::

    for i in (0, 25): A                      for s in (0, 26)
    for j in (25, 1): B               ⇒        for i in (s, min(1, max(0, 25 - s))): A
                                               for j in (25, max(0, s - 24)): B

Such are the rows or columns that fill no tile: each part of a loop that tiles do not divide is a
nest of its own, whose outermost loop has one iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block

from ....dialects import tir
from ....dialects.int_expr import ONE, ZERO, IntExpr, maximum, minimum
from ....dialects.sym import Values
from ...analysis.independence import are_apart
from ..copy_block import new_loops


def sections_in(home: Block, is_section: Callable[[tir.ForOp], bool]) -> list[list[tir.ForOp]]:
    """Nests beside each other of which none writes what another one touches, as long as possible.

    All but the first have one iteration. `is_section` says of a nest whether it may be part of a
    loop whose iterations run in any order.
    """
    found: list[list[tir.ForOp]] = []
    run: list[tir.ForOp] = []
    for op in home.ops:
        if not isinstance(op, tir.ForOp) or not is_section(op):
            run = []
        elif run and op.extent.data == ONE and all(are_apart(op, o) for o in run):
            run.append(op)
        else:
            run = [op] if op.extent.data.constant else []
            found.append(run)
    return [nests for nests in found if len(nests) > 1]


def join(nests: Sequence[tir.ForOp]) -> tir.ForOp:
    """Replace nests by a serial loop, returned, that runs an iteration of one of them at a time."""
    values = Values()
    counts = [nest.extent.data.constant or 0 for nest in nests]
    (loop,) = new_loops(["section"], [IntExpr.of(sum(counts))], values)
    home = nests[0].parent
    assert home is not None
    home.insert_op_before(loop, nests[0])
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

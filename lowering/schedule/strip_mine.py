"""`strip_mine`: a loop becomes strips of equal length, the last of which ends where it ends.

::

    for i in (0, n) vectorized      ⇒      for i_0 in (0, (n + 4095) // 4096)
                                             for i in (0, min(4096, n - i_0 * 4096)) vectorized
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from ...dialects import tir
from ...dialects.int_expr import ZERO, IntExpr, minimum
from ...dialects.sym import Values
from .blocks import ScheduleError
from .loop_checks import verify_annotations
from .loops import split
from .reduction_checks import verify_strips


def strip_mine(loop: tir.ForOp, size: int) -> list[tir.ForOp]:
    """Cut a loop into strips of `size` iterations; returns the loop over them and the one in it.

    The inner loop has the kind of `loop`, and no iterations that blocks need a predicate for.
    Raises ScheduleError for a loop with annotations, a size below 1, and a loop of a reduction that
    may be empty.
    """
    verify_annotations(loop)
    verify_strips(loop)
    if size < 1:
        raise ScheduleError(f"expected a size of at least 1, got {size}", loop)
    values, kind = Values(), loop.kind.data
    extent = values.rebase(loop.extent.data, loop.operands_)
    loop.properties["kind"] = StringAttr("serial")
    strips, inner = split(loop, [None, size], disable_predication=True)
    start = values.expr(strips.loop_var) * size
    length = IntExpr.of(size) if extent % size == ZERO else minimum(size, extent - start)
    new = tir.ForOp(ZERO, length, values.list, inner.detach_region(inner.body), kind)
    new.location = inner.location
    strips.body.block.add_op(new)
    inner.detach()
    inner.erase()
    return [strips, new]

"""`loop_overlap`: split a loop into loops of whole tiles; the last one repeats iterations.

::

    for i in (0, 19)           for i_0 in (0, 16)
      block "Y" …        ⇒       block "Y_i_0" …
                               for i_1 in (3, 16)
                                 block "Y_i_1" …
"""

from __future__ import annotations

from ...dialects import tir
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from ..scope import describe
from .blocks import ScheduleError, loaded_buffers, stored_buffers
from .loop_checks import loop_text, verify_only_blocks, verify_plain
from .partition import split_at


def overlap(loop: tir.ForOp, size: int) -> list[tir.ForOp]:
    """Replace a loop by up to two that have multiples of `size` iterations.

    The second one repeats iterations of the first, where these do not make up all. TVM has nothing
    like it: kernels do so by hand at the end of a row. Raises ScheduleError for a loop with
    annotations or of a kind, one of less iterations or of an unknown number, and where to repeat
    an iteration may change a result: blocks must not reduce, nor load what is stored in the loop.
    """
    verify_plain(loop)
    verify_only_blocks(loop)
    if size < 1:
        raise ScheduleError(f"expected a size of at least 1, got {size}", loop)
    count = loop.extent.data.constant
    if count is None or count < size:
        raise ScheduleError(
            f"expected {loop_text(loop)} to have at least {size} iterations, "
            f"got extent {describe(loop.extent.data, loop.operands_)}",
            loop,
        )
    _verify_repeatable(loop)
    if count % size == 0:
        return [loop]
    length = IntExpr.of(size)
    return split_at(loop, [(ZERO, length * (count // size)), (IntExpr.of(count - size), length)])


def _verify_repeatable(loop: tir.ForOp) -> None:
    """Raise ScheduleError if repeating an iteration may change results."""
    for block in operations_in(loop):
        if isinstance(block, tir.BlockOp) and set(block.axis_kinds) != {"spatial"}:
            raise ScheduleError(
                f"expected block '{block.block_name.data}' of {loop_text(loop)} to have spatial "
                f"axes only, got {', '.join(block.axis_kinds) or 'none'}",
                block,
            )
    loaded = loaded_buffers(loop)
    shared = [s for s in stored_buffers(loop) if any(may_share_memory(s, b) for b in loaded)]
    if shared:
        names = ", ".join(sorted(buffer_text(b) for b in shared))
        raise ScheduleError(
            f"expected {loop_text(loop)} not to load {names}, which it stores", loop
        )

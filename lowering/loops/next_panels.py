"""Prefetch the panel after the one that a loop's iterations read again and again.

::

    loops.for %i in (0, 25) {                         loops.for %i in (0, 25) {
      %s = loops.for %k in (0, 768) carry (…) {         %s = loops.for %k in (0, 768) carry (…) {
        %w = loops.load %W[%p, %k, 0] : …         ⇒       loops.prefetch %W[%p, %k + 768 * …, …]
        … to %W[%p, %k, 64]                               %w = loops.load %W[%p, %k, 0] : …

While the first tile of rows waits for memory, the others read the panel from the second cache. So
each of the last tiles asks for a part of the next panel: here the last five, each for one of the
five lines in every step.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...backend.machine_model import LINE, CacheSizes
from ...dialects import loops
from ...dialects.bounds import cases_of_minimum, constant_limit
from ...dialects.int_expr import IntExpr, maximum, minimum
from ...dialects.nesting import ancestors
from ...dialects.sym import Values
from .streams import Stream, is_evicted, row_bytes, width


def prefetch_next_panels(
    loop: loops.ForOp, read: Sequence[Sequence[Stream]], caches: CacheSizes, distance: int
) -> None:
    """Prefetch the next panel of each stream that a loop reads, and a loop around reads again.

    The second cache does not keep a panel from call to call if the reuse distance, or the buffer,
    is larger. It must have room for two panels.
    """
    for stream, *others in read:
        is_far = is_evicted(stream.buffer, distance, caches.l2)
        found = _reader(loop, stream) if is_far and not others else None
        if found is not None:
            outer, panel = found
            if caches.l1 // 2 < panel <= caches.l2 // 2:
                _emit(loop, stream, outer, panel)


def _emit(loop: loops.ForOp, stream: Stream, outer: loops.ForOp, panel: int) -> None:
    """Prefetch the lines of the next panel in the last iterations of `outer`.

    That is in the first ones if their number is not known, and not in a loop of one iteration.
    """
    ends = map(constant_limit, cases_of_minimum(outer.lower.data + outer.extent.data))
    count = min((end for end in ends if end is not None), default=None)
    lines = stream.step // LINE
    if not lines or count == 1:
        return
    share = 1 if count is None else -(-lines // count)
    turns = -(-lines // share)
    values, op = Values(), stream.loads[0]
    turn = values.expr(outer.loop_var) - (0 if count is None else count - turns)
    is_turn = minimum(1, maximum(0, turns - turn if count is None else turn + 1))
    part = minimum(turn, turns - 1) if count is None else maximum(turn, 0)
    k = values.atom(loop.loop_var)
    moves = {k: values.expr(loop.loop_var) + is_turn * (panel // stream.step)}
    *place, last = (e.substitute(moves) for e in values.exprs(op.indices, op.operands_))
    for line in range(share):
        element = last + (part * share + line) * (LINE // width(op.buffer))
        hint = loops.PrefetchOp(op.buffer, [*place, element], values.list)
        loop.body.block.insert_op_before(hint, op)


def _reader(loop: loops.ForOp, stream: Stream) -> tuple[loops.ForOp, int] | None:
    """The loop around whose iterations read the same, and the bytes of one, without gaps.

    `None` if there is none, or if loops between it and `loop` read in another order.
    """
    extent, inside = loop.extent.data.constant, list[tuple[loops.ForOp, int]]()
    step, nbytes = stream.step, stream.step
    around = ancestors(loop)
    while step == nbytes and extent is not None:
        nbytes *= extent
        inside.append((loop, step))
        loop_around = next(around, None)
        if not isinstance(loop_around, loops.ForOp):
            return None
        loop, found = loop_around, _advance(stream, inside, loop_around)
        if found == 0:
            return loop, nbytes
        if found is None:
            return None
        step, extent = found, loop.extent.data.constant
    return None


def _advance(
    stream: Stream, inside: list[tuple[loops.ForOp, int]], outer: loops.ForOp
) -> int | None:
    """The bytes from one iteration of a loop around to the next; `None` if that is no number.

    `inside` has the loops inside of it, each with its own bytes. Their bounds may move too.
    """
    var, total = outer.loop_var, 0
    if any(var in op.operands_ for op in stream.loads):
        direct = row_bytes(stream, outer)
        if direct is None:
            return None
        total += direct
    for loop, nbytes in inside:
        values = Values()
        lower = values.rebase(loop.lower.data, loop.operands_)
        step: IntExpr | None = lower.coefficient_of(values.atom(var))
        if step is None or step.constant is None:
            return None
        total += step.constant * nbytes
    return total

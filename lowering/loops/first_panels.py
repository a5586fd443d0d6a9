"""Prefetch the first panels of a loop in the loops that run before it.

::

    loops.for %i in (0, 18) {                         loops.for %i in (0, 18) {
      … pack the activations …                          loops.prefetch %W[0, %i, 0] : …
    }                                         ⇒         … pack the activations …
    loops.for %p in (0, 60) {                         }
      … loops.for %k in (0, 18) carry (…) {           loops.for %p in (0, 60) {
          %w = loops.load %W[%p, %k, 0] : …             …

Memory is idle while a kernel prepares its operands, and the reading loop prefetches all but its
first iterations. Each iteration of a loop before asks for what one of them needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile

from xdsl.ir import Block, Operation, Region, SSAValue

from ...backend.machine_model import LINE
from ...dialects import loops
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import Values
from .streams import Stream, prefetches

OPS = 4
"""The least operations of an iteration for each line that it asks for."""

LONG = 2
"""Times the iterations that are wanted, from which a loop counts them."""


def prefetch_first_panels(
    loop: loops.ForOp, stream: Stream, func: loops.FuncOp, iterations: int
) -> None:
    """Prefetch what so many first iterations of `loop` read, in the loops before its nest.

    The address must be known there: of loop variables of the nest and parameters only.
    """
    nest = (loop, *_loops_around(loop))
    firsts: dict[SSAValue, IntExpr] = {op.loop_var: op.lower.data for op in nest}
    operands = {v for op in stream.loads for v in op.operands_}
    is_known = all(v in firsts or v.owner is func.body.block for v in operands) and all(
        lower.constant is not None for lower in firsts.values()
    )
    if nest[-1].parent is not func.body.block or not is_known:
        return
    start = 0
    for before in _loops_before(nest[-1]):
        count, lower = before.extent.data.constant, before.lower.data.constant
        if count is None or lower is None or start >= iterations:
            return
        if len(before.body.block.ops) >= OPS * max(1, stream.step // LINE):
            firsts[loop.loop_var] = loop.lower.data + (start - lower)
            _emit(before, stream, firsts, loop.loop_var, iterations - start)
            start += count


def _emit(
    before: loops.ForOp,
    stream: Stream,
    firsts: Mapping[SSAValue, IntExpr],
    var: SSAValue,
    most: int,
) -> None:
    """Prefetch at the begin of each iteration, with its number added to `var`.

    Where the whole loop may run again, it does so the first time. A loop of many more iterations
    than `most` does so in the first ones.
    """
    values = Values()
    moves = {values.atom(v): e for v, e in firsts.items()}
    moves[values.atom(var)] = firsts[var] + values.expr(before.loop_var)
    hints: list[Operation] = [hint for _, hint in prefetches(stream, values, moves)]
    bounds = [(values.expr(p.loop_var), p.lower.data + 1) for p in _loops_around(before)]
    if (before.extent.data.constant or 0) > LONG * most:
        bounds.append((values.expr(before.loop_var), before.lower.data + most))
    if bounds:
        hints = [loops.IfOp(bounds, values.list, Region(Block(hints)))]
    place = before.body.block.first_op
    assert place is not None
    before.body.block.insert_ops_before(hints, place)


def _loops_around(op: Operation) -> list[loops.ForOp]:
    return [p for p in ancestors(op) if isinstance(p, loops.ForOp)]


def _loops_before(nest: loops.ForOp) -> Iterator[loops.ForOp]:
    """The innermost loops in the nests before one, without those that are known to run again."""
    assert nest.parent is not None
    for op in takewhile(lambda op: op is not nest, nest.parent.ops):
        for inner in operations_in(op):
            if isinstance(inner, loops.ForOp) and not any(
                isinstance(o, loops.ForOp) for o in inner.body.walk()
            ):
                around = _loops_around(inner)
                is_first = all(p.lower.data.constant is not None for p in around)
                if is_first and all(p.extent.data.constant in (None, 1) for p in around):
                    yield inner

"""`prefetch-panels`: prefetch the sequential loads of large operands.

::

    %s = loops.for %k in (0, 1024) carry (…) {          %s = loops.for %k in (0, 1024) carry (…) {
      %w = loops.load %W[%i, %k, 0] : …                   loops.prefetch %W[%i, %k + 32, 0] : …
      %v = loops.load %W[%i, %k, 16] : …                  loops.prefetch %W[%i, %k + 32, 16] : …
                                                  ⇒       %w = loops.load %W[%i, %k, 0] : …
                                                          %v = loops.load %W[%i, %k, 16] : …

Hardware prefetchers stop at page boundaries, and each panel of weights comes from memory at its
first use. The prefetch distance is a share of the first cache; after the end of a panel comes the
next one. Of several rows that an iteration reads, those of the next iteration of a loop around are
prefetched. Small operands that many tiles reuse, and single streams, are not prefetched. Elements
of large buffers, or of those of symbolic sizes, that are read right after such a loop, as to add
its sums, are prefetched before it.
See `first_panels` for the begin of a panel, `next_panels` for panels that tiles of rows read again,
`gathered_rows` for rows that a table selects, and `prefetch_rows` for loops over rows that are read
more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...backend.machine_model import CacheSizes
from ...backend.target import Target
from ...dialects import loops
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from .first_panels import prefetch_first_panels
from .gathered_rows import prefetch_gathered_rows
from .next_panels import prefetch_next_panels
from .streams import (
    Stream,
    bytes_of,
    exceeds_cache,
    is_evicted,
    may_exceed,
    prefetches,
    row_bytes,
    streams,
)

ROWS = 4
"""Rows that the second cache holds: this one, the next, and what the loops write."""


def _reads_panels(loop: loops.ForOp) -> bool:
    """Whether an innermost loop accumulates vectors, from loads of several buffers.

    Hardware prefetching suffices for loops that read one buffer, such as the sum of a row.
    """
    ops = list(loop.body.block.ops)
    if any(op.regions for op in ops):
        return False
    read = {op.buffer for op in ops if isinstance(op, loops.LoadOp)}
    return len(read) != 1 and any(isinstance(v.type, VectorType) for v in loop.carry_vars)


def _emit_prefetch(loop: loops.ForOp, stream: Stream, var: SSAValue, ahead: int) -> None:
    """Prefetch the lines that a stream of a loop reads when a loop variable is `ahead` more."""
    values = Values()
    for load, hint in prefetches(stream, values, {values.atom(var): values.expr(var) + ahead}):
        loop.body.block.insert_op_before(hint, load)


def prefetch_rows(func: loops.FuncOp, target: Target) -> None:
    """Prefetch in the loops over rows of parameters that are larger than the second cache."""
    for outer in func.walk():
        if isinstance(outer, loops.ForOp):
            for found in _readers(outer, func, target.caches).values():
                if len(found) > 1:
                    loop, stream = next((f for f in found if _calls(f[0])), found[0])
                    _emit_prefetch(loop, stream, outer.loop_var, 1)


def _readers(
    outer: loops.ForOp, func: loops.FuncOp, caches: CacheSizes
) -> dict[SSAValue, list[tuple[loops.ForOp, Stream]]]:
    """The loops right inside of one that each read part of a row of a buffer, by buffer."""
    found: dict[SSAValue, list[tuple[loops.ForOp, Stream]]] = {}
    for loop in outer.body.block.ops:
        if not isinstance(loop, loops.ForOp) or _reads_panels(loop):
            continue
        for stream, *others in streams(loop, func):
            if not exceeds_cache([stream, *others], caches, 0):
                continue
            row = row_bytes(stream, outer)
            is_far = bytes_of(stream.buffer) > caches.l2
            if not others and is_far and row is not None and row * ROWS <= caches.l2:
                found.setdefault(stream.buffer, []).append((loop, stream))
    return found


def _calls(loop: loops.ForOp) -> bool:
    """Whether a loop computes functions of `math`."""
    return any(op.name.startswith("math.") for op in loop.body.block.ops)


SHARE, FAR_SHARE = 12, 4
"""The prefetch distance as a divisor of the first cache's size: it is longer for data that no cache
keeps until the next call. Prefetching more than the latency needs only evicts other lines."""


def prefetch_panels(func: loops.FuncOp, target: Target) -> None:
    """Prefetch in the innermost loops of a function that carry vectors."""
    for loop in func.walk():
        if not isinstance(loop, loops.ForOp) or not _reads_panels(loop):
            continue
        found = list(streams(loop, func))
        for rows in found:
            if len(rows) > 1 and exceeds_cache(rows, target.caches, func.reuse_distance):
                if (outer := _loop_over(rows, loop, target.caches)) is not None:
                    for row in rows:
                        _emit_prefetch(loop, row, outer.loop_var, 1)
        prefetch_gathered_rows(loop, func, target.caches)
        _prefetch_sequences(loop, found, func, target.caches)
        prefetch_next_panels(loop, found, target.caches, func.reuse_distance)
        for load in _read_after(loop, target.caches):
            hint = loops.PrefetchOp(load.buffer, exprs_of(load.indices), load.operands_)
            assert loop.parent is not None
            loop.parent.insert_op_before(hint, loop)


def _prefetch_sequences(
    loop: loops.ForOp,
    found: Sequence[Sequence[Stream]],
    func: loops.FuncOp,
    caches: CacheSizes,
) -> None:
    """Prefetch single streams, all by the same number of iterations ahead."""
    distance = func.reuse_distance
    missed = [s for s, *others in found if not others and exceeds_cache([s], caches, distance)]
    nbytes = sum(stream.step for stream in missed)
    for stream in missed:
        is_far = is_evicted(stream.buffer, distance, caches.l3 // 2)
        ahead = max(1, caches.l1 // (FAR_SHARE if is_far else SHARE) // nbytes)
        _emit_prefetch(loop, stream, loop.loop_var, ahead)
        if is_far:
            prefetch_first_panels(loop, stream, func, ahead)


def _loop_over(rows: Sequence[Stream], loop: loops.ForOp, caches: CacheSizes) -> loops.ForOp | None:
    """The loop around that goes on to other rows, if these fit into half of the first cache."""
    loads = [op for row in rows for op in row.loads]
    for outer in ancestors(loop):
        if isinstance(outer, loops.ForOp) and any(outer.loop_var in op.operands_ for op in loads):
            steps = {row_bytes(row, outer) for row in rows}
            step = next(iter(steps))
            fits = len(steps) == 1 and step is not None and step <= caches.l1 // 2
            return outer if fits else None
    return None


def _read_after(loop: loops.ForOp, caches: CacheSizes) -> Iterator[loops.LoadOp]:
    """Loads of large buffers between a loop and the next one, with addresses known before it."""
    inner: set[Operation] = {loop}
    op = loop.next_op
    while op is not None and not isinstance(op, loops.ForOp):
        inner |= set(op.walk())
        for load in op.walk():
            if not isinstance(load, loops.LoadOp) or not isa(load.result.type, VectorType):
                continue
            owners = [v.owner for v in load.operands]
            used = {o.parent_op() if isinstance(o, Block) else o for o in owners}
            if may_exceed(load.buffer, caches.l1) and not used & inner:
                yield load
        op = op.next_op


@dataclass(frozen=True)
class PrefetchPanelsPass(ModulePass):
    """Prefetch sequential reads of large parameters in loops with vector accumulators."""

    name = "prefetch-panels"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(self.target)
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                prefetch_panels(func, target)
                prefetch_rows(func, target)

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
See `next_panels` for panels that tiles of rows read again, and `prefetch_rows` for loops over rows
that are read more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...backend.machine_model import LINE, CacheSizes
from ...backend.target import Target
from ...dialects import loops, rt, tir
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from .next_panels import prefetch_next_panels
from .streams import (
    Stream,
    bytes_of,
    exceeds_cache,
    lanes,
    may_exceed,
    offset,
    row_bytes,
    streams,
    width,
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
    size = width(stream.buffer)
    values = Values()
    first, asked = offset(stream.loads[0], values).offset, -LINE
    moved = {values.atom(var): values.expr(var) + ahead}
    for op in stream.loads:
        *outer, last = (e.substitute(moved) for e in values.exprs(op.indices, op.operands_))
        start = (offset(op, values).offset - first) * size
        for place in range(0, lanes(op) * size, LINE):
            if start + place - asked >= LINE:
                asked = start + place
                indices = [*outer, last + place // size]
                hint = loops.PrefetchOp(op.buffer, indices, values.list)
                loop.body.block.insert_op_before(hint, op)


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
            if not exceeds_cache([stream, *others], caches):
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


def prefetch_panels(func: loops.FuncOp, target: Target, moved: int) -> None:
    """Prefetch in the innermost loops of a function that carry vectors.

    `moved` are the bytes that it, and what runs with it, read and write from call to call.
    """
    for loop in func.walk():
        if not isinstance(loop, loops.ForOp) or not _reads_panels(loop):
            continue
        found = list(streams(loop, func))
        for rows in found:
            if not exceeds_cache(rows, target.caches):
                continue
            if len(rows) > 1:
                if (outer := _loop_over(rows, loop, target.caches)) is not None:
                    for row in rows:
                        _emit_prefetch(loop, row, outer.loop_var, 1)
                continue
            (stream,) = rows
            is_far = max(moved, bytes_of(stream.buffer)) > target.caches.l3 // 2
            share = FAR_SHARE if is_far else SHARE
            ahead = target.caches.l1 // share // stream.step
            _emit_prefetch(loop, stream, loop.loop_var, max(1, ahead))
        prefetch_next_panels(loop, found, target.caches, moved)
        for load in _read_after(loop, target.caches):
            hint = loops.PrefetchOp(load.buffer, exprs_of(load.indices), load.operands_)
            assert loop.parent is not None
            loop.parent.insert_op_before(hint, loop)


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


def _moved(module: ModuleOp) -> dict[str, int]:
    """Bytes that all kernels of a function have as operands, as far as known, for each kernel."""
    found: dict[str, int] = {}
    for func in module.body.block.ops:
        calls = [op for op in func.walk() if isinstance(op, rt.CallDPSOp)]
        buffers = [v for op in calls for v in op.operands if isinstance(v.type, tir.BufferType)]
        total = sum(bytes_of(v) for v in buffers)
        found |= {op.callee_name: max(total, found.get(op.callee_name, 0)) for op in calls}
    return found


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
        target, moved = Target(self.target), _moved(op)
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                prefetch_panels(func, target, moved.get(func.sym_name.data, 0))
                prefetch_rows(func, target)

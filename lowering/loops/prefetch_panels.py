"""`prefetch-panels`: what a loop reads in order of a large operand is asked for some time before.

::

    %s = loops.for %k in (0, 1024) carry (…) {          %s = loops.for %k in (0, 1024) carry (…) {
      %w = loops.load %W[%i, %k, 0] : …                   loops.prefetch %W[%i, %k + 32, 0] : …
      %v = loops.load %W[%i, %k, 16] : …                  loops.prefetch %W[%i, %k + 32, 16] : …
                                                  ⇒       %w = loops.load %W[%i, %k, 0] : …
                                                          %v = loops.load %W[%i, %k, 16] : …

Processors see such a stream, but not beyond a page, and each panel of weights comes from far away
when it is first used. The part that is ahead is a share of the first cache; behind the end of a
panel is the next one. Small operands that many tiles use stay as they are, and what is read alone.
What is read of large buffers right after such a loop, as to add its sums there, is asked for before
it. See `prefetch_rows` for loops over rows that are read more than once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...backend.machine_model import CacheSizes
from ...backend.target import Target
from ...dialects import loops, rt, tir
from ...dialects.sym import exprs_of
from .streams import Stream, bytes_of, emit_prefetch, reads_panels, row_bytes, streams

ROWS = 4
"""Rows that the second cache holds: this one, the next, and what the loops write."""


def prefetch_rows(func: loops.FuncOp, target: Target) -> None:
    """Prefetch in the loops over rows of parameters that are larger than the second cache."""
    for outer in func.walk():
        if isinstance(outer, loops.ForOp):
            for found in _readers(outer, func, target.caches).values():
                if len(found) > 1:
                    loop, stream = next((f for f in found if _calls(f[0])), found[0])
                    emit_prefetch(loop, stream, outer.loop_var, 1)


def _readers(
    outer: loops.ForOp, func: loops.FuncOp, caches: CacheSizes
) -> dict[SSAValue, list[tuple[loops.ForOp, Stream]]]:
    """The loops right inside of one that each read part of a row of a buffer, by buffer."""
    found: dict[SSAValue, list[tuple[loops.ForOp, Stream]]] = {}
    for loop in outer.body.block.ops:
        if not isinstance(loop, loops.ForOp) or reads_panels(loop):
            continue
        for stream in streams(loop, func, caches):
            row = row_bytes(stream, outer)
            is_far = bytes_of(stream.buffer) > caches.l2
            if is_far and row is not None and row * ROWS <= caches.l2:
                found.setdefault(stream.buffer, []).append((loop, stream))
    return found


def _calls(loop: loops.ForOp) -> bool:
    """Whether a loop computes functions of `math`."""
    return any(op.name.startswith("math.") for op in loop.body.block.ops)


SHARE, FAR_SHARE = 12, 4
"""The part of the first cache that is asked for and not read yet is one of so many: more of what no
cache keeps until the next call, which takes longer to come. More than is on its way only takes the
room of other lines."""


def prefetch_panels(func: loops.FuncOp, target: Target, moved: int) -> None:
    """Prefetch in the innermost loops of a function that carry vectors.

    `moved` are the bytes that it, and what runs with it, read and write from call to call.
    """
    for loop in func.walk():
        if not isinstance(loop, loops.ForOp) or not reads_panels(loop):
            continue
        for stream in list(streams(loop, func, target.caches)):
            is_far = max(moved, bytes_of(stream.buffer)) > target.caches.l3 // 2
            share = FAR_SHARE if is_far else SHARE
            ahead = target.caches.l1 // share // stream.step
            emit_prefetch(loop, stream, loop.loop_var, max(1, ahead))
        for load in _read_after(loop, target.caches):
            hint = loops.PrefetchOp(load.buffer, exprs_of(load.indices), load.operands_)
            assert loop.parent is not None
            loop.parent.insert_op_before(hint, loop)


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
    """Vectors of large buffers that are read between a loop and the next, where known before it."""
    inner: set[Operation] = {loop}
    op = loop.next_op
    while op is not None and not isinstance(op, loops.ForOp):
        inner |= set(op.walk())
        for load in op.walk():
            if not isinstance(load, loops.LoadOp) or not isa(load.result.type, VectorType):
                continue
            owners = [v.owner for v in load.operands]
            used = {o.parent_op() if isinstance(o, Block) else o for o in owners}
            if bytes_of(load.buffer) > caches.l1 and not used & inner:
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

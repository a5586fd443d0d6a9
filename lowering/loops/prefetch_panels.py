"""`prefetch-panels`: what a loop reads in order of a large operand is asked for some time before.

::

    %s = loops.for %k in (0, 1024) carry (…) {          %s = loops.for %k in (0, 1024) carry (…) {
      %w = loops.load %W[%i, %k, 0] : …                   loops.prefetch %W[%i, %k + 48, 0] : …
      %v = loops.load %W[%i, %k, 16] : …                  loops.prefetch %W[%i, %k + 48, 16] : …
                                                  ⇒       %w = loops.load %W[%i, %k, 0] : …
                                                          %v = loops.load %W[%i, %k, 16] : …

Processors see such a stream, but not beyond a page, and each panel of weights comes from far away
when it is first used. The part that is ahead is a share of the first cache; behind the end of a
panel is the next one. Small operands that many tiles use stay as they are, and what is read alone.
What is read of large buffers right after such a loop, as to add its sums there, is asked for before
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...backend.host import CacheSizes
from ...backend.target import Target
from ...dialects import loops, tir
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import Arg, Atom, IntExpr, IntLike
from ...dialects.sym import exprs_of

LINE = 64
"""Bytes of a line of the cache."""

SHARE = 4
"""The part of the first cache that is asked for and not read yet is one of so many."""


@dataclass(frozen=True)
class Stream:
    """The vectors that an iteration of a loop reads of a buffer, one after the other in memory."""

    loads: tuple[loops.LoadOp, ...]
    step: int
    """Bytes from one iteration to the next."""


def prefetch_panels(func: loops.FuncOp, target: Target) -> None:
    """Prefetch in the innermost loops of a function that carry vectors."""
    for loop in func.walk():
        if not isinstance(loop, loops.ForOp) or not _accumulates(loop) or _reads_one(loop):
            continue
        for stream in list(streams(loop, func, target.caches)):
            _prefetch(loop, stream, target.caches.l1 // SHARE)
        for load in _read_after(loop, target.caches):
            hint = loops.PrefetchOp(load.buffer, exprs_of(load.indices), load.operands_)
            assert loop.parent is not None
            loop.parent.insert_op_before(hint, loop)


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
            if _bytes(load.buffer) > caches.l1 and not used & inner:
                yield load
        op = op.next_op


def _accumulates(loop: loops.ForOp) -> bool:
    """Whether a loop keeps vectors of results, and has no loop or condition in it."""
    carried = any(isinstance(v.type, VectorType) for v in loop.carry_vars)
    return carried and not any(op.regions for op in loop.body.block.ops)


def _reads_one(loop: loops.ForOp) -> bool:
    """Whether a loop reads one buffer, as a row's sum does: the processor is ahead of it itself."""
    return len({op.buffer for op in loop.body.block.ops if isinstance(op, loops.LoadOp)}) == 1


def streams(loop: loops.ForOp, func: loops.FuncOp, caches: CacheSizes) -> Iterator[Stream]:
    """What a loop reads in order, without gaps, of parameters that caches do not keep near.

    The first cache keeps what is read once, from call to call, the second what is read repeatedly.
    """
    found: dict[SSAValue, dict[int, loops.LoadOp]] = {}
    skipped: set[SSAValue] = set()
    for op in loop.body.block.ops:
        if not isinstance(op, loops.LoadOp) or not isa(op.result.type, VectorType):
            continue
        buffer = op.buffer
        is_param = isinstance(buffer, BlockArgument) and buffer.owner is func.body.block
        if is_param and op.mask is None and _bytes(buffer) > _kept(op, caches):
            found.setdefault(buffer, {})[_offset(op).offset] = op
        else:
            skipped.add(buffer)
    for buffer, by_offset in found.items():
        stream = None if buffer in skipped else _stream(loop, by_offset)
        if stream is not None:
            yield stream


def _kept(op: loops.LoadOp, caches: CacheSizes) -> int:
    """Bytes of a buffer up to which it is worth nothing to prefetch what a load reads."""
    loop = op.parent_op()
    while isinstance(loop, loops.ForOp):
        if loop.loop_var not in op.operands_:
            return caches.l2
        loop = loop.parent_op()
    return caches.l1


def _stream(loop: loops.ForOp, by_offset: dict[int, loops.LoadOp]) -> Stream | None:
    """The stream of loads by their constant offsets, in elements."""
    loads = [op for _, op in sorted(by_offset.items())]
    starts = [_offset(op) for op in loads]
    steps = {_step(op, loop) for op in loads}
    step = next(iter(steps))
    if len(steps) > 1 or step is None or len({s - s.offset for s in starts}) > 1:
        return None
    ends = [s.offset + _lanes(op) for s, op in zip(starts, loads, strict=True)]
    follow = [a == b.offset for a, b in zip(ends, starts[1:], strict=False)]
    if not all(follow) or ends[-1] - starts[0].offset != step:
        return None
    return Stream(tuple(loads), step * _width(loads[0].buffer))


def _prefetch(loop: loops.ForOp, stream: Stream, ahead: int) -> None:
    """Ask for the lines that are about so many bytes ahead, before the loads."""
    iterations = max(1, ahead // stream.step)
    first, asked = _offset(stream.loads[0]).offset, -LINE
    for op in stream.loads:
        place = (_offset(op).offset - first) * _width(op.buffer)
        if place - asked < LINE:
            continue
        asked = place
        mapping: dict[Atom, IntLike] = {
            Arg(i): IntExpr.of(Arg(i)) + iterations
            for i, v in enumerate(op.operands_)
            if v is loop.loop_var
        }
        indices = [e.substitute(mapping) for e in exprs_of(op.indices)]
        hint = loops.PrefetchOp(op.buffer, indices, op.operands_)
        loop.body.block.insert_op_before(hint, op)


def _offset(op: loops.LoadOp) -> IntExpr:
    """The place of the first element that is read, in elements over the operands."""
    return _type(op.buffer).linear_index(exprs_of(op.indices))


def _step(op: loops.LoadOp, loop: loops.ForOp) -> int | None:
    """Elements from one iteration to the next; `None` where that is not one positive number."""
    atoms = [Arg(i) for i, v in enumerate(op.operands_) if v is loop.loop_var]
    step = _offset(op).coefficient_of(atoms[0]) if atoms else None
    number = None if step is None else step.constant
    return number if number is not None and number > 0 else None


def _bytes(buffer: SSAValue) -> int:
    """The size of a buffer, 0 where it is only known at run time."""
    return _type(buffer).size_in_bytes().constant or 0


def _lanes(op: loops.LoadOp) -> int:
    assert isa(op.result.type, VectorType)
    return op.result.type.get_shape()[0]


def _width(buffer: SSAValue) -> int:
    return byte_width(_type(buffer).element_type)


def _type(buffer: SSAValue) -> tir.BufferType:
    assert isinstance(buffer.type, tir.BufferType)
    return buffer.type


@dataclass(frozen=True)
class PrefetchPanelsPass(ModulePass):
    """Prefetch what loops with vector accumulators read in order of large parameters."""

    name = "prefetch-panels"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(self.target)
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                prefetch_panels(func, target)

"""`prefetch-panels`: prefetch the sequential loads of large operands.

::

    %s = loops.for %k in (0, 1024) carry (…) {          %s = loops.for %k in (0, 1024) carry (…) {
      %w = loops.load %W[%i, %k, 0] : …                   loops.prefetch %W[%i, %k + 32, 0] : …
      %v = loops.load %W[%i, %k, 16] : …                  loops.prefetch %W[%i, %k + 32, 16] : …
                                                  ⇒       %w = loops.load %W[%i, %k, 0] : …
                                                          %v = loops.load %W[%i, %k, 16] : …

Hardware prefetchers stop at page boundaries, and each panel of weights comes from memory at its
first use. The prefetch distance is a share of the first cache; after the end of a panel comes the
next one. Small operands that many tiles reuse, and single streams, are not prefetched. Elements of
large buffers, or of those of symbolic sizes, that are read right after such a loop, as to add its
sums, are prefetched before it.
See `prefetch_rows` for loops over rows that are read more than once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...backend.machine_model import LINE, CacheSizes
from ...backend.target import Target
from ...dialects import loops, rt, tir
from ...dialects.bounds import constant_limit
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import IntExpr
from ...dialects.sym import Values, exprs_of
from ..analysis.strides import memory_step

FEW = 8
"""Reads of the same elements of which the first one's misses still take a good part of the time."""

ROWS = 4
"""Rows that the second cache holds: this one, the next, and what the loops write."""


@dataclass(frozen=True)
class Stream:
    """The consecutive vectors of a buffer that an iteration of a loop reads."""

    loads: tuple[loops.LoadOp, ...]
    step: int
    """Bytes from one iteration to the next."""

    @property
    def buffer(self) -> SSAValue:
        """The buffer that is read."""
        return self.loads[0].buffer


def _reads_panels(loop: loops.ForOp) -> bool:
    """Whether an innermost loop accumulates vectors, from loads of several buffers.

    Hardware prefetching suffices for loops that read one buffer, such as the sum of a row.
    """
    ops = list(loop.body.block.ops)
    if any(op.regions for op in ops):
        return False
    read = {op.buffer for op in ops if isinstance(op, loops.LoadOp)}
    return len(read) != 1 and any(isinstance(v.type, VectorType) for v in loop.carry_vars)


def _streams(loop: loops.ForOp, func: loops.FuncOp, caches: CacheSizes) -> Iterator[Stream]:
    """The streams that a loop reads sequentially, without gaps, of parameters larger than a cache.

    That is the first cache for parameters that are read a few times, the second for more reads.
    """
    values = Values()
    found: dict[SSAValue, dict[int, loops.LoadOp]] = {}
    skipped: set[SSAValue] = set()
    for op in loop.body.block.ops:
        if not isinstance(op, loops.LoadOp) or not isa(op.result.type, VectorType):
            continue
        buffer = op.buffer
        is_param = isinstance(buffer, BlockArgument) and buffer.owner is func.body.block
        if is_param and op.mask is None and _bytes_of(buffer) > _kept(op, caches):
            found.setdefault(buffer, {})[_offset(op, values).offset] = op
        else:
            skipped.add(buffer)
    for buffer, by_offset in found.items():
        stream = None if buffer in skipped else _stream(loop, by_offset, values)
        if stream is not None:
            yield stream


def _kept(op: loops.LoadOp, caches: CacheSizes) -> int:
    """The size of a buffer, in bytes, up to which prefetching a load does not pay."""
    loop = op.parent_op()
    while isinstance(loop, loops.ForOp):
        count = constant_limit(loop.extent.data)
        if loop.loop_var not in op.operands_ and (count is None or count > FEW):
            return caches.l2
        loop = loop.parent_op()
    return caches.l1


def _stream(loop: loops.ForOp, by_offset: dict[int, loops.LoadOp], values: Values) -> Stream | None:
    """The stream of loads by their constant offsets, in elements."""
    loads = [op for _, op in sorted(by_offset.items())]
    starts = [_offset(op, values) for op in loads]
    steps = {_step(op, loop) for op in loads}
    step = next(iter(steps))
    if len(steps) > 1 or step is None or len({s - s.offset for s in starts}) > 1:
        return None
    ends = [s.offset + _lanes(op) for s, op in zip(starts, loads, strict=True)]
    follow = [a == b.offset for a, b in zip(ends, starts[1:], strict=False)]
    if not all(follow) or ends[-1] - starts[0].offset != step:
        return None
    return Stream(tuple(loads), step * _width(loads[0].buffer))


def _row_bytes(stream: Stream, outer: loops.ForOp) -> int | None:
    """Bytes from one iteration of a loop around to the next; `None` if not one positive number."""
    step, *others = {_step(op, outer) for op in stream.loads}
    return None if others or step is None else step * _width(stream.buffer)


def _emit_prefetch(loop: loops.ForOp, stream: Stream, var: SSAValue, ahead: int) -> None:
    """Prefetch the lines that a stream of a loop reads when a loop variable is `ahead` more."""
    width = _width(stream.buffer)
    values = Values()
    first, asked = _offset(stream.loads[0], values).offset, -LINE
    moved = {values.atom(var): values.expr(var) + ahead}
    for op in stream.loads:
        *outer, last = (e.substitute(moved) for e in values.exprs(op.indices, op.operands_))
        start = (_offset(op, values).offset - first) * width
        for place in range(0, _lanes(op) * width, LINE):
            if start + place - asked >= LINE:
                asked = start + place
                indices = [*outer, last + place // width]
                hint = loops.PrefetchOp(op.buffer, indices, values.list)
                loop.body.block.insert_op_before(hint, op)


def _offset(op: loops.LoadOp, values: Values) -> IntExpr:
    """The offset of the first element that is read, in elements."""
    return _type(op.buffer).linear_index(values.exprs(op.indices, op.operands_))


def _step(op: loops.LoadOp, loop: loops.ForOp) -> int | None:
    """The stride of a load in elements; `None` if it is not a positive constant."""
    values = Values()
    indices, variable = values.exprs(op.indices, op.operands_), values.atom(loop.loop_var)
    step = memory_step(_type(op.buffer), indices, variable)
    number = None if step is None else step.constant
    return number if number is not None and number > 0 else None


def _bytes_of(buffer: SSAValue) -> int:
    """The size of a buffer in bytes; 0 if it is symbolic."""
    return _type(buffer).known_bytes or 0


def _may_exceed(buffer: SSAValue, size: int) -> bool:
    """Whether a buffer may be larger than some bytes, as those of symbolic sizes."""
    known = _type(buffer).known_bytes
    return known is None or known > size


def _lanes(op: loops.LoadOp) -> int:
    assert isa(op.result.type, VectorType)
    return op.result.type.get_shape()[0]


def _width(buffer: SSAValue) -> int:
    return byte_width(_type(buffer).element_type)


def _type(buffer: SSAValue) -> tir.BufferType:
    assert isinstance(buffer.type, tir.BufferType)
    return buffer.type


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
        for stream in _streams(loop, func, caches):
            row = _row_bytes(stream, outer)
            is_far = _bytes_of(stream.buffer) > caches.l2
            if is_far and row is not None and row * ROWS <= caches.l2:
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
        for stream in list(_streams(loop, func, target.caches)):
            is_far = max(moved, _bytes_of(stream.buffer)) > target.caches.l3 // 2
            share = FAR_SHARE if is_far else SHARE
            ahead = target.caches.l1 // share // stream.step
            _emit_prefetch(loop, stream, loop.loop_var, max(1, ahead))
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
        total = sum(_bytes_of(v) for v in buffers)
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
            if _may_exceed(load.buffer, caches.l1) and not used & inner:
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

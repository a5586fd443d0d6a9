"""The memory that a loop reads sequentially: one vector, or a few, of each row in an iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import VectorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa

from ...backend.machine_model import LINE, CacheSizes
from ...dialects import loops, tir
from ...dialects.bounds import constant_limit
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import IntExpr
from ...dialects.sym import Atom, Values
from ..analysis.strides import memory_step

FEW = 8
"""Reads of the same elements of which the first one's misses still take a good part of the time."""


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


def streams(loop: loops.ForOp, func: loops.FuncOp) -> Iterator[list[Stream]]:
    """What a loop reads sequentially, without gaps, of each parameter.

    That is one stream, or one of each row that an iteration reads.
    """
    values = Values()
    found: dict[SSAValue, dict[int, loops.LoadOp]] = {}
    skipped: set[SSAValue] = set()
    for op in loop.body.block.ops:
        if not isinstance(op, loops.LoadOp) or not isa(op.result.type, VectorType):
            continue
        buffer = op.buffer
        is_param = isinstance(buffer, BlockArgument) and buffer.owner is func.body.block
        if is_param and op.mask is None:
            found.setdefault(buffer, {})[offset(op, values).offset] = op
        else:
            skipped.add(buffer)
    for buffer, by_offset in found.items():
        if buffer not in skipped and (rows := _rows_of(loop, by_offset, values)):
            yield rows


def exceeds_cache(rows: Sequence[Stream], caches: CacheSizes, distance: int) -> bool:
    """Whether the parameter is larger than a cache, so that prefetching pays.

    That is the first one for parameters that are read a few times, the second for more reads. With
    a reuse `distance` beyond the second cache, also small ones of a few reads are in none.
    """
    kept = [(op.buffer, _kept(op, caches)) for row in rows for op in row.loads]
    is_far = distance >= caches.l2
    return all(bytes_of(b) > size or (is_far and size < caches.l2) for b, size in kept)


def _kept(op: loops.LoadOp, caches: CacheSizes) -> int:
    """The size of a buffer, in bytes, up to which prefetching a load does not pay."""
    loop = op.parent_op()
    while isinstance(loop, loops.ForOp):
        count = constant_limit(loop.extent.data)
        if loop.loop_var not in op.operands_ and (count is None or count > FEW):
            return caches.l2
        loop = loop.parent_op()
    return caches.l1


def _rows_of(loop: loops.ForOp, by_offset: dict[int, loops.LoadOp], values: Values) -> list[Stream]:
    """The streams of loads of a buffer by their constant offsets, in elements, one of each row.

    There is none if the loads are not all in streams.
    """
    loads = [op for _, op in sorted(by_offset.items())]
    starts = [offset(op, values) for op in loads]
    steps = {_step(op, loop) for op in loads}
    step = next(iter(steps))
    if len(steps) > 1 or not step or len({s - s.offset for s in starts}) > 1:
        return []
    ends = [s.offset + lanes(op) for s, op in zip(starts, loads, strict=True)]
    firsts = [i for i, s in enumerate(starts) if i == 0 or s.offset != ends[i - 1]]
    rows = [range(a, b) for a, b in zip(firsts, [*firsts[1:], len(loads)], strict=True)]
    if any(ends[row[-1]] - starts[row[0]].offset != step for row in rows):
        return []
    return [Stream(tuple(loads[i] for i in row), step * width(loads[0].buffer)) for row in rows]


def prefetches(
    stream: Stream, values: Values, moves: Mapping[Atom, IntExpr]
) -> Iterator[tuple[loops.LoadOp, loops.PrefetchOp]]:
    """Prefetches of the lines that a stream reads when variables have other values.

    Each comes with the load of its line.
    """
    size = width(stream.buffer)
    first, asked = offset(stream.loads[0], Values()).offset, -LINE
    for op in stream.loads:
        *outer, last = (e.substitute(moves) for e in values.exprs(op.indices, op.operands_))
        start = (offset(op, Values()).offset - first) * size
        for byte in range(0, lanes(op) * size, LINE):
            if start + byte - asked >= LINE:
                asked = start + byte
                indices = [*outer, last + byte // size]
                yield op, loops.PrefetchOp(op.buffer, indices, values.list)


def row_bytes(stream: Stream, outer: loops.ForOp) -> int | None:
    """Bytes from one iteration of a loop around to the next; `None` if not one positive number."""
    step, *others = {_step(op, outer) for op in stream.loads}
    return None if others or step is None else step * width(stream.buffer)


def offset(op: loops.LoadOp, values: Values) -> IntExpr:
    """The offset of the first element that is read, in elements."""
    return _type(op.buffer).linear_index(values.exprs(op.indices, op.operands_))


def _step(op: loops.LoadOp, loop: loops.ForOp) -> int | None:
    """The stride of a load in elements; `None` if it is not a positive constant."""
    values = Values()
    indices, variable = values.exprs(op.indices, op.operands_), values.atom(loop.loop_var)
    step = memory_step(_type(op.buffer), indices, variable)
    number = None if step is None else step.constant
    return number if number is not None and number > 0 else None


def is_evicted(buffer: SSAValue, distance: int, size: int) -> bool:
    """Whether a cache of some size does not keep a buffer from call to call.

    `distance` is the function's reuse distance, 0 if it is not known.
    """
    return distance >= size or bytes_of(buffer) > size


def bytes_of(buffer: SSAValue) -> int:
    """The size of a buffer in bytes; 0 if it is symbolic."""
    return _type(buffer).known_bytes or 0


def may_exceed(buffer: SSAValue, size: int) -> bool:
    """Whether a buffer may be larger than some bytes, as those of symbolic sizes."""
    known = _type(buffer).known_bytes
    return known is None or known > size


def lanes(op: loops.LoadOp) -> int:
    """The elements of a vector that is loaded."""
    assert isa(op.result.type, VectorType)
    return op.result.type.get_shape()[0]


def width(buffer: SSAValue) -> int:
    """The bytes of an element."""
    return byte_width(_type(buffer).element_type)


def _type(buffer: SSAValue) -> tir.BufferType:
    assert isinstance(buffer.type, tir.BufferType)
    return buffer.type

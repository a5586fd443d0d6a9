"""What loops read in order of large parameters, and hints that ask for it before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import VectorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa

from ...backend.machine_model import LINE, CacheSizes
from ...dialects import loops, tir
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import IntExpr
from ...dialects.sym import Values
from ..analysis.strides import memory_step


@dataclass(frozen=True)
class Stream:
    """The vectors that an iteration of a loop reads of a buffer, one after the other in memory."""

    loads: tuple[loops.LoadOp, ...]
    step: int
    """Bytes from one iteration to the next."""

    @property
    def buffer(self) -> SSAValue:
        """What is read."""
        return self.loads[0].buffer


def reads_panels(loop: loops.ForOp) -> bool:
    """Whether a loop keeps vectors of results of several buffers, and has nothing nested in it.

    The processor is ahead itself of what a loop reads of one buffer, as a row's sum does.
    """
    ops = list(loop.body.block.ops)
    if any(op.regions for op in ops):
        return False
    read = {op.buffer for op in ops if isinstance(op, loops.LoadOp)}
    return len(read) != 1 and any(isinstance(v.type, VectorType) for v in loop.carry_vars)


def streams(loop: loops.ForOp, func: loops.FuncOp, caches: CacheSizes) -> Iterator[Stream]:
    """What a loop reads in order, without gaps, of parameters that caches do not keep near.

    The first cache keeps what is read once, from call to call, the second what is read repeatedly.
    """
    values = Values()
    found: dict[SSAValue, dict[int, loops.LoadOp]] = {}
    skipped: set[SSAValue] = set()
    for op in loop.body.block.ops:
        if not isinstance(op, loops.LoadOp) or not isa(op.result.type, VectorType):
            continue
        buffer = op.buffer
        is_param = isinstance(buffer, BlockArgument) and buffer.owner is func.body.block
        if is_param and op.mask is None and bytes_of(buffer) > _kept(op, caches):
            found.setdefault(buffer, {})[_offset(op, values).offset] = op
        else:
            skipped.add(buffer)
    for buffer, by_offset in found.items():
        stream = None if buffer in skipped else _stream(loop, by_offset, values)
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


def _stream(
    loop: loops.ForOp, by_offset: dict[int, loops.LoadOp], values: Values
) -> Stream | None:
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


def row_bytes(stream: Stream, outer: loops.ForOp) -> int | None:
    """Bytes from one iteration of a loop around to the next; `None` if not one positive number."""
    step, *others = {_step(op, outer) for op in stream.loads}
    return None if others or step is None else step * _width(stream.buffer)


def emit_prefetch(loop: loops.ForOp, stream: Stream, var: SSAValue, ahead: int) -> None:
    """Ask for the lines of a stream of a loop as they are when a loop variable is `ahead` more."""
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
    """The place of the first element that is read, in elements."""
    return _type(op.buffer).linear_index(values.exprs(op.indices, op.operands_))


def _step(op: loops.LoadOp, loop: loops.ForOp) -> int | None:
    """Elements from one iteration to the next; `None` where that is not one positive number."""
    values = Values()
    indices, variable = values.exprs(op.indices, op.operands_), values.atom(loop.loop_var)
    step = memory_step(_type(op.buffer), indices, variable)
    number = None if step is None else step.constant
    return number if number is not None and number > 0 else None


def bytes_of(buffer: SSAValue) -> int:
    """The size of a buffer, 0 where it is only known at run time."""
    return _type(buffer).known_bytes or 0


def _lanes(op: loops.LoadOp) -> int:
    assert isa(op.result.type, VectorType)
    return op.result.type.get_shape()[0]


def _width(buffer: SSAValue) -> int:
    return byte_width(_type(buffer).element_type)


def _type(buffer: SSAValue) -> tir.BufferType:
    assert isinstance(buffer.type, tir.BufferType)
    return buffer.type

"""Totals of several vectors that are stored beside each other are one vector.

::

    %r = vector.reduction <add>, %v                    %l = vector.shuffle %v, %w [0, 4, 1, 5]
    %a = arith.addf %s, %r                             %h = vector.shuffle %v, %w [2, 6, 3, 7]
    loops.store %a, %Y[%i]                             %f = arith.addf %l, %h
    %q = vector.reduction <add>, %w             ⇒      %p = vector.shuffle %f, %f [0, 1]
    %b = arith.addf %s, %q                             %t = vector.shuffle %f, %f [2, 3]
    loops.store %b, %Y[%i + 1]                         %g = arith.addf %p, %t
                                                       %b = arith.addf %ss, %g : vector<2xf32>
                                                       loops.store %b, %Y[%i]

Lanes of two vectors are put beside each other and added up, until those of a vector's segment are
of as many vectors; segments are halved then as in the reduction of one vector. All of them together
take about as many shuffles as the reduction of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import BroadcastOp, ReductionOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import loops
from ...dialects.int_expr import ONE
from ...dialects.sym import Values
from ...dialects.tir.types import BufferType
from ..analysis.reductions import Accumulation, is_reordered
from ..scope import Scope, replace_by_block
from .horizontal_reductions import combined, halved, is_horizontal_reduction, lanes_of
from .strided_load import shuffle

SEGMENT = 4
"""The most totals that are stored at once: lanes that shuffles move in one cycle."""


@dataclass
class _Reduction:
    """A store of what an accumulation makes of a start and the lanes of a vector."""

    store: loops.StoreOp
    op: Accumulation
    reduction: ReductionOp

    @property
    def lanes(self) -> int:
        """Lanes of the vector."""
        return lanes_of(self.reduction.vector)


def join_reductions(block: Block) -> None:
    """Join the totals that follow each other in a block, and in those inside of it."""
    run: list[_Reduction] = []
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                join_reductions(inner)
        total = _reduction_of(op)
        if total is not None:
            if run and not _continues(run[-1], total):
                _join_run(run)
                run = []
            run.append(total)
        elif not is_side_effect_free(op):
            _join_run(run)
            run = []
    _join_run(run)


def _reduction_of(op: Operation) -> _Reduction | None:
    """The total that an operation stores, if nothing else sees it."""
    if not isinstance(op, loops.StoreOp) or op.mask is not None or op.nontemporal is not None:
        return None
    made = op.value.owner
    if not isinstance(made, Accumulation) or not is_reordered(made) or not op.value.has_one_use():
        return None
    reduction = made.rhs.owner
    if not isinstance(reduction, ReductionOp) or not made.rhs.has_one_use():
        return None
    type_ = op.buffer.type
    assert isinstance(type_, BufferType)
    if made.parent is not op.parent or not op.indices.data or type_.element_strides()[-1] != ONE:
        return None
    return _Reduction(op, made, reduction) if is_horizontal_reduction(made, reduction) else None


def _continues(last: _Reduction, total: _Reduction) -> bool:
    """Whether a total is stored right behind another one of the same kind."""
    values = Values()
    places = [
        values.exprs(t.store.indices, t.store.operands_)
        for t in (last, total)
    ]
    return (
        last.store.buffer is total.store.buffer
        and type(last.op) is type(total.op)
        and last.lanes == total.lanes
        and _is_same(last.op.lhs, total.op.lhs)
        and places[0][:-1] == places[1][:-1]
        and places[0][-1] + 1 == places[1][-1]
    )


def _is_same(first: SSAValue, second: SSAValue) -> bool:
    """Whether two values are one, or the same constant."""
    sources = first.owner, second.owner
    if isinstance(sources[0], ConstantOp) and isinstance(sources[1], ConstantOp):
        return sources[0].value == sources[1].value
    return first is second


def _join_run(run: Sequence[_Reduction]) -> None:
    """Join totals in groups that are a power of two."""
    size = SEGMENT
    while len(run) > 1:
        while size > min(len(run), run[0].lanes):
            size //= 2
        if size < 2 or run[0].lanes % SEGMENT:
            return
        _join(run[:size])
        run = run[size:]


def _join(totals: Sequence[_Reduction]) -> None:
    """Put one vector in the place of totals, where the last one is stored."""
    first, last = totals[0], totals[-1]
    scope, op = Scope(Block(), in_place=True), last.op
    parts, width = [t.reduction.vector for t in totals], 1
    while len(parts) > 1:
        parts = [
            _beside(op, a, b, width, scope) for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        width *= 2
    lanes = parts[0]
    while lanes_of(lanes) > width:
        lanes = halved(op, lanes, scope)
    spread = BroadcastOp(op.lhs, VectorType(op.result.type, [width]))
    scope.emit(spread)
    joined = combined(op, spread.vector, lanes, scope)
    indices = [e.data for e in first.store.indices.data]
    scope.emit(loops.StoreOp(joined, last.store.buffer, indices, list(first.store.operands_)))
    replace_by_block(last.store, scope.block, [])
    for total in totals:
        for old in (total.store, total.op, total.reduction):
            if old.parent is not None:
                old.detach()
                old.erase()


def _beside(op: Accumulation, lhs: SSAValue, rhs: SSAValue, width: int, scope: Scope) -> SSAValue:
    """Emit the sums of the halves of segments, those of two vectors beside each other.

    A segment has lanes of `width` vectors, so often that it is `SEGMENT` lanes long.
    """
    count, half = lanes_of(lhs), SEGMENT // 2
    type_ = VectorType(op.result.type, [count])
    orders: list[list[int]] = [
        [
            start + at + vector * count + lane
            for start in range(0, count, SEGMENT)
            for at in range(side * half, (side + 1) * half, width)
            for vector in range(2)
            for lane in range(width)
        ]
        for side in range(2)
    ]
    parts = [shuffle(lhs, rhs, order, type_, scope) for order in orders]
    return combined(op, parts[0], parts[1], scope)

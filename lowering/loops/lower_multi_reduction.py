"""Lower horizontal reductions to shuffles; those with adjacent results together.

::

    %a = loops.multi_reduction <add>, %s, %v, %w       %l = vector.shuffle %v, %v [0, …, 7]
      : f32, vector<16xf32>, vector<4xf32>             %h = vector.shuffle %v, %v [8, …, 15]
                                                       %f = arith.addf %l, %h
                                                  ⇒    %p = vector.shuffle %w, %zeros [0, …, 4]
                                                       %g = arith.addf %f, %p
                                                       %r = vector.reduction <add>, %g
                                                       %a = arith.addf %s, %r

    %a = loops.multi_reduction <add>, %s, %v           %l = vector.shuffle %v, %w [0, 4, 1, 5]
    loops.store %a, %Y[%i]                             %h = vector.shuffle %v, %w [2, 6, 3, 7]
    %b = loops.multi_reduction <add>, %s, %w           %f = arith.addf %l, %h
    loops.store %b, %Y[%i + 1]                    ⇒    %p = vector.shuffle %f, %f [0, 1]
                                                       %t = vector.shuffle %f, %f [2, 3]
                                                       %g = arith.addf %p, %t
                                                       %b = arith.addf %ss, %g : vector<2xf32>
                                                       loops.store %b, %Y[%i]

The longest vector of a value is halved until it is as long as the next one or fills a register, as
in its reduction; a shorter one is padded with the identity.

Vectors whose totals are stored to adjacent elements are interleaved and added, until a segment has
one lane of each vector; segments are then halved as in the reduction of one vector. All of them
together take about as many shuffles as the reduction of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp, FloatingPointLikeBinaryOperation
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.vector import BroadcastOp, ReductionOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free
from xdsl.utils.hints import isa

from ...backend.target import Target
from ...dialects import loops
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import ONE
from ...dialects.sym import Values
from ...dialects.tir.types import BufferType
from ..scope import Scope, replace_by_block
from .partial_sums import hoist_reductions, start
from .shuffled_load import shuffle

SEGMENT = 4
"""The most totals that are stored at once: the lanes that a shuffle of one cycle moves."""


def lower_multi_reductions(func: loops.FuncOp, target: Target) -> None:
    """Lower all reductions of a function, after the serial loops that only add to their lanes."""
    hoist_reductions(func.body.block)
    for op in _reductions_in(func):
        _merge(op)
    _Joiner(target).visit(func.body.block)
    for op in _reductions_in(func):
        _expand(op, target)


def _reductions_in(func: loops.FuncOp) -> list[loops.MultiReductionOp]:
    return [op for op in func.walk() if isinstance(op, loops.MultiReductionOp)]


def _merge(op: loops.MultiReductionOp) -> None:
    """Merge with the reduction that this one continues, its vectors in descending length."""
    before = op.acc.owner
    if not isinstance(before, loops.MultiReductionOp) or not op.acc.has_one_use():
        return
    if before.kind == op.kind and before.parent is op.parent:
        vectors = sorted([*before.vectors, *op.vectors], key=_lanes_of, reverse=True)
        op.operands = [before.acc, *vectors]
        before.detach()
        before.erase()


def _expand(op: loops.MultiReductionOp, target: Target) -> None:
    """Replace an operation by the reduction of one vector, or of each if they do not fold."""
    scope, total, widths = Scope(Block(), in_place=True), op.acc, _widths(op, target)
    for lanes in op.vectors if widths is None else [_folded(op, widths, scope)]:
        reduced = ReductionOp.create(
            operands=[lanes], result_types=[total.type], properties=dict(op.properties)
        )
        scope.emit(reduced)
        total = _combined(op, total, reduced.dest, scope)
    replace_by_block(op, scope.block, [total])


def _widths(op: loops.MultiReductionOp, target: Target) -> list[int] | None:
    """The number of lanes after folding each vector; `None` if lengths do not fold."""
    register = target.lanes(8 * byte_width(op.result.type))
    widths = [_lanes_of(op.vectors[0])]
    for vector in op.vectors[1:]:
        short = _lanes_of(vector)
        times, rest = divmod(widths[-1], width := max(short, min(widths[-1], register)))
        if rest or times.bit_count() != 1:
            return None
        widths.append(width)
    return widths


def _folded(op: loops.MultiReductionOp, widths: Sequence[int], scope: Scope) -> SSAValue:
    """Emit one vector of the lanes of all."""
    lanes = op.vectors[0]
    for vector, width in zip(op.vectors[1:], widths[1:], strict=True):
        while _lanes_of(lanes) > width:
            lanes = _halved(op, lanes, scope)
        if (short := _lanes_of(vector)) < width:
            order = [min(i, short) for i in range(width)]
            neutral, type_ = start(op, short, scope), VectorType(op.result.type, [width])
            vector = shuffle(vector, neutral, order, type_, scope)
        lanes = _combined(op, lanes, vector, scope)
    return lanes


def _combined(op: loops.MultiReductionOp, lhs: SSAValue, rhs: SSAValue, scope: Scope) -> SSAValue:
    """Emit the combination of two values, elementwise for vectors."""
    combiner = op.combiner
    if issubclass(combiner, FloatingPointLikeBinaryOperation):
        new = combiner(lhs, rhs, op.fastmath)
    else:
        new = combiner(lhs, rhs)
    scope.emit(new)
    return new.result


def _halved(op: loops.MultiReductionOp, vector: SSAValue, scope: Scope) -> SSAValue:
    """Emit the combination of the halves of a vector."""
    count = _lanes_of(vector) // 2
    type_ = VectorType(op.result.type, [count])
    parts = [shuffle(vector, vector, range(s, s + count), type_, scope) for s in (0, count)]
    return _combined(op, parts[0], parts[1], scope)


def _lanes_of(vector: SSAValue) -> int:
    assert isa(vector.type, VectorType)
    return vector.type.get_shape()[0]


@dataclass
class _Total:
    """A store of a reduction without other uses."""

    store: loops.StoreOp
    op: loops.MultiReductionOp

    def is_followed_by(self, other: _Total) -> bool:
        """Whether a total of the same kind, start and lengths is stored to the next element."""
        values = Values()
        places = [values.exprs(t.store.indices, t.store.operands_) for t in (self, other)]
        return (
            self.store.buffer is other.store.buffer
            and self.op.properties == other.op.properties
            and [*map(_lanes_of, self.op.vectors)] == [*map(_lanes_of, other.op.vectors)]
            and _is_same(self.op.acc, other.op.acc)
            and places[0][:-1] == places[1][:-1]
            and places[0][-1] + 1 == places[1][-1]
        )


def _total_of(op: Operation) -> _Total | None:
    """The reduction that an operation stores, if that is its only use."""
    if not isinstance(op, loops.StoreOp) or op.mask is not None or op.nontemporal is not None:
        return None
    made, type_ = op.value.owner, op.buffer.type
    assert isinstance(type_, BufferType)
    if not isinstance(made, loops.MultiReductionOp) or not op.value.has_one_use():
        return None
    if made.parent is not op.parent or not op.indices.data or type_.element_strides()[-1] != ONE:
        return None
    return _Total(op, made)


def _is_same(first: SSAValue, second: SSAValue) -> bool:
    """Whether two values are one, or the same constant."""
    sources = first.owner, second.owner
    if isinstance(sources[0], ConstantOp) and isinstance(sources[1], ConstantOp):
        return sources[0].value == sources[1].value
    return first is second


@dataclass
class _Joiner:
    target: Target

    def visit(self, block: Block) -> None:
        """Join the adjacent totals in a block, and in nested blocks."""
        run: list[_Total] = []
        for op in list(block.ops):
            for region in op.regions:
                for inner in region.blocks:
                    self.visit(inner)
            total = _total_of(op)
            if total is None and (not run or is_side_effect_free(op)):
                continue
            if total is None or (run and not run[-1].is_followed_by(total)):
                self._join_run(run)
                run = []
            run += [total] if total else []
        self._join_run(run)

    def _join_run(self, run: Sequence[_Total]) -> None:
        """Join totals in groups whose size is a power of two."""
        while len(run) > 1:
            widths = _widths(run[0].op, self.target)
            size = SEGMENT if len(run) >= SEGMENT else 2
            if widths is None or widths[-1] % SEGMENT:
                return
            _join(run[:size], widths)
            run = run[size:]


def _join(totals: Sequence[_Total], widths: Sequence[int]) -> None:
    """Replace the stores of totals by one vector store, at the last one."""
    scope, first, last = Scope(Block(), in_place=True), totals[0], totals[-1]
    op, parts, width = last.op, [_folded(t.op, widths, scope) for t in totals], 1
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [_beside(op, a, b, width, scope) for a, b in pairs]
        width *= 2
    lanes = parts[0]
    while _lanes_of(lanes) > width:
        lanes = _halved(op, lanes, scope)
    spread = BroadcastOp(op.acc, VectorType(op.result.type, [width]))
    scope.emit(spread)
    joined = _combined(op, spread.vector, lanes, scope)
    indices = [e.data for e in first.store.indices.data]
    scope.emit(loops.StoreOp(joined, last.store.buffer, indices, list(first.store.operands_)))
    replace_by_block(last.store, scope.block, [])
    for total in totals:
        for old in (total.store, total.op):
            if old.parent is not None:
                old.detach()
                old.erase()


def _beside(
    op: loops.MultiReductionOp, lhs: SSAValue, rhs: SSAValue, width: int, scope: Scope
) -> SSAValue:
    """Emit the sums of the halves of segments, interleaved for two vectors.

    A segment has lanes of `width` vectors, repeated until it is `SEGMENT` lanes long.
    """
    count, half = _lanes_of(lhs), SEGMENT // 2
    type_ = VectorType(op.result.type, [count])
    orders: list[list[int]] = [
        [
            segment + at + vector * count + lane
            for segment in range(0, count, SEGMENT)
            for at in range(side * half, (side + 1) * half, width)
            for vector in range(2)
            for lane in range(width)
        ]
        for side in range(2)
    ]
    parts = [shuffle(lhs, rhs, order, type_, scope) for order in orders]
    return _combined(op, parts[0], parts[1], scope)


@dataclass(frozen=True)
class LowerMultiReductionPass(ModulePass):
    """Lower horizontal reductions to shuffles and a `vector.reduction`, after their loops."""

    name = "lower-multi-reduction"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(self.target)
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                lower_multi_reductions(func, target)

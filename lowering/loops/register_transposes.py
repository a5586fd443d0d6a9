"""Transpose tiles in registers that are loaded along one loop and stored along another.

::

    loops.for %i in (0, 4) {                         %r0 = loops.load %X[%a, 0] : … vector<4xf32>
      loops.for %j in (0, 4) vectorized {            …
        %x = loops.load %X[%a + %j, %i]       ⇒      %r3 = loops.load %X[%a + 3, 0] : …
        loops.store %x, %Y[%i, %j]                   %s = vector.shuffle %r0, %r2 [0, 1, 4, 5]
      }                                              …
    }                                                loops.store %c0, %Y[0, 0]

Rows are loaded whole. In each step, rows `d` apart, where `d` halves from step to step, exchange
the elements whose lanes differ in that bit; after the last step, vectors are columns. Remainders of
a tile beside squares are loaded and stored under masks, with the shuffles that they need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from ...backend.targets.architecture import InstructionSet
from ...dialects import loops
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ..analysis.strides import lane_step
from ..scope import Scope, is_inside
from .lane_analysis import LaneAnalysis
from .shuffled_load import shuffle
from .vector_copy import VectorCopier

MAX_VECTORS = 4
"""The most vectors along each side of a tile, which is fully unrolled."""


@dataclass(frozen=True)
class TransposedTile:
    """A loop around a vectorized one whose iterations are the lanes of `transposed` loads' rows."""

    loop: loops.ForOp
    analysis: LaneAnalysis
    transposed: tuple[loops.LoadOp, ...]
    lanes: int

    def emit(self, scope: Scope) -> None:
        """Emit all iterations of both loops as vectors."""
        inner, outer = self.analysis.loop, self.loop
        first = scope.expr(outer.lower.data, outer.operands_)
        rows, columns, width = _count(outer), _count(inner), self.lanes
        for row in range(0, rows, width):
            for column in range(0, columns, width):
                sides = min(rows - row, width), min(columns - column, width)
                self._emit_square(scope, first + row, column, *sides)

    def _emit_square(
        self, scope: Scope, first: IntExpr, column: int, count: int, lanes: int
    ) -> None:
        """Emit `count` iterations of the outer loop, of `lanes` iterations of the inner one."""
        inner, width = self.analysis.loop, self.lanes
        active = None if lanes == width else IntExpr.of(lanes)
        columns: dict[loops.LoadOp, list[SSAValue]] = {}
        for position in range(count):
            scope.meaning[self.loop.loop_var] = first + position
            base = scope.expr(inner.lower.data, inner.operands_) + column
            copier = _TransposingCopier(scope, self.analysis, width, base, active)
            if not columns:
                columns = {op: copier.columns_of(op, count, lanes) for op in self.transposed}
            copier.known = {op: values[position] for op, values in columns.items()}
            copier.copy_body()


class _TransposingCopier(VectorCopier):
    """Copies a body for its lanes; `known` has the values of some of its loads."""

    known: Mapping[loops.LoadOp, SSAValue]

    def columns_of(self, op: loops.LoadOp, count: int, lanes: int) -> list[SSAValue]:
        """The vectors of a load in `count` iterations of the outer loop, from this one."""
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, type_ = self.scope.value(op.buffer), self.vector_type(op.result.type)
        values = self.scope.values.list
        mask = None if count == self.width else self.mask_of(IntExpr.of(count))
        rows = [
            self.emit(loops.LoadOp(buffer, self.at(indices, lane), values, type_, mask))
            for lane in range(lanes)
        ]
        return transpose(rows, type_, self.scope, count)

    def _copy_load(self, op: loops.LoadOp) -> None:
        if op in self.known:
            self.scope.define(op.result, self.known[op])
        else:
            super()._copy_load(op)


def transposed_tile(op: loops.ForOp, isa: InstructionSet) -> TransposedTile | None:
    """The tile of a loop and the vectorized one in it, if they transpose a buffer."""
    inner = op.body.block.first_op
    if op.kind.data != "serial" or op.inits or not isinstance(inner, loops.ForOp):
        return None
    if inner.kind.data != "vectorized" or inner.inits:
        return None
    if not isinstance(inner.next_op, loops.YieldOp) or any(o.regions for o in inner.body.block.ops):
        return None
    analysis = LaneAnalysis(inner, isa)
    if not analysis.is_vectorizable():
        return None
    lanes = isa.lanes(analysis.bits)
    counts = [loop.extent.data.constant for loop in (op, inner)]
    if lanes < 2 or any(n is None or not 0 < n <= MAX_VECTORS * lanes for n in counts):
        return None
    if not analysis.is_masked_in_memory and any(n is None or n % lanes for n in counts):
        return None
    transposed = tuple(
        load
        for load in inner.body.block.ops
        if isinstance(load, loops.LoadOp)
        and load.buffer not in analysis.stored
        and _is_transposed(load, op, analysis)
    )
    return TransposedTile(op, analysis, transposed, lanes) if transposed else None


def _is_transposed(load: loops.LoadOp, outer: loops.ForOp, analysis: LaneAnalysis) -> bool:
    """Whether a load is contiguous along the outer loop, and strided along the inner one.

    All loads of a tile are made in its first iteration; its indices use no values of the loops.
    """
    loop_vars = outer.loop_var, analysis.loop.loop_var
    if any(is_inside(v, outer) and v not in loop_vars for v in load.operands_):
        return False
    indices = analysis.scope.exprs(exprs_of(load.indices), load.operands_)
    type_ = load.buffer.type
    assert isinstance(type_, BufferType)
    if len(indices) < 2 or load.mask is not None:
        return False
    *others, last = indices
    return (
        lane_step(type_, indices, analysis.scope.values.atom(outer.loop_var)) == ONE
        and analysis.lane not in last.atoms()
        and any(analysis.lane in e.atoms() for e in others)
    )


def _count(loop: loops.ForOp) -> int:
    count = loop.extent.data.constant
    assert count is not None
    return count


def transpose(
    rows: Sequence[SSAValue], type_: VectorType, scope: Scope, count: int | None = None
) -> list[SSAValue]:
    """Emit the first `count` columns, or all, of a square whose size is a power of two.

    If there are fewer rows than lanes, the other elements of a column are undefined.
    """
    (width,) = type_.get_shape()
    found = [*rows, *[rows[0]] * (width - len(rows))]
    needed, steps = set(range(width if count is None else count)), list[tuple[int, set[int]]]()
    for apart in (1 << bit for bit in range((width - 1).bit_length())):
        steps.append((apart, needed))
        needed = needed | {n ^ apart for n in needed}
    for apart, needed in reversed(steps):
        lower = [width + (n ^ apart) if n & apart else n for n in range(width)]
        upper = [width + n if n & apart else n ^ apart for n in range(width)]
        for first in (n for n in range(width) if not n & apart):
            pair = found[first], found[first + apart]
            for n, order in ((first, lower), (first + apart, upper)):
                if n in needed:
                    found[n] = shuffle(*pair, order, type_, scope)
    return found

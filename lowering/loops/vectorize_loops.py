"""`vectorize-loops`: lower vectorized loops to vector operations, with masks for remainders.

::

    loops.for %j in (0, 16) vectorized {              %v = loops.load %X[0] : … -> vector<16xf32>
      %v = loops.load %X[%j] : … -> f32       ⇒       %w = arith.addf %v, %v : vector<16xf32>
      %w = arith.addf %v, %v : f32                    loops.store %w, %Y[0] : …, vector<16xf32>
      loops.store %w, %Y[%j] : …, f32
    }

Accumulations keep partial results in lanes, which are combined at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...backend.targets.architecture import InstructionSet
from ...dialects import loops
from ...dialects.bounds import interval_of, is_non_negative
from ...dialects.int_expr import ZERO, IntExpr, maximum
from ...dialects.nesting import ancestors
from ..analysis.reductions import combiner_of, fastmath_of
from ..scope import Scope, replace_by_block
from .copy_ops import Copier
from .flat_rows import flatten_rows
from .lane_analysis import LaneAnalysis
from .partial_sums import start
from .promote_accumulators import promote_in_vectorized
from .register_transposes import transposed_tile
from .unroll_loops import DEFAULT_LIMIT, unroll_across_rows, unroll_in_vectorized
from .vector_copy import VectorCopier

MAX_STRAIGHT_LINE = 4
"""The most vectors that are emitted without a loop. A loop that accumulates keeps this many vectors
of partial results, so that additions are independent, as long as they take half of the
registers."""


class _Vectorizer:
    """Emits one loop as vectors: `partial` are the vectors of its accumulations."""

    def __init__(self, analysis: LaneAnalysis, scope: Scope):
        self.analysis = analysis
        self.scope = scope
        self.totals = [scope.value(v) for v in analysis.loop.inits]
        self.partial: list[Sequence[SSAValue]] = []
        self.lanes = analysis.isa.lanes(analysis.bits)
        room = analysis.isa.vector_registers // (2 * max(len(self.totals), 1))
        self.together = self.lanes * (1 << min(room, MAX_STRAIGHT_LINE).bit_length() >> 1 or 1)
        """Iterations of a loop that accumulates which run at once."""

    def emit(self, lower: IntExpr, extent: IntExpr) -> Sequence[SSAValue]:
        """Emit the whole loop; returns its carried values."""
        most = self._most(extent)
        if (count := extent.constant) is not None:
            self._emit_constant(lower, count)
        elif most is not None and most <= self.lanes and self._masks():
            self._emit_rest(lower, extent, 1 << max(most - 1, 0).bit_length())
        else:
            extent = extent if is_non_negative(extent) else maximum(ZERO, extent)
            self._emit_symbolic(lower, extent)
        self._reduce()
        return self.totals

    def _most(self, extent: IntExpr) -> int | None:
        """The upper bound of the trip count."""
        span = interval_of(extent, self.scope.ranges)
        return None if span is None else span.upper.constant

    def _masks(self) -> bool:
        """Whether the last vector can be masked."""
        return self.analysis.is_masked_in_memory and not self.analysis.has_gather

    def _emit_constant(self, lower: IntExpr, count: int) -> None:
        if self.totals and count > self.together:
            done = self._emit_full(lower, IntExpr.of(count), self.together).constant
        else:
            done = 0
        assert done is not None
        done += self._emit_full(lower + done, IntExpr.of(count - done), self.lanes).offset
        while rest := count - done:
            above = 1 << (rest - 1).bit_length()
            if above == rest or self.analysis.is_masked_in_memory:
                active = None if above == rest else IntExpr.of(rest)
                self._emit_vector(above, lower + done, active)
                return
            done += above // 2
            self._emit_vector(above // 2, lower + done - above // 2, None)

    def _emit_symbolic(self, lower: IntExpr, extent: IntExpr) -> None:
        if self.totals:
            done = self._emit_full(lower, extent, self.together)
            lower, extent = lower + done, extent % self.together
        done = self._emit_full(lower, extent, self.lanes)
        lower, rest = lower + done, extent % self.lanes
        if self._masks():
            self._emit_rest(lower, rest, self.lanes)
        else:
            self._emit_serial(lower, rest)

    def _emit_full(self, lower: IntExpr, count: IntExpr, width: int) -> IntExpr:
        """Emit full vectors while enough iterations remain; returns the number of iterations."""
        vectors = count // width
        number = vectors.constant
        if number == 0:
            return ZERO
        starts = self._starts(width)
        if number is not None and number <= MAX_STRAIGHT_LINE:
            for position in range(number):
                base = lower + position * width
                starts = VectorCopier(self.scope, self.analysis, width, base).copy_body(starts)
            self.partial.append(starts)
            return vectors * width
        body = Block(arg_types=[IndexType(), *(v.type for v in starts)])
        loop = loops.ForOp(ZERO, vectors, self.scope.values.list, starts, Region(body))
        self.scope.emit(loop)
        base = lower + self.scope.values.expr(body.args[0]) * width
        with self.scope.inside(body):
            copier = VectorCopier(self.scope, self.analysis, width, base)
            self.scope.emit(loops.YieldOp(copier.copy_body(body.args[1:])))
        self.partial.append(loop.carried)
        return vectors * width

    def _emit_vector(self, width: int, base: IntExpr, active: IntExpr | None) -> None:
        starts = self._starts(width)
        guarded = active is None or active.constant is not None or not self.totals
        copier = VectorCopier(self.scope, self.analysis, width, base, active, guarded)
        self.partial.append(copier.copy_body(starts))

    def _emit_rest(self, base: IntExpr, rest: IntExpr, width: int) -> None:
        """Emit at most `width` iterations, maybe none, under a mask."""
        if self.totals:
            self._emit_vector(width, base, rest)
            return
        guard = Block()
        self.scope.emit(loops.IfOp([(ZERO, rest)], self.scope.values.list, Region(guard)))
        with self.scope.inside(guard):
            self._emit_vector(width, base, rest)

    def _emit_serial(self, lower: IntExpr, count: IntExpr) -> None:
        """Emit a scalar loop."""
        self._reduce()
        body = Block(arg_types=[IndexType(), *(v.type for v in self.totals)])
        loop = loops.ForOp(lower, count, self.scope.values.list, self.totals, Region(body))
        self.scope.emit(loop)
        for old, new in zip(self.analysis.loop.body.block.args, body.args, strict=True):
            self.scope.define(old, new)
        with self.scope.inside(body):
            yielded = Copier(self.scope).copy_all(self.analysis.loop.body.block)
            self.scope.emit(loops.YieldOp(yielded))
        self.totals = list(loop.carried)

    def _starts(self, width: int) -> list[SSAValue]:
        return [start(op, width, self.scope) for op in self.analysis.accumulated]

    def _reduce(self) -> None:
        """Combine what the loop carries with all lanes of its partial results."""
        if not self.partial:
            return
        for position, op in enumerate(self.analysis.accumulated):
            total, vectors = self.totals[position], [v[position] for v in self.partial]
            reduced = loops.MultiReductionOp(combiner_of(op), total, vectors, fastmath_of(op))
            self.scope.emit(reduced)
            self.totals[position] = reduced.result
        self.partial = []


def vectorize_loop(op: loops.ForOp, isa: InstructionSet) -> None:
    """Replace a loop by vector operations; make it serial if it is not vectorizable.

    Vectors fill a register of `isa` for the widest elements of the loop. The remainder is one
    vector of fewer lanes, a power of two, masked if it has more lanes than there are iterations; on
    targets without masks, or with gathers, it is scalar.
    """
    analysis = LaneAnalysis(op, isa)
    if not analysis.is_vectorizable():
        op.kind = StringAttr("serial")
        return
    around = Block()
    scope = Scope(around, in_place=True)
    _note_ranges(op, scope)
    lower, extent = scope.exprs([op.lower.data, op.extent.data], op.operands_)
    totals = _Vectorizer(analysis, scope).emit(lower, extent)
    replace_by_block(op, around, totals)


def _note_ranges(op: loops.ForOp, scope: Scope) -> None:
    """Add the ranges of outer loops to the scope."""
    for loop in reversed([p for p in ancestors(op) if isinstance(p, loops.ForOp)]):
        lower, extent = scope.exprs([loop.lower.data, loop.extent.data], loop.operands_)
        scope.define_loop(loop.loop_var, loop.loop_var, lower, extent)


def _transpose_tile(op: loops.ForOp, isa: InstructionSet) -> bool:
    """Replace a loop around a vectorized one if it loads rows and stores columns."""
    tile = transposed_tile(op, isa)
    if tile is None:
        return False
    around = Block()
    scope = Scope(around, in_place=True)
    _note_ranges(op, scope)
    tile.emit(scope)
    replace_by_block(op, around, [])
    return True


def vectorize_loops(block: Block, may_overlap: bool, isa: InstructionSet) -> None:
    """Vectorize the loops in a block, inner ones first; if buffers may overlap, none."""
    for op in list(block.ops):
        if isinstance(op, loops.ForOp) and not may_overlap and _transpose_tile(op, isa):
            continue
        for region in op.regions:
            for inner in region.blocks:
                vectorize_loops(inner, may_overlap, isa)
        if not isinstance(op, loops.ForOp) or op.kind.data != "vectorized":
            continue
        if may_overlap:
            op.kind = StringAttr("serial")
        else:
            vectorize_loop(op, isa)


@dataclass(frozen=True)
class VectorizeLoopsPass(ModulePass):
    """Lower loops of kind ``vectorized`` to operations on vectors of the target's registers.

    A loop that is not vectorizable becomes serial, which is always correct; LLVM may still
    vectorize it. These are loops with loop-carried dependences, with results that are not only
    accumulated (as in argmax), with conditional gathers or scatters, and with `while` loops.
    Buffers over the ends of whose rows lanes run become one row, as `flat_rows` explains. Unrolled
    loops are expanded inside of vectorized ones; those around are left to `unroll-loops`, so that
    an iteration is vectorized once.
    """

    name = "vectorize-loops"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        isa = Target(self.target).isa
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                if func.noalias is not None:
                    flatten_rows(func)
                unroll_across_rows(func, DEFAULT_LIMIT)
                promote_in_vectorized(func)  # before unrolled loops are expanded
                unroll_in_vectorized(func.body.block, DEFAULT_LIMIT, func.sym_name.data)
                promote_in_vectorized(func)
                vectorize_loops(func.body.block, func.noalias is None, isa)

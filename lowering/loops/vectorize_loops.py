"""Vectorized loops become operations on vectors, with masks where not all lanes run.

::

    loops.for %j in (0, 16) vectorized {              %v = loops.load %X[0] : … -> vector<16xf32>
      %v = loops.load %X[%j] : … -> f32       ⇒       %w = arith.addf %v, %v : vector<16xf32>
      %w = arith.addf %v, %v : f32                    loops.store %w, %Y[0] : …, vector<16xf32>
      loops.store %w, %Y[%j] : …, f32
    }
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, VectorType
from xdsl.dialects.vector import BroadcastOp, InsertOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects import loops
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ONE, ZERO, IntExpr, minimum
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from .copy_ops import Copier, bounds_of
from .lane_analysis import LaneAnalysis, is_contiguous
from .scope import Bound, Scope, replace_by_block

MAX_LANES = 64
"""The most lanes of one vector; longer loops run one vector after the other."""

SYMBOLIC_LANES = 16
"""Lanes of a vector where the number of iterations is only known at run time."""


class _VectorCopier(Copier):
    """Copies a loop's body for `width` iterations from `base` on, of which `active` run."""

    def __init__(
        self, scope: Scope, lanes: LaneAnalysis, width: int, base: IntExpr, active: IntExpr | None
    ):
        super().__init__(scope)
        self.analysis = lanes
        self.width = width
        self.base = base
        self.active = active
        self.mask: SSAValue | None = None
        lane = scope.values.expr(lanes.loop.loop_var).as_atom
        assert lane is not None
        self.lane = lane

    def copy_body(self) -> None:
        """Copy the whole loop body."""
        self.mask = None if self.active is None else self._emit_mask(self.active)
        self.copy_all(self.analysis.loop.body.block)

    def _emit_mask(self, active: IntExpr) -> SSAValue:
        mask = loops.MaskOp(active, self.scope.values.list, self.width)
        self.scope.emit(mask)
        return mask.result

    def _at(self, exprs: list[IntExpr], lane: int = 0) -> list[IntExpr]:
        """Expressions in one of the lanes."""
        return [self.scope.simplify(e.substitute({self.lane: self.base + lane})) for e in exprs]

    def _vector(self, old: SSAValue) -> SSAValue:
        value = self.scope.value(old)
        if isinstance(value.type, VectorType):
            return value
        op = BroadcastOp(value, self._vector_type(value.type))
        self.scope.emit(op)
        return op.vector

    def _vector_type(self, element: Attribute) -> VectorType:
        return VectorType(element, [self.width])

    def _lanes_on(self) -> int:
        active = self.width if self.active is None else self.active.constant
        assert active is not None
        return active

    def _copy_load(self, op: loops.LoadOp) -> None:
        if op.result not in self.analysis.varying:
            super()._copy_load(op)
            return
        scope = self.scope
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, type_ = scope.value(op.buffer), self._vector_type(op.result.type)
        if is_contiguous(indices, cast(BufferType, op.buffer.type), self.lane):
            new = loops.LoadOp(buffer, self._at(indices), scope.values.list, type_, self.mask)
            scope.emit(new)
            scope.define(op.result, new.result)
        else:
            scope.define(op.result, self._gather(op, buffer, indices, type_))

    def _gather(
        self, op: loops.LoadOp, buffer: SSAValue, indices: list[IntExpr], type_: VectorType
    ) -> SSAValue:
        """One scalar load for each lane; lanes that are off hold what the first one does."""
        result: SSAValue | None = None
        for lane in range(self._lanes_on()):
            load = loops.LoadOp(
                buffer, self._at(indices, lane), self.scope.values.list, op.result.type
            )
            self.scope.emit(load)
            part = (
                BroadcastOp(load.result, type_)
                if result is None
                else InsertOp(load.result, result, [lane])
            )
            self.scope.emit(part)
            result = part.results[0]
        assert result is not None
        return result

    def _copy_store(self, op: loops.StoreOp) -> None:
        scope = self.scope
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, value = scope.value(op.buffer), self._vector(op.value)
        scope.emit(loops.StoreOp(value, buffer, self._at(indices), scope.values.list, self.mask))

    def _copy_if(self, op: loops.IfOp) -> None:
        uniform: list[Bound] = []
        active = self.active
        for lhs, rhs in bounds_of(op, self.scope):
            split = (lhs - rhs).split_on(self.lane)
            assert split is not None
            if split[0].terms:
                last = self.scope.simplify(-split[1] - self.base)
                active = last if active is None else minimum(active, last)
            else:
                uniform.append((lhs, rhs))
        if active is None or active == self.active:
            self._copy_under(op.body.block, uniform, None)
        else:
            self._copy_under(op.body.block, [*uniform, (ZERO, active)], active)

    def _copy_under(self, body: Block, bounds: list[Bound], active: IntExpr | None) -> None:
        """Copy a body under conditions on all lanes together, with `active` lanes on if given."""
        excess = [(lhs - rhs).constant for lhs, rhs in bounds]
        if any(e is not None and e >= 0 for e in excess):
            return
        left = [b for b, e in zip(bounds, excess, strict=True) if e is None]
        block = self.scope.block
        if left:
            block = Block()
            self.scope.emit(loops.IfOp(left, self.scope.values.list, Region(block)))
        outer = self.active, self.mask
        with self.scope.inside(block):
            if active is not None and not is_non_negative(active - self.width):
                self.active, self.mask = active, self._emit_mask(active)
            self.copy_all(body)
        self.active, self.mask = outer

    def _copy_for(self, op: loops.ForOp) -> None:
        scope, varying = self.scope, self.analysis.varying
        lower, extent = scope.exprs([op.lower.data, op.extent.data], op.operands_)
        pairs = list(zip(op.carry_vars, op.inits, strict=True))
        inits = [self._vector(v) if var in varying else scope.value(v) for var, v in pairs]
        body = Block(arg_types=[IndexType(), *(v.type for v in inits)])
        loop = loops.ForOp(lower, extent, scope.values.list, inits, Region(body), op.kind.data)
        scope.emit(loop)
        for old, new in zip(op.body.block.args, body.args, strict=True):
            scope.define(old, new)
        with scope.inside(body):
            self.copy_all(op.body.block)
            yielded = zip(op.carry_vars, op.yielded, strict=True)
            body.add_op(
                loops.YieldOp(
                    [self._vector(v) if var in varying else scope.value(v) for var, v in yielded]
                )
            )
        for old, new in zip(op.carried, loop.carried, strict=True):
            scope.define(old, new)

    def _copy_other(self, op: Operation) -> None:
        if not any(r in self.analysis.varying for r in op.results):
            super()._copy_other(op)
            return
        new = op.create(
            operands=[self._vector(v) for v in op.operands],
            result_types=[self._vector_type(t) for t in op.result_types],
            properties=op.properties,
            attributes=op.attributes,
        )
        self.scope.emit(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.scope.define(old, result)


def vectorize_loop(op: loops.ForOp) -> None:
    """Replace a loop by operations on vectors; where lanes may not run together make it serial.

    Up to `MAX_LANES` constant iterations are one vector, of a power of two lanes, masked if there
    are fewer iterations. More are several vectors and a masked one. An extent that is not constant
    runs vectors of `SYMBOLIC_LANES`, then the rest: masked, or one by one if the loop gathers.
    """
    analysis = LaneAnalysis(op)
    if not analysis.can_run_together():
        op.kind = StringAttr("serial")
        return
    around = Block()
    scope = Scope(around, in_place=True)
    lower, extent = scope.exprs([op.lower.data, op.extent.data], op.operands_)
    count = extent.constant
    if count is None:
        _emit_symbolic(analysis, scope, lower, extent)
    else:
        width = min(MAX_LANES, 1 << max(count - 1, 0).bit_length())
        _emit_vectors(analysis, scope, lower, IntExpr.of(count // width), width)
        if rest := count % width:
            base = lower + count // width * width
            _VectorCopier(scope, analysis, width, base, IntExpr.of(rest)).copy_body()
    replace_by_block(op, around, [])


def _emit_vectors(
    analysis: LaneAnalysis, scope: Scope, lower: IntExpr, count: IntExpr, width: int
) -> None:
    """Run `count` full vectors."""
    if count == ONE:
        _VectorCopier(scope, analysis, width, lower, None).copy_body()
    elif count.terms:
        body = Block(arg_types=[IndexType()])
        scope.emit(loops.ForOp(ZERO, count, scope.values.list, [], Region(body)))
        base = lower + scope.values.expr(body.args[0]) * width
        with scope.inside(body):
            _VectorCopier(scope, analysis, width, base, None).copy_body()
        body.add_op(loops.YieldOp([]))


def _emit_symbolic(analysis: LaneAnalysis, scope: Scope, lower: IntExpr, extent: IntExpr) -> None:
    width = SYMBOLIC_LANES
    _emit_vectors(analysis, scope, lower, extent // width, width)
    done, rest = extent // width * width, extent % width
    guard = Block()
    bounds = [(ZERO, rest)] if is_non_negative(extent) else [(ZERO, extent), (ZERO, rest)]
    scope.emit(loops.IfOp(bounds, scope.values.list, Region(guard)))
    with scope.inside(guard):
        if not analysis.gathers:
            _VectorCopier(scope, analysis, width, lower + done, rest).copy_body()
            return
        body = Block(arg_types=[IndexType()])
        scope.emit(loops.ForOp(lower + done, rest, scope.values.list, [], Region(body)))
        scope.define(analysis.loop.loop_var, body.args[0])
        with scope.inside(body):
            Copier(scope).copy_all(analysis.loop.body.block)
        body.add_op(loops.YieldOp([]))


def vectorize_loops(block: Block, may_overlap: bool) -> None:
    """Vectorize the loops in a block, inner ones first; if buffers may overlap, none."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                vectorize_loops(inner, may_overlap)
        if not isinstance(op, loops.ForOp) or op.kind.data != "vectorized":
            continue
        if may_overlap:
            op.kind = StringAttr("serial")
        else:
            vectorize_loop(op)


@dataclass(frozen=True)
class VectorizeLoopsPass(ModulePass):
    """Turn loops of kind ``vectorized`` into operations on vectors.

    A loop whose lanes may not or cannot run together becomes serial, which is always right: LLVM's
    own vectorizer gets it as it is. That is so for a reduction over the lanes, an iteration that
    reads what another one writes, comparisons and conversions that `arith` lacks on vectors, and
    control flow on data.
    """

    name = "vectorize-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                vectorize_loops(func.body.block, func.noalias is None)

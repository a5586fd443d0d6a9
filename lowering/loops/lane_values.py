"""Values of a loop's body in lanes: vectors of data and of indices, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects import arith
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    i1,
)
from xdsl.dialects.vector import BroadcastOp, CombiningKindAttr, CombiningKindFlag, InsertOp
from xdsl.dialects.vector import ReductionOp as VectorReductionOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import loops, tir
from ...dialects.int_expr import ZERO, IntExpr
from ..scope import Scope
from .copy_ops import Copier, below_zero
from .lane_analysis import LaneAnalysis
from .shuffled_load import shuffle


@lru_cache(maxsize=1 << 8)
def _vector_type(element: Attribute, lanes: int) -> VectorType:
    return VectorType(element, [lanes])


class LaneValues(Copier):
    """Values of a loop's body in `width` iterations from `base`, of which `active` run.

    `mask` has the active lanes; `None` means all. `guarded` says that at least one is active.
    """

    def __init__(
        self,
        scope: Scope,
        lanes: LaneAnalysis,
        width: int,
        base: IntExpr,
        active: IntExpr | None = None,
        guarded: bool = True,
    ):
        super().__init__(scope)
        self.analysis = lanes
        self.width = width
        self.base = base
        self.active: IntExpr | None = active
        self.mask: SSAValue | None = None
        self.guarded = guarded
        lane = scope.values.atom(lanes.loop.loop_var)
        self.lane = lane

    def vector(self, old: SSAValue) -> SSAValue:
        """The value of an old one in each lane."""
        if isinstance(old.type, IndexType):
            return self.index_vector(self.scope.index(old))
        value = self.scope.value(old)
        return value if isinstance(value.type, VectorType) else self.splat(value)

    def vector_type(self, element: Attribute) -> VectorType:
        """The type of as many elements as there are lanes."""
        return _vector_type(element, self.width)

    def emit(self, op: Operation) -> SSAValue:
        """Emit an operation; returns its first result."""
        self.scope.emit(op)
        return op.results[0]

    def splat(self, value: SSAValue) -> SSAValue:
        """A vector with one value in all lanes."""
        return self.emit(BroadcastOp(value, self.vector_type(value.type)))

    def lanewise(self, name: str, inputs: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """Apply an operation without a vector form to each lane."""
        return self.emit(loops.LanewiseOp(name, inputs, type_))

    def number(self, expr: IntExpr) -> SSAValue:
        """An expression as a value."""
        if (number := expr.constant) is not None:
            return self.emit(ConstantOp(IntegerAttr(number, IndexType())))
        return self.emit(tir.ApplyOp(expr, self.scope.values.list))

    def index_vector(self, expr: IntExpr) -> SSAValue:
        """An index expression in each lane."""
        type_ = self.vector_type(IndexType())
        split = expr.split_on(self.lane)
        factor = None if split is None else split[0].constant
        if factor is None:
            return self.build_vector([self.number(e) for e in self.in_lanes(expr)], type_)
        first = self.splat(self.number(self.at([expr])[0]))
        if not factor:
            return first
        steps = [lane * factor for lane in range(self.width)]
        dense = DenseIntOrFPElementsAttr.from_list(VectorType(IndexType(), [self.width]), steps)
        numbers = self.emit(ConstantOp(dense))
        return self.emit(arith.AddiOp(first, numbers))

    def in_lanes(self, expr: IntExpr) -> list[IntExpr]:
        """An expression in every lane, in order."""
        return [self.at([expr], lane)[0] for lane in range(self.width)]

    def build_vector(self, parts: Sequence[SSAValue], type_: VectorType) -> SSAValue:
        """A vector of values; lanes after the last one hold what the first one does."""
        result = self.emit(BroadcastOp(parts[0], type_))
        for lane, part in enumerate(parts[1:], 1):
            result = self.emit(InsertOp(part, result, [lane]))
        return result

    def at(self, exprs: list[IntExpr], lane: int = 0) -> list[IntExpr]:
        """Expressions in one of the lanes."""
        return [self.scope.simplify(e.substitute({self.lane: self.base + lane})) for e in exprs]

    def mask_of(self, active: IntExpr) -> SSAValue:
        """The mask of the first `active` lanes."""
        return self.emit(loops.MaskOp(active, self.scope.values.list, self.width))

    def inverted(self, mask: SSAValue) -> SSAValue:
        """The complement of a mask."""
        on = self.emit(ConstantOp(IntegerAttr(1, i1)))
        return self.emit(arith.XOrIOp(mask, self.splat(on)))

    def both(self, lhs: SSAValue | None, rhs: SSAValue) -> SSAValue:
        """The conjunction of two masks; `None` means all lanes."""
        return rhs if lhs is None else self.emit(arith.AndIOp(lhs, rhs))

    def spread(self, mask: SSAValue, places: Sequence[int], width: int) -> SSAValue:
        """The mask of `width` elements whose lanes are at `places`; other elements are off."""
        off = self.splat(self.emit(ConstantOp(IntegerAttr(0, i1))))
        order = [places.index(p) if p in places else self.width for p in range(width)]
        return shuffle(mask, off, order, _vector_type(i1, width), self.scope)

    def first_lanes(self, expr: IntExpr) -> IntExpr | None:
        """The number of first lanes in which an expression is below 0, if it grows by lanes."""
        factor, rest = expr.split_on(self.lane) or (ZERO, ZERO)
        step = factor.constant
        if step is None or step <= 0:
            return None
        return self.scope.simplify((-rest + (step - 1)) // step - self.base)

    def negative_lanes(self, expr: IntExpr) -> SSAValue:
        """The lanes in which an expression is below 0."""
        if (first := self.first_lanes(expr)) is not None:
            return self.mask_of(first)
        if (others := self.first_lanes(-expr - 1)) is not None:
            return self.inverted(self.mask_of(others))
        values = self.index_vector(expr), self.index_vector(ZERO)
        predicate = IntegerAttr(arith.CMPI_COMPARISON_OPERATIONS.index("slt"), 64)
        type_ = self.vector_type(i1)
        return self.emit(loops.LanewiseOp("arith.cmpi", values, type_, {"predicate": predicate}))

    def any_lane(self) -> SSAValue:
        """Whether a lane of the mask is active; the mask must not be `None`."""
        assert self.mask is not None
        kind = CombiningKindAttr(CombiningKindFlag.OR)
        return self.emit(
            VectorReductionOp.create(
                operands=[self.mask], result_types=[i1], properties={"kind": kind}
            )
        )

    def compare_indices(self, op: arith.CmpiOp) -> SSAValue | None:
        """The lanes in which one index is smaller than another."""
        found = below_zero(op, self.scope)
        if found is None:
            return None
        difference, holds_below = found
        mask = self.negative_lanes(difference)
        return mask if holds_below else self.inverted(mask)

"""Loads of a loop's body in lanes: vectors, shuffles of vectors, and single elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, SSAValue

from ...dialects import loops
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import ONE, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ..analysis.strides import lane_offsets, lane_step
from .lane_values import LaneValues
from .masked_values import zero
from .shuffled_load import is_near, shuffle, shuffled_load


class LaneLoads(LaneValues):
    """Copies the loads of a loop's body for the iterations of its lanes."""

    def _copy_load(self, op: loops.LoadOp) -> None:
        scope = self.scope
        if op.result not in self.analysis.varying:
            if self.guarded or self._is_always_there(op):
                super()._copy_load(op)
            else:
                self._copy_load_if_any(op)
            return
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, type_ = scope.value(op.buffer), self.vector_type(op.result.type)
        if lane_step(cast(BufferType, op.buffer.type), indices, self.lane) == ONE:
            new = loops.LoadOp(buffer, self.at(indices), scope.values.list, type_, self.mask)
            scope.emit(new)
            scope.define(op.result, new.result)
        else:
            scope.define(op.result, self._load_apart(op, buffer, indices, type_))

    def _is_always_there(self, op: loops.LoadOp) -> bool:
        """Whether a load is valid without active lanes, such as that of a sum in scratch memory."""
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        dims = cast(BufferType, op.buffer.type).dims
        return all(
            (at := index.constant) is not None and 0 <= at < (dim.constant or 0)
            for index, dim in zip(indices, dims, strict=True)
        )

    def _copy_load_if_any(self, op: loops.LoadOp) -> None:
        """Load a uniform element if at least one lane is active."""
        type_ = op.result.type
        choice = scf.IfOp(self.any_lane(), [type_], [Block()], [Block()])
        with self.scope.inside(choice.true_region.block):
            super()._copy_load(op)
            self.scope.emit(scf.YieldOp(self.scope.value(op.result)))
        with self.scope.inside(choice.false_region.block):
            ops = zero(type_)
            for new in ops:
                self.scope.emit(new)
            self.scope.emit(scf.YieldOp(ops[-1].results[0]))
        self.scope.emit(choice)
        self.scope.define(op.result, choice.results[0])

    def _load_apart(
        self, op: loops.LoadOp, buffer: SSAValue, indices: list[IntExpr], type_: VectorType
    ) -> SSAValue:
        """Load lanes that move in no single step: by shuffles of vectors, or one by one."""
        values = self.scope.values.list
        places = [self.at(indices, lane) for lane in range(self.width)]
        offsets = lane_offsets(cast(BufferType, op.buffer.type), places)
        if offsets == [*range(self.width)]:
            return self.emit(loops.LoadOp(buffer, places[0], values, type_, self.mask))
        if self.mask is None and (found := self._load_few(op, buffer, places, type_)) is not None:
            return found
        if offsets is not None and is_near(offsets) and self._masks_apart(op, offsets):
            *outer, first = places[0]

            def load(offset: int, count: int) -> SSAValue:
                part, mask = VectorType(op.result.type, [count]), None
                if self.mask is not None:
                    mask = self.spread(self.mask, [o - offset for o in offsets], count)
                return self.emit(loops.LoadOp(buffer, [*outer, first + offset], values, part, mask))

            is_whole = self.mask is None
            span = self._span(op, places[0], offsets) if is_whole else (min(offsets), max(offsets))
            return shuffled_load(load, offsets, span, type_, self.scope)
        places = places[: self._lanes_on()]
        parts = [self.emit(loops.LoadOp(buffer, place, values, op.result.type)) for place in places]
        return self.build_vector(parts, type_)

    def _load_few(
        self, op: loops.LoadOp, buffer: SSAValue, places: list[list[IntExpr]], type_: VectorType
    ) -> SSAValue | None:
        """Load lanes that are at one place, or at two, such as those of two rows."""
        kinds = list(dict.fromkeys(map(tuple, places)))
        if len(kinds) > min(2, self.width - 1):
            return None
        values = self.scope.values.list
        elements = [self.emit(loops.LoadOp(buffer, at, values, op.result.type)) for at in kinds]
        first, *second = map(self.splat, elements)
        if not second:
            return first
        sides = [kinds.index(tuple(place)) for place in places]
        order = [lane + side * self.width for lane, side in enumerate(sides)]
        return shuffle(first, second[0], order, type_, self.scope)

    def _masks_apart(self, op: loops.LoadOp, offsets: Sequence[int]) -> bool:
        """Whether only active lanes are loaded if vectors that hold all of them are."""
        if self.mask is None:
            return True
        isa = self.analysis.isa
        return isa.masks(8 * byte_width(op.result.type)) and len({*offsets}) == len(offsets)

    def _span(
        self, op: loops.LoadOp, place: Sequence[IntExpr], offsets: Sequence[int]
    ) -> tuple[int, int]:
        """The first and last offset of lanes, here or in loads of elements between them."""
        low, high = min(offsets), max(offsets)
        assert op.parent is not None
        row, steps = cast(BufferType, op.buffer.type), {b - a for a, b in pairwise(offsets)}
        for other in op.parent.ops:
            if not isinstance(other, loops.LoadOp) or other.buffer is not op.buffer:
                continue
            indices = self.scope.exprs(exprs_of(other.indices), other.operands_)
            places = [place, *(self.at(indices, lane) for lane in range(len(offsets)))]
            found = lane_offsets(row, places)
            if found is None or {b - a for a, b in pairwise(found[1:])} != steps:
                continue
            if abs(found[1]) < min(map(abs, steps), default=0):
                low, high = min(low, *found[1:]), max(high, *found[1:])
        return low, high

    def _lanes_on(self) -> int:
        active = self.width if self.active is None else self.active.constant
        assert active is not None
        return active

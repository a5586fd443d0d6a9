"""Copy a loop's body as vector code, with one iteration in each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.dialects.vector import ExtractOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import loops
from ...dialects.bounds import is_non_negative
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import ONE, ZERO, IntExpr, minimum
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ..analysis.strides import lane_offsets, lane_step
from ..scope import Bound
from .copy_ops import bounds_of
from .lane_values import LaneValues
from .masked_values import zero
from .shuffled_load import is_near, shuffle, shuffled_load


class VectorCopier(LaneValues):
    """Copies the operations of a loop's body for the iterations of its lanes."""

    def copy_body(self, carried: Sequence[SSAValue] = ()) -> list[SSAValue]:
        """Copy the whole loop body; returns its yields, `carried` in inactive lanes."""
        self.mask = None if self.active is None else self.mask_of(self.active)
        loop = self.analysis.loop
        for var, value in zip(loop.carry_vars, carried, strict=True):
            self.scope.define(var, value)
        self.copy_all(loop.body.block)
        found = [self.vector(v) for v in loop.yielded]
        if self.mask is None:
            return found
        pairs = zip(found, carried, strict=True)
        return [
            self.lanewise("arith.select", (self.mask, new, old), new.type) for new, old in pairs
        ]

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

    def _copy_store(self, op: loops.StoreOp) -> None:
        scope = self.scope
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, value, values = scope.value(op.buffer), self.vector(op.value), scope.values.list
        if lane_step(cast(BufferType, op.buffer.type), indices, self.lane) == ONE:
            past = op.nontemporal is not None
            scope.emit(loops.StoreOp(value, buffer, self.at(indices), values, self.mask, past))
            return
        for lane in range(self._lanes_on()):
            element = self.emit(ExtractOp(value, [lane], op.value.type))
            scope.emit(loops.StoreOp(element, buffer, self.at(indices, lane), values))

    def _copy_if(self, op: loops.IfOp) -> None:
        uniform: list[Bound] = []
        others: list[IntExpr] = []
        active = self.active
        for lhs, rhs in bounds_of(op, self.scope):
            if self.lane not in (lhs - rhs).atoms():
                uniform.append((lhs, rhs))
            elif (last := self.first_lanes(lhs - rhs)) is not None:
                active = last if active is None else minimum(active, last)
            else:
                others.append(lhs - rhs)
        if active is None or active == self.active:
            self._copy_under(op.body.block, uniform, None, others)
        else:
            self._copy_under(op.body.block, [*uniform, (ZERO, active)], active, others)

    def _copy_under(
        self, body: Block, bounds: list[Bound], active: IntExpr | None, others: list[IntExpr]
    ) -> None:
        """Copy a body under uniform conditions, with `active` lanes if given.

        Lanes in which one of the `others` is not below 0 are inactive too.
        """
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
                mask = self.mask_of(active)
                self.mask = mask if self.guarded else self.both(self.mask, mask)
                self.active = active
            if others:
                masks = [self.negative_lanes(e) for e in others]
                self._copy_masked(masks, lambda: self.copy_all(body))
            else:
                self.copy_all(body)
        self.active, self.mask = outer

    def _copy_masked(self, masks: Sequence[SSAValue], copy: Callable[[], object]) -> None:
        """Copy something for the lanes that are active in all masks; there may be no such lane."""
        outer = self.mask, self.guarded
        self.guarded = False
        for mask in masks:
            self.mask = self.both(self.mask, mask)
        copy()
        self.mask, self.guarded = outer

    def _copy_choice(self, op: scf.IfOp) -> None:
        if not self.analysis.varies(op.cond):
            self._copy_uniform_choice(op)
            return
        condition = self.vector(op.cond)
        sides: list[list[SSAValue]] = []
        for region, holds in ((op.true_region, True), (op.false_region, False)):
            if not region.blocks:
                continue
            needs_mask = any(isinstance(o, loops.LoadOp | loops.StoreOp) for o in region.walk())
            mask = condition if holds or not needs_mask else self.inverted(condition)
            found: list[SSAValue] = []
            self._copy_masked([mask], lambda b=region.block, out=found: out.extend(self._side(b)))
            sides.append(found)
        for result, *values in zip(op.results, *sides, strict=True):
            chosen = self.lanewise("arith.select", (condition, *values), values[0].type)
            self.scope.define(result, chosen)

    def _side(self, block: Block) -> list[SSAValue]:
        """Copy one arm of an `scf.if`; returns its yields in each lane."""
        last = block.last_op
        for op in block.ops:
            if not isinstance(op, scf.YieldOp):
                self.copy(op)
        return [self.vector(v) for v in last.operands] if isinstance(last, scf.YieldOp) else []

    def _copy_uniform_choice(self, op: scf.IfOp) -> None:
        varying = self.analysis.varying
        types = [self.vector_type(r.type) if r in varying else r.type for r in op.results]
        choice = scf.IfOp(
            self.scope.value(op.cond),
            types,
            [Block()],
            [Block()] if op.false_region.blocks else None,
        )
        for old, new in zip(op.regions, choice.regions, strict=True):
            if not old.blocks:
                continue
            last = old.block.last_op
            with self.scope.inside(new.block):
                self._copy_region(Block() if last is None else old.block)
        self.scope.emit(choice)
        for old, new in zip(op.results, choice.results, strict=True):
            self.scope.define(old, new)

    def _copy_yield(self, op: scf.YieldOp) -> None:
        """The end of an arm of an `scf.if` with a uniform condition."""
        parent = op.parent_op()
        assert parent is not None
        pairs = zip(parent.results, op.operands, strict=True)
        varying = self.analysis.varying
        values = [self.vector(v) if r in varying else self.scope.value(v) for r, v in pairs]
        self.scope.emit(scf.YieldOp(*values))

    def _copy_for(self, op: loops.ForOp) -> None:
        scope, varying = self.scope, self.analysis.varying
        lower, extent = scope.exprs([op.lower.data, op.extent.data], op.operands_)
        pairs = list(zip(op.carry_vars, op.inits, strict=True))
        inits = [self.vector(v) if var in varying else scope.value(v) for var, v in pairs]
        body = Block(arg_types=[IndexType(), *(v.type for v in inits)])
        loop = op.like(lower, extent, scope.values.list, inits, Region(body))
        scope.emit(loop)
        for old, new in zip(op.body.block.args, body.args, strict=True):
            scope.define(old, new)
        with scope.inside(body):
            for inner in op.body.block.ops:
                if not isinstance(inner, loops.YieldOp):
                    self.copy(inner)
            yielded = zip(op.carry_vars, op.yielded, strict=True)
            body.add_op(
                loops.YieldOp(
                    [self.vector(v) if var in varying else scope.value(v) for var, v in yielded]
                )
            )
        for old, new in zip(op.carried, loop.carried, strict=True):
            scope.define(old, new)

    def _copy_other(self, op: Operation) -> None:
        if isinstance(op, scf.IfOp):
            self._copy_choice(op)
        elif isinstance(op, scf.YieldOp):
            self._copy_yield(op)
        elif not any(r in self.analysis.varying for r in op.results):
            super()._copy_other(op)
        elif isinstance(op, arith.CmpiOp) and (mask := self.compare_indices(op)) is not None:
            self.scope.define(op.result, mask)
        else:
            self._copy_elementwise(op)

    def _copy_elementwise(self, op: Operation) -> None:
        inputs = [self.vector(v) for v in op.operands]
        types = [self.vector_type(t) for t in op.result_types]
        if op.name in loops.LANEWISE:
            none = arith.FastMathFlagsAttr("none")
            options = {k: v for k, v in op.properties.items() if v != none}
            new: Operation = loops.LanewiseOp(op.name, inputs, types[0], options)
        else:
            new = op.create(
                operands=inputs,
                result_types=types,
                properties=op.properties,
                attributes=op.attributes,
            )
        self.scope.emit(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.scope.define(old, result)

"""Copy a loop's body as vector code, with one iteration in each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.vector import ExtractOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import loops
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ONE, ZERO, IntExpr, minimum
from ...dialects.sym import exprs_of
from ...dialects.tir.types import BufferType
from ..analysis.strides import lane_step
from ..scope import Bound
from .copy_ops import bounds_of
from .lane_loads import LaneLoads


class VectorCopier(LaneLoads):
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

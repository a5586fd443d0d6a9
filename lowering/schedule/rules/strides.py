"""How far in memory the accesses of a block move with each of the loops around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import operations_in
from ....dialects.sym import exprs_of
from ...scope import Scope, index_constant


@dataclass
class Strides:
    """The accesses of a block outside of its initialisation, over the loops around it."""

    block: tir.BlockOp
    stores: list[tir.StoreOp] = field(default_factory=lambda: [])
    loads: list[tir.LoadOp] = field(default_factory=lambda: [])
    scope: Scope = field(default_factory=lambda: Scope(Block(), in_place=True))
    offsets: dict[Operation, IntExpr] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        block, scope = self.block, self.scope
        numbering = block.numbering()
        for var, binding in zip(block.axis_vars, exprs_of(block.bindings), strict=True):
            scope.meaning[var] = scope.expr(binding, numbering)
        for op in operations_in(block):
            if op is block or isinstance(op.parent_op(), tir.InitOp):
                continue
            if isinstance(op, tir.ApplyOp):
                scope.meaning[op.result] = scope.expr(op.expr.data, op.operands)
            elif isinstance(op, ConstantOp) and (number := index_constant(op)) is not None:
                scope.meaning[op.result] = IntExpr.of(number)
            elif isinstance(op, tir.LoadOp | tir.StoreOp):
                self._note(op)

    def _note(self, op: tir.LoadOp | tir.StoreOp) -> None:
        type_ = op.buffer.type
        assert isinstance(type_, tir.BufferType)
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        self.offsets[op] = type_.linear_index(indices)
        if isinstance(op, tir.LoadOp):
            self.loads.append(op)
        else:
            self.stores.append(op)

    def step(self, access: tir.LoadOp | tir.StoreOp, loop: tir.ForOp) -> IntExpr | None:
        """Elements from one iteration of the loop to the next; `None` where that differs."""
        offset = self.offsets[access]
        atom = self.scope.values.expr(loop.loop_var).as_atom
        assert atom is not None
        for i in offset.args():
            if self._changes(self.scope.values.list[i], loop):
                return None
        return offset.coefficient_of(atom)

    def _changes(self, value: SSAValue, loop: tir.ForOp) -> bool:
        """Whether a value that is computed in the block differs between a loop's iterations."""
        op = value.owner
        if isinstance(op, Block):
            return False
        if isinstance(op, tir.LoadOp) and op in self.offsets:
            step = self.step(op, loop)
            return step is None or bool(step.terms)
        operands = [v for v in op.operands if not isinstance(v.type, tir.BufferType)]
        return bool(op.regions) or any(
            self._varies(self.scope.index(v), loop)
            if isinstance(v.type, IndexType)
            else self._changes(v, loop)
            for v in operands
        )

    def _varies(self, expr: IntExpr, loop: tir.ForOp) -> bool:
        values = self.scope.values.list
        return any(
            values[i] is loop.loop_var or self._changes(values[i], loop) for i in expr.args()
        )

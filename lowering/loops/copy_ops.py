"""Copies of loop code with index values replaced by expressions and unrolled loops expanded.

Comparisons that are decided then are folded, and with them what they choose between.
"""

from __future__ import annotations

from operator import eq, ge, gt, le, lt, ne

from xdsl.dialects import arith, scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import BoolAttr, IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import loops, tir
from ...dialects.int_expr import IntExpr
from ...dialects.sym import exprs_of
from ..scope import Bound, Scope, index_constant, rebuild


class Copier:
    """Copies operations into `scope.block`, with the expressions that `scope` has for values."""

    def __init__(self, scope: Scope, unroll_limit: int = 0):
        self.scope = scope
        self.unroll_limit = unroll_limit
        self.decided: dict[SSAValue, bool] = {}

    def copy_all(self, block: Block) -> list[SSAValue]:
        """Copy a block's operations; returns the values that it yields, if it is a loop's."""
        for op in block.ops:
            if isinstance(op, loops.YieldOp):
                return [self.scope.value(v) for v in op.values]
            self.copy(op)
        return []

    def copy(self, op: Operation) -> None:
        """Copy one operation, with its source location."""
        outer = self.scope.follow(op)
        self._copy(op)
        self.scope.location = outer

    def _copy(self, op: Operation) -> None:
        match op:
            case loops.ForOp():
                self._copy_for(op)
            case loops.IfOp():
                self._copy_if(op)
            case loops.LoadOp():
                self._copy_load(op)
            case loops.StoreOp():
                self._copy_store(op)
            case loops.MaskOp():
                active = self.scope.expr(op.active.data, op.operands)
                lanes = op.result.type.get_shape()[0]
                mask = loops.MaskOp(active, self.scope.values.list, lanes)
                self.scope.emit(mask)
                self.scope.define(op.result, mask.result)
            case tir.ApplyOp():
                self.scope.meaning[op.result] = self.scope.expr(op.expr.data, op.operands)
            case ConstantOp() if (number := index_constant(op)) is not None:
                self.scope.meaning[op.result] = IntExpr.of(number)
            case arith.CmpiOp() if (holds := self._decide(op)) is not None:
                self.decided[op.result] = holds
                constant = ConstantOp(BoolAttr(holds, op.result.type))
                self.scope.emit(constant)
                self.scope.define(op.result, constant.result)
            case scf.IfOp() if op.cond in self.decided:
                self._copy_branch(op, op.true_region if self.decided[op.cond] else op.false_region)
            case arith.SelectOp() if op.cond in self.decided:
                self._stand_for(
                    op.result, self.scope.value(op.lhs if self.decided[op.cond] else op.rhs)
                )
            case _:
                self._copy_other(op)

    def _decide(self, op: arith.CmpiOp) -> bool | None:
        """Whether a comparison of indices holds; `None` if that is not known."""
        if not isinstance(op.lhs.type, IndexType):
            return None
        test = _SIGNED.get(arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data])
        difference = (self.scope.index(op.lhs) - self.scope.index(op.rhs)).constant
        return None if test is None or difference is None else test(difference, 0)

    def _copy_branch(self, op: scf.IfOp, region: Region) -> None:
        """Copy the branch of a conditional that is taken."""
        if not region.blocks:
            return
        *body, last = region.block.ops
        for inner in body:
            self.copy(inner)
        for old, new in zip(op.results, last.operands, strict=True):
            self._stand_for(old, self.scope.value(new))

    def unroll(self, op: loops.ForOp, lower: IntExpr, count: int) -> list[SSAValue]:
        """Copy the body `count` times, for consecutive values of the loop variable."""
        carried = [self.scope.value(v) for v in op.inits]
        for position in range(count):
            self.scope.meaning[op.loop_var] = lower + position
            for var, value in zip(op.carry_vars, carried, strict=True):
                self._stand_for(var, value)
            carried = self.copy_all(op.body.block)
        return carried

    def _stand_for(self, old: SSAValue, new: SSAValue) -> None:
        if isinstance(old.type, IndexType):
            self.scope.meaning[old] = self.scope.values.expr(new)
        else:
            self.scope.data[old] = new

    def _copy_for(self, op: loops.ForOp) -> None:
        scope = self.scope
        lower, extent = scope.exprs([op.lower.data, op.extent.data], op.operands_)
        count = extent.constant
        most = self.unroll_limit if op.kind.data == "unrolled" else 0
        if count is not None and count <= most:  # where none, carried values are unchanged
            for old, new in zip(op.carried, self.unroll(op, lower, count), strict=True):
                self._stand_for(old, new)
            return
        inits = [scope.value(v) for v in op.inits]
        body = Block(arg_types=op.body.block.arg_types)
        loop = op.like(lower, extent, scope.values.list, inits, Region(body))
        scope.emit(loop)
        for old, new in zip(op.body.block.args, body.args, strict=True):
            scope.define(old, new)
        with scope.inside(body):
            body.add_op(loops.YieldOp(self.copy_all(op.body.block)))
        for old, new in zip(op.carried, loop.carried, strict=True):
            scope.define(old, new)

    def _copy_if(self, op: loops.IfOp) -> None:
        bounds = bounds_of(op, self.scope)
        excess = [(b[0] - b[1]).constant for b in bounds]
        if any(e is not None and e >= 0 for e in excess):
            return
        left = [b for b, e in zip(bounds, excess, strict=True) if e is None]
        if not left:
            self.copy_all(op.body.block)
            return
        body = Block()
        self.scope.emit(loops.IfOp(left, self.scope.values.list, Region(body)))
        with self.scope.inside(body):
            self.copy_all(op.body.block)

    def _copy_load(self, op: loops.LoadOp) -> None:
        scope = self.scope
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        mask = None if op.mask is None else scope.value(op.mask)
        new = loops.LoadOp(scope.value(op.buffer), indices, scope.values.list, op.result.type, mask)
        scope.emit(new)
        scope.define(op.result, new.result)

    def _copy_store(self, op: loops.StoreOp) -> None:
        scope = self.scope
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        mask = None if op.mask is None else scope.value(op.mask)
        value, buffer = scope.value(op.value), scope.value(op.buffer)
        values, past = scope.values.list, op.nontemporal is not None
        scope.emit(loops.StoreOp(value, buffer, indices, values, mask, past))

    def _copy_other(self, op: Operation) -> None:
        rebuild(op, self.scope, self._copy_region)

    def _copy_region(self, block: Block) -> None:
        for op in block.ops:
            self.copy(op)


def bounds_of(op: loops.IfOp, scope: Scope) -> list[Bound]:
    """The bounds of a condition over new values."""
    pairs = [(b.lhs.data, b.rhs.data) for b in op.bounds.data]
    return [(scope.expr(lhs, op.operands_), scope.expr(rhs, op.operands_)) for lhs, rhs in pairs]


_SIGNED = {"eq": eq, "ne": ne, "slt": lt, "sle": le, "sgt": gt, "sge": ge}
"""Comparisons that the difference of two indices decides."""

_FORMS = {
    arith.CMPI_COMPARISON_OPERATIONS.index(name): (shift, holds_below)
    for name, shift, holds_below in (
        ("slt", 0, True),
        ("sle", -1, True),
        ("sge", 0, False),
        ("sgt", -1, False),
    )
}
"""By comparison, the number to add to ``lhs - rhs``, and whether it holds if that is below 0."""


def below_zero(op: arith.CmpiOp, scope: Scope) -> tuple[IntExpr, bool] | None:
    """An expression, and whether a comparison holds if and only if that is below 0.

    Otherwise it holds if and only if the expression is not below 0. `None` for data, and for
    comparisons other than ``<``, ``<=``, ``>``, ``>=``.
    """
    form = _FORMS.get(op.predicate.value.data)
    if form is None or not isinstance(op.lhs.type, IndexType):
        return None
    shift, holds_below = form
    return scope.index(op.lhs) - scope.index(op.rhs) + shift, holds_below

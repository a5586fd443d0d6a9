"""Remove conditions from loops: hoist invariant ones, and shrink extents by others.

::

    loops.for %k in (0, 16) {                       loops.if (%i < n) {
      loops.if (%i < n, %b * 16 + %k < m) {   ⇒       loops.for %k in (0, min(16, m - %b * 16)) {
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Region, SSAValue

from ...dialects import loops
from ...dialects.int_expr import ONE, ZERO, Atom, Compound, IntExpr, minimum
from ...dialects.sym import ExprAttr, Values, pack
from ...dialects.tir import BoundAttr
from ..scope import Bound, is_inside


def tighten_bounds(block: Block) -> None:
    """Remove conditions from the loops in a block, inner ones first.

    Only conditions around the whole body can be removed. Serial loops then run fewer iterations,
    and so do vectorized ones that only accumulate. Other loops keep their extent, which determines
    their distribution, and lose only invariant conditions. A negative extent, which only symbols
    can have, means no iterations.
    """
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                tighten_bounds(inner)
        if isinstance(op, loops.ForOp):
            _tighten_loop(op)
        elif isinstance(op, loops.IfOp):
            _merge_conditions(op)


def _merge_conditions(op: loops.IfOp) -> None:
    """Merge a condition with another one around its whole body."""
    inner = op.body.block.first_op
    if not isinstance(inner, loops.IfOp) or inner.next_op is not None:
        return
    values = Values()
    bounds = [
        (values.rebase(b.lhs.data, c.operands_), values.rebase(b.rhs.data, c.operands_))
        for c in (op, inner)
        for b in c.bounds.data
    ]
    _inline(inner)
    _set_bounds(op, bounds, values.list)


def _tighten_loop(op: loops.ForOp) -> None:
    condition = op.body.block.first_op
    if not isinstance(condition, loops.IfOp) or not isinstance(condition.next_op, loops.YieldOp):
        return
    if op.inits:
        return
    values = Values()
    var = values.expr(op.loop_var)
    lower = values.rebase(op.lower.data, op.operands_)
    extent = values.rebase(op.extent.data, op.operands_)
    outside: list[Bound] = []
    left: list[Bound] = []
    for attribute in condition.bounds.data:
        bound = (
            values.rebase(attribute.lhs.data, condition.operands_),
            values.rebase(attribute.rhs.data, condition.operands_),
        )
        limit = _limit(bound, var, op, values.list)
        if limit is None:
            left.append(bound)
        elif isinstance(limit, IntExpr):
            extent = minimum(extent, limit - lower)
        else:
            outside.append(limit)
    if len(left) == len(condition.bounds.data):
        return
    if (extent.constant or 0) < 0:
        extent = ZERO
    _rebuild(op, condition, lower, extent, outside, left, values.list)


def _limit(
    bound: Bound, var: IntExpr, loop: loops.ForOp, values: list[SSAValue]
) -> IntExpr | Bound | None:
    """The end that a bound implies for the loop variable, or the bound if it is invariant."""
    atom = var.as_atom
    assert atom is not None
    split = (bound[0] - bound[1]).split_on(atom)
    if split is None or not is_known_before(split[1], loop, values):
        return None
    if not split[0].terms:
        return bound
    if split[0] == ONE and (loop.kind.data == "serial" or _accumulates(loop)):
        return -split[1]
    return None


def _accumulates(loop: loops.ForOp) -> bool:
    """Whether a vectorized loop stores to the same elements in all iterations."""
    if loop.kind.data != "vectorized":
        return False
    stores = [op for op in loop.walk() if isinstance(op, loops.StoreOp)]
    return not any(
        is_inside(index, loop) for store in stores for index in (store.buffer, *store.operands_)
    )


def is_known_before(expr: IntExpr, loop: loops.ForOp, values: list[SSAValue]) -> bool:
    """Whether the expression can be computed before the loop, even if it has no iterations."""
    if any(is_inside(values[i], loop) for i in expr.args()):
        return False
    return all(_never_divides_by_zero(a) for monomial, _ in expr.terms for a in monomial)


def _never_divides_by_zero(atom: Atom) -> bool:
    if not isinstance(atom, Compound):
        return True
    if atom.op in ("floordiv", "mod") and not atom.rhs.constant:
        return False
    return all(
        _never_divides_by_zero(a) for e in (atom.lhs, atom.rhs) for m, _ in e.terms for a in m
    )


def _rebuild(
    op: loops.ForOp,
    condition: loops.IfOp,
    lower: IntExpr,
    extent: IntExpr,
    outside: list[Bound],
    left: list[Bound],
    values: list[SSAValue],
) -> None:
    if left:
        _set_bounds(condition, left, values)
    else:
        _inline(condition)
    loop = op.like(lower, extent, values, [], op.detach_region(op.body))
    block = op.parent
    assert block is not None
    if outside:
        guard = loops.IfOp(outside, values, Region(Block([loop])))
        block.insert_op_before(guard, op)
    else:
        block.insert_op_before(loop, op)
    op.detach()
    op.erase()


def _set_bounds(condition: loops.IfOp, bounds: list[Bound], values: list[SSAValue]) -> None:
    operands, packed = pack([e for b in bounds for e in b], values)
    pairs = zip(packed[::2], packed[1::2], strict=True)
    condition.bounds = ArrayAttr([BoundAttr(ExprAttr(a), ExprAttr(b)) for a, b in pairs])
    condition.operands = operands


def _inline(condition: loops.IfOp) -> None:
    block = condition.parent
    assert block is not None
    for inner in list(condition.body.block.ops):
        inner.detach()
        block.insert_op_before(inner, condition)
    condition.detach()
    condition.erase()

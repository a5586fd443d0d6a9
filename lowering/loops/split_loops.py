"""`split-loops`: split a loop where a condition on its variable changes.

::

    loops.for %i in (0, n) {                       loops.for %i in (0, max(0, min(m, n))) {
      %c = arith.cmpi slt, %i, %m                    A
      scf.if %c { A } else { B }           ⇒       }
    }                                              loops.for %i in (max(0, min(m, n)), …) {
                                                     B
                                                   }

A conjunction is split where each part changes. The loops can be vectorized, which a condition in
each iteration would prevent. A vectorized loop is split if it is long, and only one of the branches
calls a function such as ``exp``: its vectors are then computed for the iterations that need them,
without masks.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects import loops, tir
from ...dialects.int_expr import ONE, ZERO, IntExpr, maximum, minimum
from ...dialects.nesting import operations_in
from ..scope import Scope, index_constant
from .copy_ops import below_zero
from .tighten_bounds import is_known_before

MAX_PARTS = 8
"""The most loops that one loop is split into."""

FEWEST_LANES = 128
"""The fewest iterations of a vectorized loop that is split: each part has a remainder."""

MAX_OPERATIONS = 64
"""Loops with more operations in their body are not split: each part repeats it."""


@dataclass(frozen=True)
class _Choice:
    """An `scf.if` in a loop whose first branch is taken only below `limit`, or only from there.

    With `other`, which is an operand of a conjunction, it is taken there if that holds too.
    """

    position: int
    limit: IntExpr
    values: list[SSAValue]
    holds_below: bool
    other: int | None


def split_loops(block: Block) -> None:
    """Split the loops in a block, inner ones first."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                split_loops(inner)
        if isinstance(op, loops.ForOp):
            _split(op, MAX_PARTS)


def _split(loop: loops.ForOp, parts: int) -> int:
    """Split a loop into at most `parts` loops; returns their number."""
    if parts < 2 or loop.kind.data not in ("serial", "vectorized") or loop.inits:
        return 1
    if sum(1 for _ in operations_in(loop)) > MAX_OPERATIONS:
        return 1
    choice = _first_choice(loop)
    if choice is None:
        return 1
    scope = Scope(Block(), in_place=True)
    limit = scope.expr(choice.limit, choice.values)
    lower, extent = scope.exprs([loop.lower.data, loop.extent.data], loop.operands_)
    middle, values = maximum(lower, minimum(limit, lower + extent)), scope.values.list
    copy = loop.clone()
    first = _part(copy, choice, choice.holds_below, lower, middle - lower, values)
    second = _part(loop, choice, not choice.holds_below, middle, lower + extent - middle, values)
    block = loop.parent
    assert block is not None
    block.insert_ops_before([first, second], loop)
    loop.detach()
    loop.erase()
    copy.erase()
    made = _split(first, parts - 1)
    return made + _split(second, parts - made)


def _first_choice(loop: loops.ForOp) -> _Choice | None:
    """The first `scf.if` of the body whose condition divides the iterations into two ranges."""
    scope, is_vectorized = Scope(Block(), in_place=True), loop.kind.data == "vectorized"
    if is_vectorized and (loop.extent.data.constant or FEWEST_LANES) < FEWEST_LANES:
        return None
    for position, op in enumerate(loop.body.block.ops):
        match op:
            case tir.ApplyOp():
                scope.meaning[op.result] = scope.expr(op.expr.data, op.operands)
            case arith.ConstantOp() if (number := index_constant(op)) is not None:
                scope.meaning[op.result] = IntExpr.of(number)
            case scf.IfOp() if (found := _limit(op, loop, scope)) is not None:
                if is_vectorized and not _is_uneven(op):
                    continue
                limit, holds_below, other = found
                return _Choice(position, limit, scope.values.list, holds_below, other)
            case _:
                pass
    return None


def _is_uneven(op: scf.IfOp) -> bool:
    """Whether one branch calls functions, and the other does not."""
    calls = [any(o.name.startswith("math.") for o in region.walk()) for region in op.regions]
    return calls[0] != calls[1]


def _limit(
    op: scf.IfOp, loop: loops.ForOp, scope: Scope
) -> tuple[IntExpr, bool, int | None] | None:
    """The limit at which the condition, or a part of it, changes, and whether it holds below.

    Last is the number of the other part.
    """
    test = op.cond.owner
    parts = list(enumerate(test.operands)) if isinstance(test, arith.AndIOp) else [(None, op.cond)]
    for number, part in parts:
        if (found := _limit_of(part, loop, scope)) is not None:
            return *found, None if number is None else 1 - number
    return None


def _limit_of(condition: SSAValue, loop: loops.ForOp, scope: Scope) -> tuple[IntExpr, bool] | None:
    test = condition.owner
    found = below_zero(test, scope) if isinstance(test, arith.CmpiOp) else None
    if found is None:
        return None
    difference, holds_below = found
    atom = scope.values.atom(loop.loop_var)
    factor, rest = difference.split_on(atom) or (ZERO, ZERO)
    if factor not in (ONE, -ONE) or not is_known_before(rest, loop, scope.values.list):
        return None
    # Below 0 is ``var < -rest``, or ``var >= rest + 1`` where the variable is subtracted.
    return (-rest, holds_below) if factor == ONE else (rest + 1, not holds_below)


def _part(
    loop: loops.ForOp,
    choice: _Choice,
    holds: bool,
    lower: IntExpr,
    extent: IntExpr,
    values: list[SSAValue],
) -> loops.ForOp:
    """The loop over a part of the iterations, in all of which the condition holds or does not."""
    body = loop.body.block
    op = list(body.ops)[choice.position]
    assert isinstance(op, scf.IfOp)
    test = op.cond.owner
    assert isinstance(test, Operation)
    if holds and choice.other is not None:
        op.operands[0] = test.operands[choice.other]
        _erase_unused(test)
        return loop.like(lower, extent, values, [], loop.detach_region(loop.body))
    results = _inline(op.true_region if holds else op.false_region, op)
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    _erase_unused(test)
    return loop.like(lower, extent, values, [], loop.detach_region(loop.body))


def _inline(region: Region, before: Operation) -> list[SSAValue]:
    """Move the operations of a region before an operation; returns what they yield."""
    block = before.parent
    assert block is not None
    if not region.blocks:
        return []
    for op in list(region.block.ops):
        op.detach()
        if isinstance(op, scf.YieldOp):
            results = list(op.operands)
            op.erase()
            return results
        block.insert_op_before(op, before)
    return []


def _erase_unused(op: Operation) -> None:
    """Erase an unused comparison, and indices that only it used."""
    if not isinstance(op, arith.AndIOp | arith.CmpiOp | arith.ConstantOp | tir.ApplyOp):
        return
    if op.parent is None or any(r.first_use is not None for r in op.results):
        return  # erased before, as an operand of another one, or used
    owners = [operand.owner for operand in op.operands]
    op.detach()
    op.erase()
    for owner in owners:
        if isinstance(owner, Operation):
            _erase_unused(owner)


@dataclass(frozen=True)
class SplitLoopsPass(ModulePass):
    """Split serial loops where a condition on their variable changes."""

    name = "split-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                split_loops(func.body.block)

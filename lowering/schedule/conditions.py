"""Analyze the conditions of `scf.if` on indices, and fold those that are decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, Ranges, interval_of, is_non_negative
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import Values
from ...dialects.tir.conditions import conjuncts, facts_in_arm
from ...dialects.tir.ranges import ranges_of
from .blocks import ScheduleError
from .regions import refresh_around, refresh_regions


def facts_at(op: Operation, values: Values) -> list[IntExpr]:
    """Expressions over `values` that are at least 0 by the conditions around an operation."""
    found: list[IntExpr] = []
    block = op.parent
    while block is not None and (parent := block.parent_op()) is not None:
        if isinstance(parent, scf.IfOp):
            arm = [r.block for r in parent.regions if r.blocks].index(block)
            found += facts_in_arm(conjuncts(parent.cond, values), arm)
        block = parent.parent
    return found


def taken_arm(
    excesses: Sequence[IntExpr] | None, ranges: Ranges, facts: Iterable[IntExpr] = ()
) -> int | None:
    """The arm that an `scf.if` always takes, if ranges or one of the facts alone decide it."""
    if excesses is None:
        return None
    known = [ZERO, *facts]

    def holds(expr: IntExpr) -> bool:
        return any(_is_at_least_0(interval_of(expr - fact, ranges)) for fact in known)

    if any(holds(-e - 1) for e in excesses):
        return 1
    return 0 if all(map(holds, excesses)) else None


def _is_at_least_0(span: Interval | None) -> bool:
    return span is not None and is_non_negative(span.lower)


def yielded(choice: scf.IfOp, arm: int) -> SSAValue:
    """The value that an `scf.if` yields if its condition holds (arm 0) or not (arm 1)."""
    last = choice.regions[arm].block.last_op
    assert last is not None
    return last.operands[0]


def fold_if(choice: scf.IfOp, arm: int) -> None:
    """Replace an `scf.if` of one value by one of its arms."""
    value, block = yielded(choice, arm), choice.parent
    assert block is not None
    for op in list(choice.regions[arm].block.ops)[:-1]:
        op.detach()
        block.insert_op_before(op, choice)
    choice.results[0].replace_all_uses_with(value)
    erase_unused(choice)


def erase_unused(op: Operation) -> None:
    """Erase an unused operation, and operations that only it used."""
    operands = [v.owner for v in op.operands]
    op.detach()
    op.erase()
    for owner in dict.fromkeys(operands):
        if isinstance(owner, Operation) and not any(r.uses for r in owner.results):
            erase_unused(owner)


def choices_of(block: tir.BlockOp) -> list[scf.IfOp]:
    """Each `scf.if` of one result in a block."""
    return [
        op
        for op in operations_in(block)
        if isinstance(op, scf.IfOp) and len(op.results) == 1 and op.parent is block.body.block
    ]


def folded_conditions(block: tir.BlockOp) -> list[tuple[scf.IfOp, int]]:
    """Each `scf.if` that the ranges of axes and loops decide, and the arm taken."""
    found: list[tuple[scf.IfOp, int]] = []
    for choice in choices_of(block):
        values = Values()
        arm = taken_arm(conjuncts(choice.cond, values), ranges_of(values.list))
        if arm is not None:
            found.append((choice, arm))
    return found


def fold_conditions(block: tir.BlockOp) -> None:
    """Fold each `scf.if` whose condition is the same for all values of the block's axes.

    ::

        block "Y" (v: (1, n)):                               block "Y" (v: (1, n)):
          Y[v] = X[v - 1] if 1 <= v else 0       ⇒             Y[v] = X[v - 1]

    TVM does so in its pass ``Simplify``. Raises ScheduleError if there is none.
    """
    found = folded_conditions(block)
    if not found:
        raise ScheduleError(
            f"expected a condition of block '{block.block_name.data}' that the ranges of its axes "
            "decide",
            block,
        )
    for choice, arm in found:
        fold_if(choice, arm)
    refresh_regions(block)
    refresh_around([block])

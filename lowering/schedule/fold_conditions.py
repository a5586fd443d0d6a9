"""`fold_conditions`: fold conditions that the ranges of a block's axes decide.

::

    block "Y" (v: (1, n)):                                   block "Y" (v: (1, n)):
      Y[v] = X[v - 1] if 1 <= v else 0       ⇒                 Y[v] = X[v - 1]
"""

from __future__ import annotations

from xdsl.dialects import scf

from ...dialects import tir
from ...dialects.nesting import operations_in
from ...dialects.sym import Values
from .blocks import ScheduleError
from .conditions import conjuncts, fold_if, taken_arm
from .copy_scalars import ranges_of_values
from .regions import refresh_around, refresh_regions


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
        arm = taken_arm(conjuncts(choice.cond, values), ranges_of_values(values))
        if arm is not None:
            found.append((choice, arm))
    return found


def fold_conditions(block: tir.BlockOp) -> None:
    """Fold each `scf.if` whose condition is the same for all values of the block's axes.

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

"""`fold_conditions`: choices that the ranges of a block's axes decide are made.

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
    """The choices that a block makes of one value."""
    return [
        op
        for op in operations_in(block)
        if isinstance(op, scf.IfOp) and len(op.results) == 1 and op.parent is block.body.block
    ]


def folded_conditions(block: tir.BlockOp) -> list[tuple[scf.IfOp, int]]:
    """The choices that the ranges of axes and loops decide, and the number of the arm taken."""
    found: list[tuple[scf.IfOp, int]] = []
    for choice in choices_of(block):
        values = Values()
        arm = taken_arm(conjuncts(choice.cond, values), ranges_of_values(values))
        if arm is not None:
            found.append((choice, arm))
    return found


def fold_conditions(block: tir.BlockOp) -> None:
    """Take the arms of choices that are the same for all values of the block's axes.

    TVM does so in its pass ``Simplify``. Raises ScheduleError where there is no such choice.
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

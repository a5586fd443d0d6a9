"""Whether the axes of a block take all values of their ranges: a block may run for a part of them.

What makes loops of its own for a block, over the ranges of its axes, asks for all of them.
"""

from __future__ import annotations

from math import gcd

from ..bounds import Interval
from ..int_expr import IntExpr
from .block import BlockOp
from .ranges import operand_ranges, range_of, surely_less
from .verify_access import range_text


def uncovered_axis(op: BlockOp) -> str | None:
    """Why an axis surely does not take all values of its range, `None` where they all may."""
    if any(axis.extent.data.constant == 0 for axis in op.axes.data):
        return None  # there is nothing to run for
    ranges = operand_ranges(op)
    for position, (axis, binding) in enumerate(zip(op.axes.data, op.bindings.data, strict=True)):
        covered = range_of(binding.data, ranges)
        wanted = Interval.range(axis.min.data, axis.extent.data)
        if covered is not None and not _covers(binding.data, covered, wanted):
            name = op.axis_vars[position].name_hint or f"axis {position}"
            return (
                f"axis '{name}' does not cover its range {range_text(wanted)}: "
                f"its binding takes values in {range_text(covered)}{_stride_text(binding.data)}"
            )
    return None


def _covers(binding: IntExpr, covered: Interval, wanted: Interval) -> bool:
    """Whether the values that the binding takes can be the whole range; `covered` is their hull."""
    if surely_less(wanted.lower, covered.lower) or surely_less(covered.upper, wanted.upper):
        return False
    size = wanted.extent.constant
    return size is None or size <= 1 or stride(binding) == 1


def stride(index: IntExpr) -> int:
    """A number that all differences of an index's values are multiples of."""
    steps = [coefficient for monomial, coefficient in index.terms if monomial]
    return gcd(*steps) if steps else 1


def _stride_text(binding: IntExpr) -> str:
    step = stride(binding)
    return "" if step == 1 else f" in steps of {step}"

"""Rules on ranges: accesses are in bounds, and axes take all their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..bounds import Interval, is_less, is_non_negative
from ..int_expr import ONE, ZERO, Arg, IntExpr, Sym, render
from .block_attributes import BlockLike
from .iterations import Iteration, happens
from .ranges import operand_ranges, range_of, range_over_loops, ranges_of, surely_less
from .types import BufferType


def buffer_text(buffer: SSAValue) -> str:
    """The quoted name of the buffer in messages."""
    return "a buffer" if buffer.name_hint is None else f"'{buffer.name_hint}'"


def range_text(span: Interval, name_of: Callable[[Sym | Arg], str] | None = None) -> str:
    """A half-open range in messages; `name_of` names symbols and operands."""
    bounds = (span.lower, span.upper + 1)
    lower, upper = (str(b) if name_of is None else render(b, name_of) for b in bounds)
    return f"[{lower}, {upper})"


def verify_inside(
    op: Operation,
    buffer: SSAValue,
    indices: Sequence[IntExpr],
    operands: Sequence[SSAValue],
    sizes: Sequence[IntExpr] | None = None,
) -> None:
    """Raise VerifyException if an access at `indices` is out of bounds in some iteration.

    `sizes` are the extents of the access, by default those of one element. Indices that depend on
    data, and accesses under conditions on data, are not checked.
    """
    assert isinstance(buffer.type, BufferType)
    ranges = ranges_of(operands)
    extents = [ONE] * len(indices) if sizes is None else sizes
    for position, (index, size) in enumerate(zip(indices, extents, strict=True)):
        dim = buffer.type.dims[position]
        span = range_of(index, ranges)
        if span is None or not (
            surely_less(span.lower, ZERO) or surely_less(dim, span.upper + size)
        ):
            continue
        over_loops = range_over_loops(index, operands)
        if over_loops is not None and _surely_stays(over_loops, size, dim):
            continue
        if happens(op, lambda i, e=index, s=size, d=dim: _is_outside(i, e, s, d, operands)):
            taken = Interval(span.lower, span.upper + size - 1)
            raise VerifyException(
                f"indices of dim {position} of {buffer_text(buffer)} take values in "
                f"{range_text(taken)}, outside [0, {dim})"
            )


def _surely_stays(span: Interval, size: IntExpr, dim: IntExpr) -> bool:
    return is_non_negative(span.lower) and is_less(span.upper + size - 1, dim)


def _is_outside(
    at: Iteration, index: IntExpr, size: IntExpr, dim: IntExpr, operands: Sequence[SSAValue]
) -> bool:
    first = at.evaluate(index, operands)
    return first < 0 or first + at.evaluate(size, ()) > at.evaluate(dim, ())


def uncovered_axis(op: BlockLike) -> str | None:
    """The reason why an axis provably misses values of its range; `None` if it may take all."""
    if any(axis.extent.data.constant == 0 for axis in op.axes.data):
        return None  # no values to take
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
    """Whether the binding may take all wanted values; `covered` is the hull of its values."""
    if surely_less(wanted.lower, covered.lower) or surely_less(covered.upper, wanted.upper):
        return False
    size = wanted.extent.constant
    return size is None or size <= 1 or stride(binding) == 1


def stride(index: IntExpr) -> int:
    """A common divisor of all differences of an index's values."""
    steps = [coefficient for monomial, coefficient in index.terms if monomial]
    return gcd(*steps) if steps else 1


def _stride_text(binding: IntExpr) -> str:
    step = stride(binding)
    return "" if step == 1 else f" in steps of {step}"

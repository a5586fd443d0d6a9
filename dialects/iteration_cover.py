"""Whether digits of iterators take every combination of their values: TVM's ``IterMapLevel``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .bounds import is_non_negative
from .int_expr import ONE, IntExpr
from .iteration_digits import Constraint, Digit, Mark, NoIterMapError, Sum, marks_in_order


def check_cover(
    sums: Sequence[Sum],
    iterators: Iterable[Mark],
    constraints: Iterable[Constraint],
    bijective: bool,
) -> None:
    """Raise NoIterMapError unless the values of sums together cover their box.

    If `bijective`, each combination of values has to come from one iteration, so that every
    iterator of more than one value is in it. A constraint on iterators that are in the sums has to
    be of digits in them.
    """
    digits = [d for total in sums for d in total.digits]
    visited = marks_in_order(digits)
    for mark in visited:
        _check_mark(mark, [d for d in digits if d.mark == mark], bijective)
        digits += mark.digits
    used = {root for mark in visited for root in mark.roots()}
    for constraint in constraints:
        mark = constraint.digit.mark
        if mark not in visited and used.intersection(mark.roots()):
            raise NoIterMapError(f"expected {_text(mark)} to be in the indices, got parts of it")
    missing = [m for m in iterators if m.extent != ONE and m not in used]
    if bijective and missing:
        raise NoIterMapError(f"expected {_text(missing[0])} to be in the indices")


def _check_mark(mark: Mark, digits: Sequence[Digit], bijective: bool) -> None:
    padded = any(d.padded for d in digits)
    if padded and len(digits) == 1 and not digits[0].is_remainder and not bijective:
        return  # neighbouring iterations have the same quotient or neighbouring ones
    if padded and (bijective or not all((d.padded and d.is_remainder) or _even(d) for d in digits)):
        raise NoIterMapError(f"expected even digits of {_text(mark)}")
    left, covered = list(digits), ONE
    while left:
        digit = next((d for d in left if d.lower_factor == covered), None)
        if digit is None and not bijective:
            digit = _above(left, covered)
        if digit is None:
            raise NoIterMapError(f"expected a digit of {_text(mark)} from {covered} on")
        left.remove(digit)
        covered = digit.lower_factor * digit.extent
    if padded and not is_non_negative(mark.extent - covered):
        raise NoIterMapError(f"expected {covered} iterations or more, got {mark.extent}")
    if bijective and covered != mark.extent:
        raise NoIterMapError(f"expected digits of {mark.extent} iterations, got {covered}")


def _even(digit: Digit) -> bool:
    return not digit.padded and digit.is_remainder


def _above(digits: Sequence[Digit], covered: IntExpr) -> Digit | None:
    """The next digit, if those between are in no sum."""
    above = [
        (d.lower_factor.constant, n)
        for n, d in enumerate(digits)
        if (d.lower_factor // covered) * covered == d.lower_factor
        and is_non_negative(d.lower_factor - covered)
    ]
    numbers = [(low, n) for low, n in above if low is not None]
    if len(digits) == 1 and above:
        return digits[0]
    return digits[min(numbers)[1]] if len(numbers) == len(digits) else None


def _text(mark: Mark) -> str:
    return str(mark.value)

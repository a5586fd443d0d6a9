"""Integer expressions over iterators as sums of digits: TVM's ``arith::DetectIterMap``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from .bounds import Interval, constant_limit, is_non_negative
from .int_expr import ONE, ZERO, Atom, Compound, IntExpr
from .iteration_digits import Constraint, Digit, Mark, NoIterMapError, Sum, plus, times


class Detector:
    """Finds sums of digits in expressions over iterators with ranges.

    With `overlapping`, ranges that overlap are fused: ``x * 7 + y`` with 8 values of y.
    """

    def __init__(self, iterators: Mapping[Atom, Interval], overlapping: bool = True):
        self.overlapping = overlapping
        self.constraints: list[Constraint] = []
        self.marks: dict[Atom, tuple[Mark, IntExpr]] = {
            atom: (Mark(IntExpr.of(atom) - span.lower, span.extent), span.lower)
            for atom, span in iterators.items()
        }

    def depends(self, expr: IntExpr) -> bool:
        """Whether an iterator is in an expression."""
        return any(atom in self.marks for atom in expr.all_atoms)

    def sum_of(self, expr: IntExpr) -> Sum:
        """An expression as a sum of digits; raises NoIterMapError for any other."""
        total = Sum((), ZERO)
        for monomial, coefficient in expr.terms:
            term = IntExpr.from_terms({monomial: coefficient})
            inner = [a for a in monomial if self.depends(IntExpr.of(a))]
            if not inner:
                total = plus(total, Sum((), term))
                continue
            if len(inner) > 1:
                raise NoIterMapError(f"expected one iterator in each product, got {term}")
            split = term.split_on(inner[0])
            assert split is not None
            total = plus(total, times(self._atom(inner[0]), split[0]))
        return total

    def _atom(self, atom: Atom) -> Sum:
        if atom in self.marks:
            mark, lower = self.marks[atom]
            if mark.extent == ONE:
                return Sum((), lower)
            assert isinstance(mark.source, IntExpr)
            return Sum((Digit(mark, ONE, mark.extent, ONE, mark.source),), lower)
        if not isinstance(atom, Compound) or atom.op not in ("floordiv", "mod"):
            raise NoIterMapError(f"expected sums, quotients and remainders, got {IntExpr.of(atom)}")
        if self.depends(atom.rhs):
            raise NoIterMapError(f"expected a divisor without iterators, got {atom.rhs}")
        lhs, divisor = self.sum_of(atom.lhs), atom.rhs
        fused, added = self._fused(lhs, divisor.constant)
        if atom.op == "mod":
            return _remainder(fused, divisor) if fused.digits else Sum((), fused.base % divisor)
        quotient = _quotient(fused, divisor) if fused.digits else Sum((), fused.base // divisor)
        return plus(quotient, times(Sum(added, ZERO), IntExpr.of(-1)))

    def fused(self, total: Sum) -> Sum:
        """A sum as one of at most one digit; raises NoIterMapError where scales do not fit."""
        return self._fused(total, None)[0]

    def _fused(self, total: Sum, divisor: int | None) -> tuple[Sum, tuple[Digit, ...]]:
        """A fused sum, and digits; `divisor` times these have been added to the sum.

        A quotient ``(12 * x + y) // 8`` is in canonical form ``x + (4 * x + y) // 8``, which has to
        be undone to find that it is one of 12 values of y.
        """
        total = self._constrained(total)
        if len(total.digits) <= 1:
            return total, ()
        unit = _unit(total.digits)
        step = None if divisor is None else (unit.constant and divisor // unit.constant)
        left = [d.scaled(_exact(d.scale, unit, total)) for d in total.digits]
        found, added, covered = list[Digit](), list[Digit](), ONE
        while left:
            following = self._following(left, covered, unit == ONE and bool(found), step)
            if following is None:
                raise NoIterMapError(f"expected a digit with scale {covered}, got {total.value}")
            left.remove(following)
            if step and is_non_negative(covered - following.scale - 1):
                times = (covered - following.scale) // step
                if times * step == covered - following.scale:
                    added.append(following.scaled(times))
                    following = following.scaled(covered)
            found.append(following)
            covered = following.scale * (following.extent - 1) + covered
        source = Sum(tuple(reversed(found)), ZERO)
        digit = Digit(Mark(source, covered), ONE, covered, unit, source.value)
        return Sum((digit,), total.base), tuple(added)

    def _following(
        self, left: Sequence[Digit], covered: IntExpr, may_overlap: bool, step: int | None
    ) -> Digit | None:
        """The digit that numbers what `covered` ones do not."""
        for digit in left:
            if digit.scale == covered:
                return digit
        for digit in left if step else ():
            missing = (covered - digit.scale).constant
            if missing is not None and missing > 0 and step is not None and missing % step == 0:
                return digit
        return _overlapping(left, covered) if may_overlap and self.overlapping else None

    def constrain(self, total: Sum, lower: IntExpr | None, upper: IntExpr | None) -> None:
        """From now on a sum, without its base, is at least `lower` and at most `upper`."""
        plain = self._constrained(Sum(total.digits, ZERO))
        fused = self.fused(Sum(total.digits, ZERO))
        (digit,) = fused.digits
        unit = digit.scale
        low = fused.base
        first = ZERO if lower is None else _larger((lower - low - 1) // unit + 1, ZERO)
        last = digit.extent - 1
        if upper is not None:
            last = _smaller(last, (upper - low) // unit)
        extent = last - first + 1
        if is_non_negative(-extent):
            raise NoIterMapError(f"expected a predicate of {plain.value} that holds somewhere")
        source = Sum((digit.scaled(ONE),), ZERO)
        mark = Mark(source, extent)
        new = Digit(mark, ONE, extent, ONE, digit.value - first)
        digits = tuple(d.scaled(_exact(d.scale, unit, plain)) for d in plain.digits)
        self.constraints.append(Constraint(digits, first, new))

    def _constrained(self, total: Sum) -> Sum:
        for constraint in self.constraints:
            total = _replaced(total, constraint)
        return total


def _exact(value: IntExpr, divisor: IntExpr, total: Sum) -> IntExpr:
    quotient = value // divisor
    if quotient * divisor != value:
        raise NoIterMapError(f"expected multiples of {divisor}, got {value} in {total.value}")
    return quotient


def _unit(digits: Sequence[Digit]) -> IntExpr:
    """The scale that the others are multiples of; all have to be positive."""
    for digit in digits:
        if not is_non_negative(digit.scale):
            raise NoIterMapError(f"expected positive scales, got {digit.scale}")
    constants = [c for d in digits if (c := d.scale.constant) is not None]
    if constants:
        return IntExpr.of(min(constants))
    return min((d.scale for d in digits), key=lambda s: sum(len(m) for m, _ in s.terms))


def _overlapping(digits: Sequence[Digit], covered: IntExpr) -> Digit | None:
    fitting = [
        (d.scale.constant, n)
        for n, d in enumerate(digits)
        if d.scale.constant is not None and is_non_negative(covered - d.scale)
    ]
    return digits[max(fitting)[1]] if fitting else None


def _smaller(a: IntExpr, b: IntExpr) -> IntExpr:
    return a if is_non_negative(b - a) else b


def _larger(a: IntExpr, b: IntExpr) -> IntExpr:
    return b if is_non_negative(b - a) else a


def _replaced(total: Sum, constraint: Constraint) -> Sum:
    """A sum in which the digits of a constraint are one digit of its mark."""
    found = list[Digit]()
    for wanted in constraint.digits:
        found += [d for d in total.digits if d.key == wanted.key]
    if len(found) != len(constraint.digits):
        return total
    factor = found[-1].scale // constraint.digits[-1].scale
    for digit, wanted in zip(found, constraint.digits, strict=True):
        if digit.scale != wanted.scale * factor:
            return total
    rest = tuple(d for d in total.digits if d not in found)
    new = constraint.digit.scaled(factor)
    return Sum((*rest, new), total.base + constraint.lower * factor)


def _divided(lhs: Sum, divisor: IntExpr) -> tuple[Digit, IntExpr, IntExpr, IntExpr] | None:
    """A digit with scale 1, the rest of the base, the divisor, and the common factor of both."""
    (digit,) = lhs.digits
    scale = digit.scale
    factor = divisor // scale
    if factor * scale != divisor:
        return None
    return digit.scaled(ONE), lhs.base // scale, factor, scale


def _quotient(lhs: Sum, divisor: IntExpr) -> Sum:
    (digit,) = lhs.digits
    multiple = digit.scale // divisor
    if multiple * divisor == digit.scale:
        return Sum((digit.scaled(multiple),), lhs.base // divisor)
    parts = _divided(lhs, divisor)
    if parts is None:
        raise NoIterMapError(f"expected {digit.scale} and {divisor} to divide one another")
    one, base, factor, _ = parts
    rest = base % factor
    quotient = (base - rest) // factor
    extent = one.extent // factor
    if rest == ZERO and factor == one.extent:
        return Sum((), quotient)
    if rest == ZERO and extent * factor == one.extent:
        value = one.value // factor
        new = replace(one, lower_factor=one.lower_factor * factor, extent=extent, value=value)
        return Sum((new,), quotient)
    limit = _limit(base, factor)
    if one.is_remainder or limit is None:
        raise NoIterMapError(f"expected a multiple of {factor}, got a range of {one.extent}")
    extent = (one.extent + limit - 1) // factor + 1
    value = (one.value + rest) // factor
    lower = one.lower_factor * factor
    return Sum((Digit(one.mark, lower, extent, ONE, value, padded=True),), quotient)


def _limit(expr: IntExpr, divisor: IntExpr) -> int | None:
    """The largest remainder of an expression by a number."""
    number = divisor.constant
    if number is None or number <= 0:
        return constant_limit(expr % divisor)
    step = gcd(number, *(c for monomial, c in expr.terms if monomial))
    return number - step + expr.offset % step


def _remainder(lhs: Sum, divisor: IntExpr) -> Sum:
    (digit,) = lhs.digits
    multiple = digit.scale // divisor
    if multiple * divisor == digit.scale:
        return Sum((), lhs.base % divisor)
    parts = _divided(lhs, divisor)
    if parts is None:
        raise NoIterMapError(f"expected {digit.scale} and {divisor} to divide one another")
    one, base, factor, scale = parts
    rest = base % factor
    even = rest == ZERO and (one.extent // factor) * factor == one.extent
    if one.is_remainder and not even:
        raise NoIterMapError(f"expected a divisor of {one.extent}, got {factor}")
    value = (one.value + rest) % factor if not even or one.extent != factor else one.value
    new = replace(one, extent=factor, scale=scale, value=value, is_remainder=True)
    return Sum((new if even else replace(new, padded=True),), lhs.base - base * scale)

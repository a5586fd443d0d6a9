"""Interval analysis of integer expressions: the range of values of an index.

Also simplification by known ranges. Symbols stand for tensor dims and are assumed to be
non-negative. The counterparts are TVM's ``arith::ConstIntBoundAnalyzer`` and ``IntSet``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias

from .int_expr import (
    ONE,
    ZERO,
    Arg,
    Atom,
    Compound,
    IntExpr,
    IntLike,
    Monomial,
    Sym,
    choices_in,
    compound,
    maximum,
    minimum,
)
from .quotients import join_remainders, split_coefficients, split_multiples


class Interval(NamedTuple):
    """The integers from `lower` to `upper`, both included; empty if `upper` is smaller."""

    lower: IntExpr
    upper: IntExpr

    @staticmethod
    def point(value: IntLike) -> Interval:
        """The interval of one value."""
        expr = IntExpr.of(value)
        return Interval(expr, expr)

    @staticmethod
    def range(start: IntLike, extent: IntLike) -> Interval:
        """``[start, start + extent)``."""
        first = IntExpr.of(start)
        return Interval(first, first + extent - 1)

    @property
    def extent(self) -> IntExpr:
        """The number of integers in the interval."""
        return self.upper - self.lower + 1

    def __add__(self, other: Interval) -> Interval:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Interval(self.lower + other.lower, self.upper + other.upper)


Ranges: TypeAlias = Mapping[Atom, Interval]


@lru_cache(maxsize=1 << 16)
def is_non_negative(expr: IntExpr) -> bool:
    """Whether the expression is provably at least 0 for every non-negative value of its symbols."""
    if (value := expr.constant) is not None:
        return value >= 0
    if all(c >= 0 and all(_atom_non_negative(a) for a in m) for m, c in expr.terms):
        return True
    if len(cases := cases_of_minimum(expr)) > 1:
        return all(is_non_negative(case) for case in cases)
    joined = join_remainders(expr)
    if joined != expr:
        return is_non_negative(joined)
    bound = _without_quotient(joined)
    return (
        (bound is not None and is_non_negative(bound))
        or any(is_non_negative(c) for _, cases in choices_in(expr, "max") for c in cases)
        or ((limit := constant_limit(-expr)) is not None and limit <= 0)
    )


def cases_of_minimum(expr: IntExpr) -> list[IntExpr]:
    """The expressions of which `expr` is the least: itself, or the cases of a minimum in it."""
    for _, cases in choices_in(expr, "min"):
        return [least for case in cases for least in cases_of_minimum(case)]
    return [expr]


def _without_quotient(expr: IntExpr) -> IntExpr | None:
    """A lower bound of a positive multiple of the expression, without one of its quotients.

    ``a floordiv c`` is at most ``a / c`` and at least ``(a - c + 1) / c``; k of them are at most
    ``a floordiv (c / k)`` if k divides c.
    """
    for monomial, coefficient in sorted(expr.terms, key=lambda term: term[1]):
        (atom, *more) = monomial or (None,)
        if not more and isinstance(atom, Compound) and atom.op == "floordiv":
            divisor = atom.rhs.constant or 0
            if divisor > 0 and coefficient < -1 and divisor % coefficient == 0:
                rest = expr - IntExpr.of(atom) * coefficient
                return rest - atom.lhs // (divisor // -coefficient)
            if divisor > 0:
                nearest = atom.lhs if coefficient < 0 else atom.lhs - (divisor - 1)
                rest = expr - IntExpr.of(atom) * coefficient
                return rest * divisor + nearest * coefficient
    return None


def _atom_non_negative(atom: Atom) -> bool:
    match atom:
        case Sym():
            return True
        case Arg():
            return False
        case Compound("max", lhs, rhs):
            return is_non_negative(lhs) or is_non_negative(rhs)
        case Compound("min", lhs, rhs):
            return is_non_negative(lhs) and is_non_negative(rhs)
        case Compound("mod", _, rhs):
            return (rhs.constant or 0) > 0
        case Compound(_, lhs, rhs):
            return is_non_negative(lhs) and is_non_negative(rhs)


def is_less(lhs: IntLike, rhs: IntLike) -> bool:
    """Whether ``lhs < rhs`` provably holds."""
    return is_non_negative(IntExpr.of(rhs) - lhs - 1)


def constant_limit(expr: IntExpr) -> int | None:
    """An upper bound of the expression for non-negative symbols; `None` if unknown."""
    total = 0
    for monomial, coefficient in expr.terms:
        if coefficient < 0 and all(map(_atom_non_negative, monomial)) and monomial:
            continue
        limits = [_atom_limit(atom) for atom in monomial]
        if len(limits) > 1 or None in limits or (limits and coefficient < 0):
            return _limit_of_cases(expr)
        total += coefficient * sum(limit or 0 for limit in limits) if limits else coefficient
    return total


@lru_cache(maxsize=1 << 12)
def _limit_of_cases(expr: IntExpr) -> int | None:
    """The limit of a sum with a minimum, as ``min(i + 4, n) - i``: that of one of its cases."""
    _, cases = next(choices_in(expr, "min"), ("", ()))
    return min((n for e in cases if (n := constant_limit(e)) is not None), default=None)


def _atom_limit(atom: Atom) -> int | None:
    match atom:
        case Compound("min", lhs, rhs):
            return min(
                (n for e in (lhs, rhs) if (n := constant_limit(e)) is not None), default=None
            )
        case Compound("mod", _, rhs) if (divisor := rhs.constant or 0) > 0:
            return divisor - 1
        case Compound("floordiv", lhs, rhs) if (divisor := rhs.constant or 0) > 0:
            limit = constant_limit(lhs)
            return None if limit is None else limit // divisor
        case _:
            return None


def interval_of(expr: IntExpr, ranges: Ranges) -> Interval | None:
    """The range of `expr` if atoms have these `ranges`; other symbols are kept symbolic.

    `None` if the analysis fails, for example for a product of two variables of unknown sign.
    """
    if expr.constant is not None:
        return Interval(expr, expr)
    return _interval_of(expr, tuple([ranges.get(atom) for atom in expr.all_atoms]))


def never_negative(expr: IntExpr, ranges: Ranges) -> bool:
    """Whether the expression is at least 0 for all values in these ranges."""
    span = interval_of(expr, ranges)
    return (span is not None and is_non_negative(span.lower)) or is_non_negative(expr)


def limited(sizes: Iterable[tuple[str, IntExpr]]) -> Ranges:
    """The ranges of symbols from 0 to limits over earlier ones; raises ValueError without one."""
    found: dict[Atom, Interval] = {}
    for name, limit in sizes:
        span = interval_of(limit, found)
        if span is None:
            raise ValueError(f"expected a limit of '{name}' with an upper bound, got {limit}")
        found[Sym(name)] = Interval(ZERO, span.upper)
    return found


@lru_cache(maxsize=1 << 16)
def _interval_of(expr: IntExpr, known: Sequence[Interval | None]) -> Interval | None:
    """`interval_of` with the ranges of `all_atoms`, in order."""
    ranges = _by_atom(expr, known)
    lower, upper, rest = 0, 0, None  # ints are faster, and most terms have a constant range
    for monomial, coefficient in expr.terms:
        term = _monomial_interval(monomial, coefficient, ranges)
        if term is None:
            return None
        if isinstance(term, Interval):
            rest = term if rest is None else rest + term
        else:
            lower, upper = lower + term[0], upper + term[1]
    numbers = Interval(IntExpr.of(lower), IntExpr.of(upper))
    return numbers if rest is None else rest + numbers


def _by_atom(expr: IntExpr, known: Sequence[Interval | None]) -> Ranges:
    pairs = zip(expr.all_atoms, known, strict=True)
    return {atom: interval for atom, interval in pairs if interval is not None}


def _monomial_interval(
    monomial: Monomial, coefficient: int, ranges: Ranges
) -> Interval | tuple[int, int] | None:
    """The range of a term; a pair of ints if both bounds are constant."""
    if not monomial:
        return coefficient, coefficient
    result = None
    for atom in monomial:
        factor = _atom_interval(atom, ranges)
        product = factor if factor is None or result is None else _multiply(result, factor)
        if product is None:
            return None
        result = product
    assert result is not None
    lower, upper = result.lower.constant, result.upper.constant
    if lower is None or upper is None:
        return _scaled(result, IntExpr.of(coefficient))
    lower, upper = lower * coefficient, upper * coefficient
    return (lower, upper) if coefficient >= 0 else (upper, lower)


def _scaled(interval: Interval, factor: IntExpr) -> Interval | None:
    """The range of all values times a factor; `None` if the factor's sign is unknown."""
    if factor == ONE:
        return interval
    if is_non_negative(factor):
        return Interval(interval.lower * factor, interval.upper * factor)
    if is_non_negative(-factor):
        return Interval(interval.upper * factor, interval.lower * factor)
    return None


def _multiply(lhs: Interval, rhs: Interval) -> Interval | None:
    if lhs.lower == lhs.upper:
        lhs, rhs = rhs, lhs
    if rhs.lower == rhs.upper:
        return _scaled(lhs, rhs.lower)
    if is_non_negative(lhs.lower) and is_non_negative(rhs.lower):
        return Interval(lhs.lower * rhs.lower, lhs.upper * rhs.upper)
    return None


def _atom_interval(atom: Atom, ranges: Ranges) -> Interval | None:
    if (known := ranges.get(atom)) is not None:
        return known
    if not isinstance(atom, Compound):
        return Interval.point(atom)
    lhs, rhs = interval_of(atom.lhs, ranges), interval_of(atom.rhs, ranges)
    if lhs is None or rhs is None:
        return _remainder_interval(atom)
    if lhs.lower == lhs.upper and rhs.lower == rhs.upper:
        return Interval.point(compound(atom.op, lhs.lower, rhs.lower))
    match atom.op:
        case "min":
            return Interval(minimum(lhs.lower, rhs.lower), minimum(lhs.upper, rhs.upper))
        case "max":
            return Interval(maximum(lhs.lower, rhs.lower), maximum(lhs.upper, rhs.upper))
        case "floordiv" if rhs.lower == rhs.upper and is_less(0, rhs.lower):
            return Interval(lhs.lower // rhs.lower, lhs.upper // rhs.lower)
        case "mod" if rhs.lower == rhs.upper:
            for whole in (ZERO, lhs.lower // rhs.lower * rhs.lower):
                span = Interval(lhs.lower - whole, lhs.upper - whole)
                if is_non_negative(span.lower) and is_less(span.upper, rhs.lower):
                    return span
            return _remainder_interval(atom)
        case "mod":
            return _remainder_interval(atom)
        case _:
            return None


def _remainder_interval(atom: Compound) -> Interval | None:
    if atom.op == "mod" and (atom.rhs.constant or 0) > 0:
        return Interval(ZERO, atom.rhs - 1)
    return None


def simplify(expr: IntExpr, ranges: Ranges) -> IntExpr:
    """Fold floordiv, mod, min and max that the ranges decide, and join quotients and remainders.

    ``(i * 8 + j) floordiv 8`` is ``i`` for j < 8, and ``(i * 8 + j) mod 32`` is
    ``i mod 4 * 8 + j``; ``i floordiv 8 * 8 + i mod 8`` is ``i``. TVM's
    ``arith::Analyzer::Simplify``.
    """
    if not expr.has_compounds:
        return expr
    return _simplify(expr, tuple([ranges.get(atom) for atom in expr.all_atoms]))


@lru_cache(maxsize=1 << 16)
def _simplify(expr: IntExpr, known: Sequence[Interval | None]) -> IntExpr:
    """`simplify` with the ranges of `all_atoms`, in order."""
    ranges, result = _by_atom(expr, known), ZERO
    for monomial, coefficient in expr.terms:
        term = IntExpr.of(coefficient)
        for atom in monomial:
            term = term * (_simplify_compound(atom, ranges) if isinstance(atom, Compound) else atom)
        result = result + term
    return join_remainders(result)


def _simplify_compound(atom: Compound, ranges: Ranges) -> IntExpr:
    lhs, rhs = simplify(atom.lhs, ranges), simplify(atom.rhs, ranges)
    if atom.op in ("min", "max"):
        difference = interval_of(rhs - lhs, ranges)
        if difference is not None and is_non_negative(difference.lower):
            return lhs if atom.op == "min" else rhs
        if difference is not None and is_non_negative(-difference.upper):
            return rhs if atom.op == "min" else lhs
        return compound(atom.op, lhs, rhs)
    whole, rest = split_multiples(lhs, rhs)
    if _is_remainder(rest, rhs, ranges):
        return whole if atom.op == "floordiv" else rest
    quotient, left = split_coefficients(lhs, rhs)
    if left != rest and _is_remainder(left, rhs, ranges):
        return quotient if atom.op == "floordiv" else left
    if (digits := _split_digits(rest, rhs, ranges)) is not None:
        size, high, low = digits
        if atom.op == "floordiv":
            return whole + high // (rhs // size)
        return high % (rhs // size) * size + low
    return compound(atom.op, lhs, rhs)


def _is_remainder(expr: IntExpr, divisor: IntExpr, ranges: Ranges) -> bool:
    """Whether an expression is known to be at least 0 and less than a divisor."""
    span = interval_of(expr, ranges)
    return span is not None and is_non_negative(span.lower) and is_less(span.upper, divisor)


def _split_digits(
    expr: IntExpr, divisor: IntExpr, ranges: Ranges
) -> tuple[int, IntExpr, IntExpr] | None:
    """``(c, high, low)`` with ``expr == high * c + low``, c that divides the divisor, and low < c.

    The quotient by the divisor depends on `high` only.
    """
    number = divisor.constant or 0
    sizes = {gcd(coefficient, number) for _, coefficient in expr.terms} - {1, number}
    for size in sorted(sizes, reverse=True) if number > 0 else ():
        whole, low = split_multiples(expr, IntExpr.of(size))
        if low not in (ZERO, expr) and _is_remainder(low, IntExpr.of(size), ranges):
            return size, whole, low
    return None

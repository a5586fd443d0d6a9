"""Sums with minima and maxima in their shortest form, without known ranges.

Every extreme is linear in ``max(0, d)`` of a difference d: ``max(a, b)`` is ``a + max(0, b - a)``,
``min(a, b)`` is ``b - max(0, b - a)``, and ``max(0, -d)`` is ``max(0, d) - d``. So terms of equal
differences are collected, and each is written again with the shift that has the fewest terms:
``min(x + 10, y + 10) - min(x, y)`` is ``10``, and ``x - min(x, y)`` is ``max(0, x - y)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import gcd
from typing import NamedTuple

from .int_expr import Compound, IntExpr, Monomial, compound

OTHER = {"min": "max", "max": "min"}


class Written(NamedTuple):
    """``factor * max(lhs, rhs) + rest``; ``factor * -min(-lhs, -rhs) + rest`` is the same."""

    factor: int
    lhs: IntExpr
    rhs: IntExpr
    rest: IntExpr

    @property
    def is_negated(self) -> bool:
        """Whether it is a minimum of the negated cases: of more positive terms or factors."""
        signs = {c > 0 for side in (self.lhs, self.rhs) for m, c in side.terms if m}
        return self.factor < 0 if len(signs) > 1 else False in signs

    @property
    def cost(self) -> tuple[int, bool]:
        """The number of terms, then whether constants are on the other side of the extreme."""
        terms = [max(len(e.terms), 1) for e in (self.lhs, self.rhs)]
        is_subtracted = (self.factor < 0) != self.is_negated
        return sum(terms) + len(self.rest.terms), (self.rest.offset != 0) != is_subtracted

    def expr(self) -> IntExpr:
        """The sum."""
        if self.is_negated:
            return _extreme("min", -self.lhs, -self.rhs) * -self.factor + self.rest
        return _extreme("max", self.lhs, self.rhs) * self.factor + self.rest


def _extreme(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """An extreme, as ``min(a, b) floordiv c`` for ``min(a floordiv c, b floordiv c)``."""
    match lhs.as_atom, rhs.as_atom:
        case Compound("floordiv", a, c), Compound("floordiv", b, d) if c == d and c.constant:
            kept = op if c.constant > 0 else OTHER[op]
            return compound(kept, a, b) // c
        case _:
            return compound(op, lhs, rhs)


@lru_cache(maxsize=1 << 12)
def shorten_extremes(expr: IntExpr) -> IntExpr:
    """The sum with its minima and maxima collected, each with the shift of fewest terms."""
    if not any(isinstance(a, Compound) and a.op in OTHER for m, _ in expr.terms for a in m):
        return expr
    found, rest = _collected(_without_pairs(expr))
    result = rest
    for difference, factor in found.items():
        result = min(_spellings(factor, difference, result), key=lambda w: w.cost).expr()
    return result


def _without_pairs(expr: IntExpr) -> IntExpr:
    """``a * b`` for each ``min(a, b) * max(a, b)``."""
    result = expr
    for monomial, coefficient in expr.terms:
        for first in monomial if len(monomial) > 1 else ():
            if not isinstance(first, Compound) or first.op != "min":
                continue
            other = compound("max", first.lhs, first.rhs).as_atom
            if other is not None and other in monomial:
                left = list(monomial)
                left.remove(first)
                left.remove(other)
                new = first.lhs * first.rhs * IntExpr.from_terms({tuple(left): coefficient})
                return _without_pairs(result - IntExpr.from_terms({monomial: coefficient}) + new)
    return result


def _collected(expr: IntExpr) -> tuple[dict[IntExpr, int], IntExpr]:
    """The differences d of the terms ``c * max(0, d)``, with c, and the rest of the sum."""
    found: dict[IntExpr, int] = {}
    rest = expr
    for monomial, coefficient in expr.terms:
        (atom, *more) = monomial or (None,)
        if more or not isinstance(atom, Compound) or atom.op not in OTHER:
            continue
        rest -= IntExpr.of(atom) * coefficient
        factor = coefficient if atom.op == "max" else -coefficient
        difference = atom.rhs - atom.lhs
        rest += (atom.lhs if atom.op == "max" else atom.rhs) * coefficient
        scale = gcd(*(c for _, c in difference.terms))
        if difference.terms[0][1] < 0:
            scale, rest = -scale, rest + difference * factor
        difference = IntExpr.from_terms({m: c // scale for m, c in difference.terms})
        found[difference] = found.get(difference, 0) + factor * abs(scale)
    return {d: c for d, c in found.items() if c}, rest


def _spellings(factor: int, difference: IntExpr, rest: IntExpr) -> Iterator[Written]:
    """``factor * max(0, difference) + rest`` with both cases shifted by what the shift saves.

    A term of the difference is in the second case, in the first one, or moved from the rest.
    """
    known = dict(rest.terms)
    for preferred, of_constant in product(range(3), repeat=2):
        shift: dict[Monomial, int] = {}
        for monomial, size in difference.terms:
            there = known.get(monomial, 0)
            shifts = [0, -size, 0 if there % factor else there // factor]
            costs = [(s != 0) + (s != -size) + (s * factor != there) for s in shifts]
            cheapest = preferred if costs[preferred] == min(costs) else costs.index(min(costs))
            shift[monomial] = shifts[cheapest if monomial else of_constant]
        first = IntExpr.from_terms(shift)
        yield Written(factor, first, first + difference, rest - first * factor)

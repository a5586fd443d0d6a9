"""Integer expressions of fewer terms and operations, without known ranges."""

from __future__ import annotations

from functools import lru_cache

from .extremes import shorten_extremes
from .int_expr import ZERO, Compound, IntExpr, compound
from .quotients import shorten_quotients


@lru_cache(maxsize=1 << 12)
def shorten(expr: IntExpr) -> IntExpr:
    """The shortest form that is found of an expression and of what is in its compounds."""
    if not expr.has_compounds:
        return expr
    result = ZERO
    for monomial, coefficient in expr.terms:
        term = IntExpr.of(coefficient)
        for atom in monomial:
            if isinstance(atom, Compound):
                term = term * compound(atom.op, shorten(atom.lhs), shorten(atom.rhs))
            else:
                term = term * atom
        result += term
    result = shorten_quotients(shorten_extremes(result))
    return min(result, expr, key=_size)


def _size(expr: IntExpr) -> int:
    """The number of terms and factors, also inside compounds."""
    return sum(1 + sum(_atom_size(a) for a in monomial) for monomial, _ in expr.terms)


def _atom_size(atom: object) -> int:
    return 1 + _size(atom.lhs) + _size(atom.rhs) if isinstance(atom, Compound) else 1

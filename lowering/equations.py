"""Equations between integer expressions: whether they can hold, and what they say of a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from ..dialects.bounds import is_non_negative
from ..dialects.int_expr import IntExpr, Sym


@dataclass(frozen=True, slots=True)
class Equation:
    """Two expressions that a right program has equal; `subject` says whose dim they are."""

    subject: str
    expected: IntExpr
    actual: IntExpr


def always_differ(lhs: IntExpr, rhs: IntExpr) -> bool:
    """Whether two expressions differ for all non-negative values of their symbols, provably."""
    difference = lhs - rhs
    if (value := difference.constant) is not None:
        return value != 0
    step = gcd(*(c for m, c in difference.terms if m))
    if difference.offset % step:
        return True
    return is_non_negative(difference - 1) or is_non_negative(-difference - 1)


def solve(lhs: IntExpr, rhs: IntExpr, symbols: Sequence[str]) -> tuple[str, IntExpr] | None:
    """``(s, e)`` where ``lhs == rhs`` says that s, one of `symbols`, is e; else `None`.

    A number is preferred to an expression, then an expression that is never negative, then the last
    of `symbols`.
    """
    solutions = [(s, e) for s in reversed(symbols) if (e := _value_of(s, lhs - rhs)) is not None]
    solutions.sort(key=lambda found: (not found[1].is_constant, not is_non_negative(found[1])))
    return solutions[0] if solutions else None


def _value_of(symbol: str, zero: IntExpr) -> IntExpr | None:
    """The value of `symbol` for which the expression `zero` is 0, if it is a polynomial."""
    parts = zero.split_on(Sym(symbol))
    factor = None if parts is None else parts[0].constant
    if parts is None or not factor:
        return None
    _, rest = parts
    if any(c % factor for _, c in rest.terms):
        return None
    value = IntExpr(tuple((m, -c // factor) for m, c in rest.terms))
    return None if (value.constant or 0) < 0 else value

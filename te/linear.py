"""`arith.detect_linear_equation` and `detect_clip_bound`: expressions as sums over variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects.bounds import cases_of_minimum
from ..dialects.int_expr import Atom, IntExpr, maximum, minimum
from .arithmetic import Binary, PrimExpr, as_int_expr, convert, index_expr

_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def detect_linear_equation(expr: Any, variables: Sequence[PrimExpr]) -> list[PrimExpr]:
    """The coefficients of variables, and the rest, of an expression that is linear in them.

    An empty list for any other expression. TVM's ``arith.detect_linear_equation``.
    """
    rest, found = as_int_expr(convert(expr)), list[PrimExpr]()
    atoms = [_atom(var) for var in variables]
    for atom in atoms:
        split = None if rest is None or atom is None else rest.split_on(atom)
        if split is None or any(a in split[0].all_atoms for a in atoms if a is not None):
            return []
        coefficient, rest = split
        found.append(index_expr(coefficient))
    return [] if rest is None else [*found, index_expr(rest)]


def detect_clip_bound(expr: PrimExpr, variables: Sequence[PrimExpr]) -> list[PrimExpr | None]:
    """For each variable the least and largest value for which a condition holds.

    The condition is comparisons joined by ``&``, each linear in one variable with coefficient 1
    or -1; `None` where there is no bound. An empty list for any other condition. TVM's
    ``arith.detect_clip_bound``.
    """
    lower: dict[int, IntExpr] = {}
    upper: dict[int, IntExpr] = {}
    found_all = differences(expr, negated=False)
    cases = None if found_all is None else [c for d in found_all for c in cases_of_minimum(d)]
    for difference in cases or [None]:
        found = None if difference is None else _bound(difference, variables)
        if found is None:
            return []
        number, coefficient, rest = found
        if coefficient > 0:  # var + rest >= 0
            lower[number] = maximum(lower[number], -rest) if number in lower else -rest
        else:
            upper[number] = minimum(upper[number], rest) if number in upper else rest
    ends = [end.get(number) for number in range(len(variables)) for end in (lower, upper)]
    return [None if end is None else index_expr(end) for end in ends]


def _atom(var: PrimExpr) -> Atom | None:
    number = as_int_expr(var)
    return None if number is None else number.as_atom


def _bound(difference: IntExpr, variables: Sequence[PrimExpr]) -> tuple[int, int, IntExpr] | None:
    """The variable that a difference is about, its sign, and the rest."""
    coefficients = detect_linear_equation(index_expr(difference), variables)
    numbers = [as_int_expr(c) for c in coefficients]
    used = [(n, c) for n, c in enumerate(numbers[:-1]) if c is None or c.terms]
    if len(used) != 1 or numbers[-1] is None:
        return None
    number, coefficient = used[0]
    sign = None if coefficient is None else coefficient.constant
    return None if sign not in (1, -1) else (number, sign, numbers[-1])


def differences(expr: PrimExpr, negated: bool) -> list[IntExpr] | None:
    """Expressions that are at least 0 if and only if a condition holds; `None` for others."""
    if not isinstance(expr, Binary):
        return None
    if expr.op == "bitwise_and" and not negated:
        parts = [differences(part, negated) for part in (expr.lhs, expr.rhs)]
        return None if None in parts else [d for part in parts for d in part or ()]
    if expr.op == "bitwise_xor":  # logical_not
        return differences(expr.lhs, not negated)
    op = _NEGATED.get(expr.op) if negated else expr.op
    lhs, rhs = as_int_expr(expr.lhs), as_int_expr(expr.rhs)
    if lhs is None or rhs is None:
        return None
    match op:
        case "lt":
            return [rhs - lhs - 1]
        case "le":
            return [rhs - lhs]
        case "gt":
            return [lhs - rhs - 1]
        case "ge":
            return [lhs - rhs]
        case "eq":
            return [lhs - rhs, rhs - lhs]
        case _:
            return None

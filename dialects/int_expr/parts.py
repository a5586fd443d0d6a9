"""The outermost operation of an integer expression, as its text has it."""

from __future__ import annotations

from .terms import Compound, IntExpr


def outermost(expr: IntExpr) -> tuple[str, IntExpr, IntExpr] | None:
    """The operation that is done last, and its sides; `None` for a number, symbol or operand.

    It is "add", "sub", "mul", "floordiv", "mod", "min" or "max".
    """
    if len(expr.terms) > 1:
        monomial, coefficient = expr.terms[-1]
        last = IntExpr(((monomial, abs(coefficient)),))
        return "sub" if coefficient < 0 else "add", IntExpr(expr.terms[:-1]), last
    if expr.is_constant:
        return None
    monomial, coefficient = next(iter(expr.terms))
    if coefficient != 1:
        return "mul", IntExpr(((monomial, 1),)), IntExpr.of(coefficient)
    if len(monomial) > 1:
        return "mul", IntExpr(((monomial[:-1], 1),)), IntExpr.of(monomial[-1])
    atom = expr.as_atom
    return (atom.op, atom.lhs, atom.rhs) if isinstance(atom, Compound) else None

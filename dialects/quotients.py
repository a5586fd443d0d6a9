"""Quotients and remainders of integer expressions, without known ranges: splitting and joining."""

from __future__ import annotations

from .int_expr import ZERO, Compound, IntExpr, is_divisor


def join_remainders(expr: IntExpr) -> IntExpr:
    """Fold ``a floordiv b * (b * c) + a mod b * c`` to ``c * a``, for b other than 0.

    Either may be written for another dividend: ``(n * 9) mod 8`` is ``n mod 8``, and
    ``(n * 2) floordiv 8`` is ``n floordiv 4``.
    """
    atoms = dict.fromkeys(a for m, _ in expr.terms for a in m if isinstance(a, Compound))
    for atom in atoms:
        if atom.op not in ("floordiv", "mod") or not is_divisor(atom.rhs):
            continue
        quotient = (atom.lhs // atom.rhs).as_atom
        remainders = [(e % atom.rhs).as_atom for e in (atom.lhs, _dividend(atom.lhs, atom.rhs))]
        remainder = next((r for r in remainders if r in atoms), None)
        if quotient is None or quotient not in atoms or remainder is None:
            continue
        split = expr.split_on(remainder)
        rest = None if split is None else split[1].split_on(quotient)
        if split and rest and rest[0] == split[0] * atom.rhs:
            return join_remainders(rest[1] + split[0] * atom.lhs)
    return expr


def _dividend(expr: IntExpr, divisor: IntExpr) -> IntExpr:
    """``a`` for ``a mod m``, which has the remainder of ``a`` by a divisor of m; else `expr`."""
    atom = expr.as_atom
    if isinstance(atom, Compound) and atom.op == "mod" and atom.rhs.constant and divisor.constant:
        return expr if atom.rhs.constant % divisor.constant else atom.lhs
    return expr


def split_coefficients(expr: IntExpr, divisor: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(q, r)`` with ``expr == q * divisor + r``, for a constant divisor with r < it in each term.

    ``i * 45`` is ``i * 22 * 2 + i``.
    """
    whole, rest, number = ZERO, ZERO, divisor.constant or 0
    for monomial, coefficient in expr.terms:
        quotient, remainder = divmod(coefficient, number) if number > 0 else (0, coefficient)
        whole = whole + IntExpr.from_terms({monomial: quotient})
        rest = rest + IntExpr.from_terms({monomial: remainder})
    return whole, rest


def split_multiples(expr: IntExpr, divisor: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(q, r)`` with ``expr == q * divisor + r``; multiples of the divisor are in q."""
    whole, rest = ZERO, ZERO
    for term in expr.terms:
        piece = IntExpr((term,))
        quotient = piece // divisor
        if quotient * divisor == piece:
            whole = whole + quotient
        else:
            rest = rest + piece
    return whole, rest

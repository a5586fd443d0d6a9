"""Whether the values that loops give an index are all the values of a range, and each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from ...dialects.int_expr import ONE, Atom, Compound, IntExpr


def covers_densely(expr: IntExpr, extents: Mapping[Atom, IntExpr]) -> bool:
    """Whether different iterations of the loops give `expr` different values without gaps.

    `extents` has the loops' numbers of iterations. Loops must be the digits of a number, as in
    ``i * 12 + j * 4 + k`` for j < 3 and k < 4; other atoms are fixed.
    """
    digits: list[tuple[IntExpr, IntExpr]] = []
    for atom, extent in extents.items():
        split = expr.split_on(atom)
        if split is None:
            return False
        if split[0].terms and extent != ONE:
            digits.append((split[0], extent))
    weight = ONE
    while digits:
        found = next((d for d in digits if d[0] == weight), None)
        if found is None:
            return False
        digits.remove(found)
        weight = weight * found[1]
    return True


def used_in(expr: IntExpr, extents: Mapping[Atom, IntExpr]) -> set[Atom]:
    """The loops that occur in an expression, those of one iteration left out."""
    return {a for a in expr.atoms() if a in extents and extents[a] != ONE}


def distinguishes(exprs: Sequence[IntExpr], variable: Atom) -> bool:
    """Whether expressions have other values together for each value of a variable, all else equal.

    They do where one is linear in it, and where quotient and remainder of one that does are there.
    """
    known: list[IntExpr] = list(exprs)
    for expr in known:  # grows
        part = IntExpr.from_terms(
            {m: c for m, c in expr.terms if any(_mentions(a, variable) for a in m)}
        )
        step = gcd(*(c for _, c in part.terms)) or 1
        part = IntExpr.from_terms({m: c // step for m, c in part.terms})
        split = part.split_on(variable)
        if split is not None and split[0].terms and not split[1].terms:
            return True
        if isinstance(part.as_atom, Compound) and part not in known:
            known.append(part)
        for whole in _joined(known):
            if whole not in known:
                known.append(whole)
    return False


def _mentions(atom: Atom, wanted: Atom) -> bool:
    if isinstance(atom, Compound):
        return wanted in set(atom.lhs.atoms()) | set(atom.rhs.atoms())
    return atom == wanted


def _joined(known: Sequence[IntExpr]) -> list[IntExpr]:
    """What expressions say of another one by giving its quotient and its remainder."""
    atoms = [a for e in known for a in [e.as_atom] if isinstance(a, Compound)]
    whole: list[IntExpr] = []
    for remainder in atoms:
        if remainder.op != "mod":
            continue
        base, divisor = _flat(remainder.lhs)
        for quotient in atoms:
            if quotient.op == "floordiv":
                dividend, by = _flat(IntExpr.of(quotient))
                if dividend == base and by == divisor * remainder.rhs:
                    whole.append(remainder.lhs)
    return whole


def _flat(expr: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(a, c)`` where the expression is ``a // c``, however many divisions that takes."""
    atom = expr.as_atom
    if isinstance(atom, Compound) and atom.op == "floordiv":
        dividend, divisor = _flat(atom.lhs)
        return dividend, divisor * atom.rhs
    return expr, ONE

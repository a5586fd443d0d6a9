"""Whether the values that loops give an index are all the values of a range, and each once."""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects.int_expr import ONE, Atom, IntExpr


def is_bijective(expr: IntExpr, extents: Mapping[Atom, IntExpr]) -> bool:
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

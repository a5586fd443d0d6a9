"""floordiv, mod, min and max of expressions, simplified where the terms alone decide them."""

from __future__ import annotations

from collections.abc import Callable

from .terms import ONE, ZERO, Compound, IntExpr, IntLike, Monomial


def floordiv(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``lhs // rhs`` rounded towards minus infinity."""
    divisor = rhs.constant
    if divisor == 1 or not lhs.terms:
        return lhs
    if divisor is None or divisor == 0:
        return _exact_quotient(lhs, rhs) or IntExpr.of(Compound("floordiv", lhs, rhs))
    if (value := lhs.constant) is not None:
        return IntExpr.of(value // divisor)
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in lhs.terms:
        quotient, remainder = divmod(coefficient, divisor)
        if not monomial or remainder == 0:
            whole[monomial] = quotient
            rest[monomial] = remainder
        else:
            rest[monomial] = coefficient
    remaining = IntExpr.from_terms(rest)
    result = IntExpr.from_terms(whole)
    if (value := remaining.constant) is not None:
        return result + value // divisor
    return result + IntExpr.of(Compound("floordiv", remaining, rhs))


def is_divisor(expr: IntExpr) -> bool:
    """Whether an expression is taken not to be 0: a number but 0, or one of symbols, as of sizes.

    A variable of a loop may be 0; quotients and remainders by 0 are 0.
    """
    return expr.constant != 0 and not expr.args()


def _exact_quotient(lhs: IntExpr, rhs: IntExpr) -> IntExpr | None:
    """``lhs / rhs`` where the polynomial `rhs` divides `lhs`."""
    if not is_divisor(rhs):
        return None
    atoms = list(dict.fromkeys(a for m, _ in (*rhs.terms, *lhs.terms) for a in m))

    def degrees(term: tuple[Monomial, int]) -> list[int]:
        return [term[0].count(atom) for atom in atoms]

    divisor, factor = max(rhs.terms, key=degrees)
    result, rest = ZERO, lhs
    while rest.terms:
        monomial, coefficient = max(rest.terms, key=degrees)
        left = list(monomial)
        for atom in divisor:
            if atom not in left:
                return None
            left.remove(atom)
        if coefficient % factor:
            return None
        piece = IntExpr.from_terms({tuple(left): coefficient // factor})
        result, rest = result + piece, rest - piece * rhs
    return result


def floormod(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``lhs % rhs`` with the sign of `rhs`."""
    divisor = rhs.constant
    if divisor == 1:
        return ZERO
    if divisor is None or divisor <= 0:
        return IntExpr.of(Compound("mod", lhs, rhs)) if lhs.terms else ZERO
    reduced = IntExpr.from_terms({m: c % divisor for m, c in lhs.terms})
    if (value := reduced.constant) is not None:
        return IntExpr.of(value % divisor)
    return IntExpr.of(Compound("mod", reduced, rhs))


def _extremum(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    difference = (lhs - rhs).constant
    if difference is not None:
        return (lhs if difference > 0 else rhs) if op == "max" else (rhs if difference > 0 else lhs)
    first, second = sorted((lhs, rhs), key=str)
    return IntExpr.of(Compound(op, first, second))


def minimum(lhs: IntLike, rhs: IntLike) -> IntExpr:
    """The smaller of two expressions."""
    return _extremum("min", IntExpr.of(lhs), IntExpr.of(rhs))


def maximum(lhs: IntLike, rhs: IntLike) -> IntExpr:
    """The larger of two expressions."""
    return _extremum("max", IntExpr.of(lhs), IntExpr.of(rhs))


_BUILD: dict[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "floordiv": floordiv,
    "mod": floormod,
    "min": minimum,
    "max": maximum,
}


def compound(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """The simplified ``floordiv``, ``mod``, ``min`` or ``max`` of two expressions."""
    return _BUILD[op](lhs, rhs)


def split_quotient(expr: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(a, c)`` where the expression is ``a // c``, however many divisions that takes."""
    atom = expr.as_atom
    if isinstance(atom, Compound) and atom.op == "floordiv":
        dividend, divisor = split_quotient(atom.lhs)
        return dividend, divisor * atom.rhs
    return expr, ONE

"""Simplification of floordiv, mod, min and max of expressions."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from .terms import COMPOUNDS, ONE, ZERO, Compound, IntExpr, IntLike, Monomial, compound


def floordiv(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``lhs // rhs``, rounded towards minus infinity."""
    divisor = rhs.constant
    if divisor == 1 or not lhs.terms:
        return lhs
    if divisor is None or divisor == 0:
        return _symbolic_quotient(lhs, rhs)
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
    shared = gcd(divisor, *(c for m, c in rest.items() if m))
    if shared > 1 and divisor > 0:  # (6 i + 5) // 8 is (3 i + 2) // 4
        remaining = IntExpr.from_terms({m: c // shared for m, c in rest.items()})
        return result + floordiv(remaining, IntExpr.of(divisor // shared))
    if divisor > 0 and (joined := _joined_quotient(remaining, divisor)) is not None:
        return result + joined
    cases = _quotients_of_cases(remaining, rhs) if divisor > 0 else None
    return result + (IntExpr.of(Compound("floordiv", remaining, rhs)) if cases is None else cases)


def _symbolic_quotient(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``a + b // n`` for ``(a * n + b) // n``."""
    whole, rest = _multiples(lhs, rhs)
    return whole + Compound("floordiv", rest, rhs) if rest.terms else whole


def _multiples(lhs: IntExpr, rhs: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(q, r)`` with ``lhs == q * rhs + r``: the whole, or the terms that `rhs` divides."""
    if (quotient := _exact_quotient(lhs, rhs)) is not None:
        return quotient, ZERO
    whole, rest = ZERO, lhs
    for monomial, coefficient in lhs.terms if len(rhs.terms) == 1 else ():
        term = IntExpr.from_terms({monomial: coefficient})
        if (quotient := _exact_quotient(term, rhs)) is not None:
            whole, rest = whole + quotient, rest - term
    return whole, rest


def _joined_quotient(lhs: IntExpr, divisor: int) -> IntExpr | None:
    """``(a * c + b) // (c * d)`` for ``(a + b // c) // d``, of one quotient by a constant."""
    atoms = [m[0] for m, coefficient in lhs.terms if len(m) == 1 and coefficient == 1]
    found = [a for a in atoms if isinstance(a, Compound) and a.op == "floordiv"]
    if len(found) != 1:
        return None
    (atom,) = found
    inner = atom.rhs.constant or 0
    if inner <= 0:
        return None
    return floordiv((lhs - atom) * inner + atom.lhs, IntExpr.of(inner * divisor))


def _quotients_of_cases(lhs: IntExpr, rhs: IntExpr) -> IntExpr | None:
    """``min(a // c, b // c)`` for ``min(a, b) // c`` if it has no more quotients."""
    op, cases = next(choices_in(lhs), _NO_CHOICE)
    parts = [floordiv(case, rhs) for case in cases]
    if not cases or sum(map(_quotients_in, parts)) > 1 + _quotients_in(lhs):
        return None
    return compound(op, *parts)


def choices_in(expr: IntExpr, wanted: str | None = None) -> Iterator[tuple[str, list[IntExpr]]]:
    """A sum with a minimum or maximum as ("min" or "max", its two cases), for each one in it.

    With `wanted` only those; a negative factor turns one into the other.
    """
    for monomial, coefficient in expr.terms:
        (atom, *more) = monomial or (None,)
        if not more and isinstance(atom, Compound) and atom.op in _OTHER:
            op = atom.op if coefficient > 0 else _OTHER[atom.op]
            if wanted in (None, op):
                rest = expr - IntExpr.of(atom) * coefficient
                yield op, [rest + case * coefficient for case in (atom.lhs, atom.rhs)]


_NO_CHOICE = ("", list[IntExpr]())
_OTHER = {"min": "max", "max": "min"}


def _quotients_in(expr: IntExpr) -> int:
    return sum(1 for a in expr.all_atoms if isinstance(a, Compound) and a.op == "floordiv")


def is_divisor(expr: IntExpr) -> bool:
    """Whether an expression is assumed to be nonzero: a nonzero constant, or one over symbols only.

    A loop variable may be 0; quotients and remainders by 0 are 0.
    """
    return expr.constant != 0 and not expr.args()


def _exact_quotient(lhs: IntExpr, rhs: IntExpr) -> IntExpr | None:
    """``lhs / rhs`` if the polynomial `rhs` divides `lhs`, else `None`."""
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
        rest = _without_multiples(lhs, rhs)
        return IntExpr.of(Compound("mod", rest, rhs)) if rest.terms else ZERO
    lhs = _without_remainders(lhs, divisor)
    reduced = IntExpr.from_terms({m: c % divisor for m, c in lhs.terms})
    if (value := reduced.constant) is not None:
        return IntExpr.of(value % divisor)
    shared = gcd(divisor, *(c for m, c in reduced.terms if m))
    if shared > 1:  # (6 i + 5) % 8 is (3 i + 2) % 4 * 2 + 1
        quotient = IntExpr.from_terms({m: c // shared for m, c in reduced.terms})
        rest = sum(c for m, c in reduced.terms if not m) % shared
        return floormod(quotient, IntExpr.of(divisor // shared)) * shared + rest
    return IntExpr.of(Compound("mod", reduced, rhs))


def _without_multiples(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``a`` for ``a + b * c`` in ``(a + b * c) % c``, and in ``a % (b * c) % c``, of symbols c."""
    if not is_divisor(rhs) or len(rhs.terms) != 1:
        return lhs
    result = _multiples(lhs, rhs)[1]
    for monomial, coefficient in result.terms:
        (atom, *more) = monomial or (None,)
        if not more and isinstance(atom, Compound) and atom.op == "mod":
            if is_divisor(atom.rhs) and _exact_quotient(atom.rhs, rhs) is not None:
                return _without_multiples(result + (atom.lhs - atom) * coefficient, rhs)
    return result


def _without_remainders(lhs: IntExpr, divisor: int) -> IntExpr:
    """``a + b`` for ``a % 16 + b`` in ``(a % 16 + b) % 8``."""
    result = lhs
    for monomial, coefficient in lhs.terms:
        (atom, *more) = monomial or (None,)
        if not more and isinstance(atom, Compound) and atom.op == "mod":
            inner = atom.rhs.constant
            if inner and coefficient * inner % divisor == 0:
                new = _without_remainders(atom.lhs, divisor)
                result += (new - IntExpr.of(atom)) * coefficient
    return result


def _extremum(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    scaled = _scaled_cases(lhs), _scaled_cases(rhs)
    difference = (scaled[0] - scaled[1]).constant
    if difference is not None:
        return (lhs if difference > 0 else rhs) if op == "max" else (rhs if difference > 0 else lhs)
    if (shared := _with_shared_case(op, *scaled)) is not None:
        return shared
    first, second = sorted((lhs, rhs), key=str)
    return IntExpr.of(Compound(op, first, second))


def _scaled_cases(expr: IntExpr) -> IntExpr:
    """The expression with ``min(2 a, 2 b)`` for ``2 min(a, b)``."""
    result = expr
    for monomial, coefficient in expr.terms:
        (atom, *more) = monomial or (None,)
        if coefficient > 1 and not more and isinstance(atom, Compound) and atom.op in _OTHER:
            cases = [_scaled_cases(case * coefficient) for case in (atom.lhs, atom.rhs)]
            scaled = compound(atom.op, *cases)
            result += scaled - IntExpr.of(atom) * coefficient
    return result


def _with_shared_case(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr | None:
    """``min(a, max(b, c))`` for ``max(min(a, b), min(a, c))``, and so on; else `None`."""
    kinds = [next(choices_in(side), _NO_CHOICE) for side in (lhs, rhs)]
    for (kind, cases), other in zip(kinds, (rhs, lhs), strict=True):
        if other in cases:  # max(a, min(a, b)) is a, and max(a, max(a, b)) is max(a, b)
            return (rhs if other is lhs else lhs) if kind == op else other
        for case, rest in (cases, cases[::-1]) if kind == op else ():
            if (best := compound(op, case, other)) in (case, other):
                return compound(op, best, rest)  # max(max(a + 1, b), a) is max(a + 1, b)
    (kind, first), (second_kind, second) = kinds
    if kind == second_kind and kind:
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if first[i] == second[j]:
                return compound(kind, first[i], compound(op, first[1 - i], second[1 - j]))
    return None


def minimum(lhs: IntLike, rhs: IntLike) -> IntExpr:
    """The smaller of two expressions."""
    return _extremum("min", IntExpr.of(lhs), IntExpr.of(rhs))


def maximum(lhs: IntLike, rhs: IntLike) -> IntExpr:
    """The larger of two expressions."""
    return _extremum("max", IntExpr.of(lhs), IntExpr.of(rhs))


COMPOUNDS.update({"floordiv": floordiv, "mod": floormod, "min": minimum, "max": maximum})


def split_quotient(expr: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(a, c)`` if the expression is ``a // c``, also by nested divisions."""
    atom = expr.as_atom
    if isinstance(atom, Compound) and atom.op == "floordiv":
        dividend, divisor = split_quotient(atom.lhs)
        return dividend, divisor * atom.rhs
    return expr, ONE

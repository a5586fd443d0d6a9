"""Quotients and remainders of integer expressions, without known ranges: splitting and joining."""

from __future__ import annotations

from .int_expr import ZERO, Atom, Compound, IntExpr, is_divisor


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


def shorten_quotients(expr: IntExpr) -> IntExpr:
    """Write quotients as remainders and the other way round where the sum has fewer terms.

    ``a - a floordiv c * c`` is ``a mod c``, and ``(a + k) floordiv c - a floordiv c`` is
    ``(a mod c + k) floordiv c``.
    """
    result = _without_differences(_with_one_parity(_without_inner_remainders(expr)))
    for atom in _compounds(result, "floordiv"):
        remainder = atom.lhs % atom.rhs
        result = with_remainder(result, atom, atom.lhs, atom.rhs, remainder)
    return result


def _without_inner_remainders(expr: IntExpr) -> IntExpr:
    """``(a + b) floordiv c - a floordiv c`` for ``(a mod c + b) floordiv c``."""
    result = expr
    for atom in _compounds(expr, "floordiv"):
        divisor, whole, dividend = atom.rhs.constant or 0, ZERO, atom.lhs
        for monomial, factor in atom.lhs.terms if divisor > 0 else ():
            inner = IntExpr(((monomial, 1),)).as_atom
            if isinstance(inner, Compound) and inner.op == "mod":
                size = inner.rhs.constant or 0
                if size > 0 and size * factor % divisor == 0:
                    dividend += (inner.lhs - IntExpr.of(inner)) * factor
                    whole += inner.lhs // inner.rhs * (size * factor // divisor)
        if whole.terms and (split := result.split_on(atom)) is not None:
            result = split[0] * (dividend // divisor - whole) + split[1]
    return result


def with_remainder(
    expr: IntExpr, quotient: Atom, dividend: IntExpr, divisor: IntExpr, remainder: IntExpr
) -> IntExpr:
    """``c * remainder`` for ``c * dividend - c * divisor * quotient`` in a sum.

    Also with a part of the dividend only, if the sum has no more terms then. The divisor is not 0,
    and rounding is the same for quotient and remainder.
    """
    split = expr.split_on(quotient)
    if split is None or not is_divisor(divisor) or not split[0].terms:
        return expr
    whole, left = split_multiples(-split[0], divisor)
    rest = split[1] - whole * dividend
    if left.terms or len(rest.terms) > len(split[1].terms):
        return expr
    return rest + whole * remainder


def _compounds(expr: IntExpr, op: str, divisor: int | None = None) -> list[Compound]:
    """The quotients or remainders among the factors of a sum, by a number if one is given."""
    factors = dict.fromkeys(a for m, _ in expr.terms for a in m if isinstance(a, Compound))
    return [a for a in factors if a.op == op and divisor in (None, a.rhs.constant)]


def _without_differences(expr: IntExpr) -> IntExpr:
    """``(a mod c + k) floordiv c`` for ``(a + k) floordiv c - a floordiv c``, for k > 0."""
    atoms = [a for a in _compounds(expr, "floordiv") if (a.rhs.constant or 0) > 0]
    for upper in atoms:
        for lower in atoms:
            apart = (upper.lhs - lower.lhs).constant or 0
            if upper.rhs != lower.rhs or apart <= 0:
                continue
            (first, _), (second, rest) = (expr.split_on(a) or (ZERO, ZERO) for a in (upper, lower))
            if first.terms and first == -second:
                joined = (lower.lhs % lower.rhs + apart) // lower.rhs
                rest = expr - first * IntExpr.of(upper) - second * IntExpr.of(lower)
                return _without_differences(rest + first * joined)
    return expr


def _with_one_parity(expr: IntExpr) -> IntExpr:
    """Halves of a and of a + 1 and their remainders as the one of them with the fewest terms.

    ``(a + 1) floordiv 2`` is ``a - a floordiv 2``, and remainders are without twice a half.
    """
    result = expr
    atoms = [*_compounds(expr, "floordiv", 2), *_compounds(expr, "mod", 2)]
    for base in dict.fromkeys(a.lhs - a.lhs.offset for a in atoms):
        half, upper = base // 2, (base + 1) // 2
        odd, even = base % 2, (base + 1) % 2
        by_half = ((half, half), (upper, base - half), (odd, base - half * 2))
        total, count = result, 0
        for form, new in (*by_half, (even, half * 2 - base + 1)):
            atom = form.as_atom
            if atom is not None and (parts := total.split_on(atom)) and parts[0].terms:
                total, count = parts[0] * new + parts[1], count + 1
        atom = half.as_atom
        split = total.split_on(atom) if count > 1 and atom is not None else None
        if split is not None:
            factor, rest = split
            forms = [result, total, factor * (base - upper) + rest]
            if (whole := factor // 2) * 2 == factor:
                forms += [whole * (base - odd) + rest, whole * (base - 1 + even) + rest]
            result = min(forms, key=lambda form: len(form.terms))
    return result

"""Integer expressions with parts that are none over symbols, such as truncated quotients.

Such a part has a symbol of its own while a sum of it is simplified.
"""

from __future__ import annotations

from math import gcd
from typing import TypeGuard

from ..dialects.dtypes import integer_range
from ..dialects.int_expr import ZERO, Atom, Compound, IntExpr, Monomial, Sym
from ..dialects.quotients import with_remainder
from .arithmetic import Binary, Imm, Index, PrimExpr, as_int_expr, binary, const, index_expr
from .equality import is_equal
from .knowledge import Knowledge

OPENED = ("add", "sub", "mul", "floordiv", "floormod", "min", "max")
"""Operations that integer expressions have."""


class Parts:
    """Symbols for parts of expressions, and what is known of these."""

    def __init__(self, known: Knowledge, dtype: str):
        self._known = known.copy()
        self._dtype = dtype
        self._parts: dict[Atom, PrimExpr] = {}

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """An expression that is equal, of no more operations."""
        found = self._known.simplified(self._with_remainders(self._opened(expr)))
        return min(expr, self._closed(found), key=_count)

    def _opened(self, expr: PrimExpr) -> IntExpr:
        if (number := as_int_expr(expr)) is not None:
            return self._known.bound(number)
        if isinstance(expr, Binary) and expr.op in OPENED:
            sides = [Index(self._opened(side)) for side in (expr.lhs, expr.rhs)]
            if (number := as_int_expr(binary(expr.op, *sides))) is not None:
                return number
        for symbol, part in self._parts.items():
            if is_equal(part, expr):
                return IntExpr.of(symbol)
        symbol = Sym(f"?{len(self._parts)}")
        self._parts[symbol] = expr
        self._known.set_bounds(symbol, self._known.facts.bounds_of(expr))
        self._known.facts.residues[symbol] = self._known.facts.residue_of(expr)
        return IntExpr.of(symbol)

    def _with_remainders(self, expr: IntExpr) -> IntExpr:
        """Join truncated quotients with remainders, and write the former as the latter."""
        result = expr
        for symbol, part in list(self._parts.items()):
            if not _is(part, "truncdiv"):
                continue
            remainder = self._opened(_remainder(part))
            dividend, divisor = self._opened(part.lhs), self._opened(part.rhs)
            if remainder.as_atom is not None and divisor.constant:
                whole = dividend - divisor * IntExpr.of(symbol)
                result = result.substitute({remainder.as_atom: whole})
                result = with_remainder(result, symbol, dividend, divisor, remainder)
        return result

    def _closed(self, expr: IntExpr) -> PrimExpr:
        """The expression with parts for their symbols: these first, unless they are subtracted."""
        inside = [t for t in expr.terms if not self._parts.keys().isdisjoint(IntExpr((t,)).atoms())]
        if not inside:
            return index_expr(expr, self._dtype)
        common = gcd(*(c for _, c in expr.terms))
        if common > 1 and len(expr.terms) > 1:
            rest = IntExpr.from_terms({m: c // common for m, c in expr.terms})
            return binary("mul", self._closed(rest), common)
        rest = expr - IntExpr.from_terms(dict(inside))
        added = [self._product(m, c) for m, c in inside if c > 0]
        taken = [self._product(m, -c) for m, c in inside if c < 0]
        if not added and not rest.terms and common > 1:
            return self._product(inside[0][0], inside[0][1])
        is_taken = added and all(c < 0 for _, c in rest.terms)
        if rest.terms:
            (taken if is_taken else added).append(
                index_expr(-rest if is_taken else rest, self._dtype)
            )
        first, *others = added or [Imm(0, self._dtype)]
        for term in others:
            first = binary("add", first, term)
        for term in taken:
            first = binary("sub", first, term)
        return first

    def _product(self, monomial: Monomial, coefficient: int) -> PrimExpr:
        result = None
        for atom in monomial:
            factor = self._closed_atom(atom)
            result = factor if result is None else binary("mul", result, factor)
        assert result is not None
        return result if coefficient == 1 else binary("mul", result, coefficient)

    def _closed_atom(self, atom: Atom) -> PrimExpr:
        if atom in self._parts:
            return self._parts[atom]
        if isinstance(atom, Compound):
            op = "floormod" if atom.op == "mod" else atom.op
            return binary(op, self._closed(atom.lhs), self._closed(atom.rhs))
        return index_expr(IntExpr.of(atom), self._dtype)


def truncated(op: str, lhs: PrimExpr, rhs: PrimExpr) -> PrimExpr | None:
    """A "truncdiv" or "truncmod" in lowest terms, or without another quotient; else `None`."""
    dividend, divisor = as_int_expr(lhs), as_int_expr(rhs)
    if divisor is None or divisor.constant == 0:
        return None
    if op == "truncmod" and (divisor.constant or 0) < 0:
        return binary(op, lhs, index_expr(-divisor, rhs.dtype))
    if dividend is not None and (whole := dividend // divisor) * divisor == dividend:
        return index_expr(whole if op == "truncdiv" else ZERO, lhs.dtype)
    number = divisor.constant
    if number is None:
        return None
    if op == "truncdiv" and _is(lhs, "truncdiv") and (inner := as_int_expr(lhs.rhs)):
        low, high = integer_range(rhs.dtype)
        if low <= (product := (inner * divisor).constant or low - 1) <= high:
            return binary(op, lhs.lhs, const(product, rhs.dtype))
    common = 1 if dividend is None else gcd(number, *(c for _, c in dividend.terms))
    if dividend is None or common == 1:
        return None
    lowest = IntExpr.from_terms({m: c // common for m, c in dividend.terms})
    found = binary(op, index_expr(lowest, lhs.dtype), index_expr(divisor // common, rhs.dtype))
    return found if op == "truncdiv" else binary("mul", found, common)


def _remainder(quotient: Binary) -> PrimExpr:
    plain = binary("truncmod", quotient.lhs, quotient.rhs)
    lowest = truncated("truncmod", quotient.lhs, quotient.rhs)
    return plain if lowest is None else lowest


def _is(expr: PrimExpr, op: str) -> TypeGuard[Binary]:
    return isinstance(expr, Binary) and expr.op == op


def _count(expr: PrimExpr) -> int:
    """The number of operations and operands."""
    parts = expr.sides()[1] if isinstance(expr, Index) else expr.children()
    return 1 + sum(map(_count, parts))

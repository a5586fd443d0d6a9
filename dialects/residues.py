"""Residues of integers: a number that a value is a multiple of, after a constant is taken off.

The counterpart is TVM's ``ModularSetAnalyzer``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd
from typing import NamedTuple

from .int_expr import Atom, Compound, IntExpr


class Residue(NamedTuple):
    """The integers ``coeff * k + base``; one number if `coeff` is 0, all if it is 1."""

    coeff: int = 1
    base: int = 0

    @staticmethod
    def of(coeff: int, base: int) -> Residue:
        """The residue with `base` in ``[0, coeff)``."""
        return Residue(abs(coeff), base % abs(coeff) if coeff else base)

    def union(self, other: Residue) -> Residue:
        """The residue of what is in either."""
        return Residue.of(gcd(self.coeff, other.coeff, self.base - other.base), self.base)

    def intersection(self, other: Residue) -> Residue:
        """The residue of what is in both, by the Chinese remainder theorem; or this one."""
        step = gcd(self.coeff, other.coeff)
        if not self.coeff or not other.coeff or (self.base - other.base) % step:
            return self
        period = self.coeff // step * other.coeff
        inverse = pow(self.coeff // step, -1, other.coeff // step)
        times = (other.base - self.base) // step * inverse % (other.coeff // step)
        return Residue.of(period, self.base + self.coeff * times)


ANY = Residue()


def _product(a: Residue, b: Residue) -> Residue:
    return Residue.of(gcd(a.coeff * b.coeff, a.coeff * b.base, b.coeff * a.base), a.base * b.base)


def _quotient(a: Residue, b: Residue) -> Residue:
    if b.coeff or b.base <= 0 or a.coeff % b.base:
        return ANY
    return Residue.of(a.coeff // b.base, a.base // b.base)


def _remainder(a: Residue, b: Residue) -> Residue:
    if b.coeff or b.base <= 0:
        return ANY
    return Residue.of(gcd(a.coeff, b.base) if a.coeff else 0, a.base % b.base)


def _shift_left(a: Residue, b: Residue) -> Residue:
    return ANY if b.coeff or not 0 <= b.base < 64 else _product(a, Residue(0, 1 << b.base))


def _shift_right(a: Residue, b: Residue) -> Residue:
    return ANY if b.coeff or not 0 <= b.base < 64 else _quotient(a, Residue(0, 1 << b.base))


def _bitwise_and(a: Residue, b: Residue) -> Residue:
    """A remainder where the bits of `b` are the lowest ones."""
    is_mask = not b.coeff and b.base > 0 and not b.base & (b.base + 1)
    return _remainder(a, Residue(0, b.base + 1)) if is_mask else ANY


OPERATIONS: dict[str, Callable[[Residue, Residue], Residue]] = {
    "add": lambda a, b: Residue.of(gcd(a.coeff, b.coeff), a.base + b.base),
    "sub": lambda a, b: Residue.of(gcd(a.coeff, b.coeff), a.base - b.base),
    "mul": _product,
    "floordiv": _quotient,
    "floormod": _remainder,
    "mod": _remainder,
    "min": Residue.union,
    "max": Residue.union,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "bitwise_and": _bitwise_and,
}
"""The residues of results by those of operands; "truncdiv" and "truncmod" depend on signs."""


def truncated(op: str, lhs: Residue, rhs: Residue, is_non_negative: bool) -> Residue:
    """The residue of "truncdiv" or "truncmod": as if floored, for one sign or whole multiples."""
    floored = OPERATIONS["floordiv" if op == "truncdiv" else "floormod"](lhs, rhs)
    return floored if is_non_negative or lhs.base == 0 else ANY


def residue_of(expr: IntExpr, known: Mapping[Atom, Residue]) -> Residue:
    """The residue of an expression, by those of its atoms."""
    total = Residue(0, 0)
    for monomial, coefficient in expr.terms:
        product = Residue(0, coefficient)
        for atom in monomial:
            product = _product(product, _atom_residue(atom, known))
        total = OPERATIONS["add"](total, product)
    return total


def _atom_residue(atom: Atom, known: Mapping[Atom, Residue]) -> Residue:
    if atom in known:
        return known[atom]
    if not isinstance(atom, Compound):
        return ANY
    return OPERATIONS[atom.op](residue_of(atom.lhs, known), residue_of(atom.rhs, known))

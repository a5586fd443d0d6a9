"""Constant bounds of integers, and what operations make of them; TVM's ``ConstIntBoundAnalyzer``.

The bounds of `bounds` are expressions, and know that two terms move together. These are numbers,
for all operations, and for values of any sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd, inf, isinf
from typing import NamedTuple, TypeAlias

from .int_expr import Atom, Compound, IntExpr
from .residues import Residue, residue_of

Number: TypeAlias = int | float
"""An integer, or an infinity."""


class Bounds(NamedTuple):
    """The least and the largest value, both included; infinite where they are not known."""

    lower: Number = -inf
    upper: Number = inf

    @staticmethod
    def point(value: int) -> Bounds:
        """The bounds of one number."""
        return Bounds(value, value)

    @staticmethod
    def hull(values: Iterable[Number]) -> Bounds:
        """The bounds of all these numbers."""
        found = list(values)
        return Bounds(min(found), max(found))

    def union(self, other: Bounds) -> Bounds:
        """The bounds of what is in either."""
        return Bounds(min(self.lower, other.lower), max(self.upper, other.upper))

    def intersection(self, other: Bounds) -> Bounds:
        """The bounds of what is in both."""
        return Bounds(max(self.lower, other.lower), min(self.upper, other.upper))


UNBOUNDED = Bounds()


def _times(a: Number, b: Number) -> Number:
    return 0 if a == 0 or b == 0 else a * b


def _floor_quotient(a: Number, b: Number) -> Number:
    if isinf(a):
        return a if b > 0 else -a
    return (0 if a == 0 or (a > 0) == (b > 0) else -1) if isinf(b) else a // b


def _trunc_quotient(a: Number, b: Number) -> Number:
    size = _floor_quotient(abs(a), abs(b))
    return size if (a >= 0) == (b > 0) else -size


def _quotients(quotient: Callable[[Number, Number], Number], lhs: Bounds, rhs: Bounds) -> Bounds:
    """The bounds of quotients: those of the ends, as they are monotonic for divisors of one sign.

    Divisors are assumed to be nonzero, as TVM assumes.
    """
    divisors = [d for d in (*rhs, -1, 1) if rhs.lower <= d <= rhs.upper and d != 0]
    return Bounds.hull([quotient(a, d) for a in lhs for d in divisors]) if divisors else UNBOUNDED


def _floormod(lhs: Bounds, rhs: Bounds) -> Bounds:
    if lhs.lower >= 0 and rhs.lower >= 0:
        if lhs.upper < max(rhs.lower, 1):
            return lhs
        return Bounds(0, min(lhs.upper, rhs.upper - 1))
    return Bounds(min(rhs.lower + 1, 0), max(rhs.upper - 1, 0))


def _truncmod(lhs: Bounds, rhs: Bounds) -> Bounds:
    largest = max(abs(rhs.lower), abs(rhs.upper)) - 1
    smallest = max(rhs.lower, -rhs.upper, 1)
    if -smallest < lhs.lower and lhs.upper < smallest:
        return lhs
    return Bounds(max(min(lhs.lower, 0), -largest), min(max(lhs.upper, 0), largest))


def _powers(exponent: Bounds) -> Bounds | None:
    """The powers of two with these exponents; `None` for others than those of shifts."""
    if not 0 <= exponent.lower <= exponent.upper < 64:
        return None
    return Bounds(1 << int(exponent.lower), 1 << int(exponent.upper))


def _shift_left(lhs: Bounds, rhs: Bounds) -> Bounds:
    powers = _powers(rhs)
    return UNBOUNDED if powers is None else OPERATIONS["mul"](lhs, powers)


def _shift_right(lhs: Bounds, rhs: Bounds) -> Bounds:
    powers = _powers(rhs)
    return UNBOUNDED if powers is None else OPERATIONS["floordiv"](lhs, powers)


def _bitwise_and(lhs: Bounds, rhs: Bounds) -> Bounds:
    uppers = [side.upper for side in (lhs, rhs) if side.lower >= 0]
    return Bounds(0, min(uppers)) if uppers else UNBOUNDED


OPERATIONS: dict[str, Callable[[Bounds, Bounds], Bounds]] = {
    "add": lambda a, b: Bounds(a.lower + b.lower, a.upper + b.upper),
    "sub": lambda a, b: Bounds(a.lower - b.upper, a.upper - b.lower),
    "mul": lambda a, b: Bounds.hull([_times(x, y) for x in a for y in b]),
    "floordiv": lambda a, b: _quotients(_floor_quotient, a, b),
    "truncdiv": lambda a, b: _quotients(_trunc_quotient, a, b),
    "floormod": _floormod,
    "mod": _floormod,
    "truncmod": _truncmod,
    "min": lambda a, b: Bounds(min(a.lower, b.lower), min(a.upper, b.upper)),
    "max": lambda a, b: Bounds(max(a.lower, b.lower), max(a.upper, b.upper)),
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "bitwise_and": _bitwise_and,
}
"""The bounds of results by those of operands, by the names of `te.arithmetic.binary`."""


def remainder_bounds(op: str, lhs: Bounds, residue: Residue, divisor: int) -> Bounds:
    """The bounds of a "floormod" or "truncmod" by a positive number, with a residue's steps.

    A remainder of ``64 * n + 3`` by 256 is 3, 67, 131 or 195.
    """
    plain = OPERATIONS[op](lhs, Bounds.point(divisor))
    step = gcd(residue.coeff, divisor)
    first = residue.base % step
    above = Bounds(first, divisor - step + first)
    if op == "floormod" or lhs.lower >= 0:
        return plain.intersection(above)
    first = -residue.base % step
    below = Bounds(-(divisor - step + first), -first)
    return plain.intersection(below if lhs.upper <= 0 else below.union(above))


def constant_bounds(
    expr: IntExpr, known: Mapping[Atom, Bounds], residues: Mapping[Atom, Residue]
) -> Bounds:
    """The bounds of an expression, by those of its atoms; other atoms have any value."""
    total = Bounds.point(0)
    for monomial, coefficient in expr.terms:
        product = Bounds.point(coefficient)
        for atom in monomial:
            product = OPERATIONS["mul"](product, _atom_bounds(atom, known, residues))
        total = OPERATIONS["add"](total, product)
    return total


def _atom_bounds(
    atom: Atom, known: Mapping[Atom, Bounds], residues: Mapping[Atom, Residue]
) -> Bounds:
    given = known.get(atom, UNBOUNDED)
    if not isinstance(atom, Compound):
        return given
    lhs, rhs = (constant_bounds(e, known, residues) for e in (atom.lhs, atom.rhs))
    divisor = atom.rhs.constant
    if atom.op == "mod" and divisor is not None and divisor > 0:
        found = remainder_bounds("floormod", lhs, residue_of(atom.lhs, residues), divisor)
    else:
        found = OPERATIONS[atom.op](lhs, rhs)
    return found.intersection(given)

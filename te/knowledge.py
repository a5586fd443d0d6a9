"""What is known of integer expressions, and what follows of comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from ..dialects import bounds
from ..dialects.bounds import Interval
from ..dialects.constant_bounds import UNBOUNDED, Bounds
from ..dialects.int_expr import Arg, Atom, IntExpr, Sym
from ..dialects.residues import ANY, Residue, residue_of
from ..dialects.shortening import shorten
from .arithmetic import Binary, PrimExpr, as_int_expr
from .expr import Var
from .ranges import ConstIntBound
from .scalar_facts import ScalarFacts

_FLIPPED = {"le": "ge", "lt": "gt", "ge": "le", "gt": "lt", "eq": "eq", "ne": "ne"}
NEGATED = {"le": "gt", "lt": "ge", "ge": "lt", "gt": "le", "eq": "ne", "ne": "eq"}
"""The comparison of integers that holds where another one does not."""


@dataclass
class Knowledge:
    """Ranges, values, bounds and residues of variables, and comparisons that hold.

    The expressions `at_least_0` are never negative, and those of `not_0` never 0.
    """

    ranges: dict[Atom, Interval] = field(default_factory=lambda: {})
    values: dict[Atom, IntExpr] = field(default_factory=lambda: {})
    facts: ScalarFacts = field(default_factory=ScalarFacts)
    at_least_0: list[IntExpr] = field(default_factory=lambda: [])
    not_0: list[IntExpr] = field(default_factory=lambda: [])

    def copy(self) -> Knowledge:
        """A copy that learns by itself."""
        return Knowledge(
            dict(self.ranges),
            dict(self.values),
            self.facts.copy(),
            list(self.at_least_0),
            list(self.not_0),
        )

    def bound(self, expr: IntExpr) -> IntExpr:
        """The expression with the values of variables."""
        return expr.substitute(dict(self.values)) if self.values else expr

    def set_value(self, atom: Atom, value: IntExpr) -> None:
        """From now on a variable is equal to an expression."""
        self.values[atom] = value
        self.facts.bounds[atom] = self.facts.int_bounds(value)
        self.facts.residues[atom] = residue_of(value, self.facts.residues)

    def set_range(self, atom: Atom, span: Interval) -> None:
        """From now on a variable is in an interval."""
        self.ranges[atom] = span
        lower, upper = (self.facts.int_bounds(end) for end in span)
        self.facts.bounds[atom] = Bounds(lower.lower, upper.upper)

    def set_bounds(self, atom: Atom, found: Bounds) -> None:
        """From now on a variable is between two numbers."""
        self.facts.bounds[atom] = found
        self.ranges[atom] = Interval(*(IntExpr.of(end) for end in ConstIntBound.of(found)))

    def simplified(self, expr: IntExpr) -> IntExpr:
        """An equal expression, with what the ranges decide folded."""
        renamed, ranges, back = self._known_ranges(expr)
        return shorten(bounds.simplify(renamed, ranges)).substitute(back)

    def never_negative(self, expr: IntExpr) -> bool:
        """Whether an expression is known to be at least 0."""
        smaller = [expr, *(expr - known for known in self.at_least_0), self._without_products(expr)]
        if any(self.facts.int_bounds(e).lower >= 0 for e in smaller):
            return True
        renamed, ranges, _ = self._known_ranges(expr)
        return bounds.never_negative(renamed, ranges)

    def never_0(self, expr: IntExpr) -> bool:
        """Whether an expression is known to be other than 0."""
        step, base = residue_of(expr, self.facts.residues)
        if expr in self.not_0 or -expr in self.not_0 or (base % step if step else base):
            return True
        return self.never_negative(expr - 1) or self.never_negative(-expr - 1)

    def _without_products(self, expr: IntExpr) -> IntExpr:
        """Twice the expression, or less: ``2 * a * b`` is at most ``a * max(b) + b * max(a)``."""
        result = expr * 2
        for monomial, coefficient in expr.terms:
            if coefficient > 0 or len(monomial) != 2:
                continue
            factors = [IntExpr.of(atom) for atom in monomial]
            found = [self.facts.int_bounds(factor) for factor in factors]
            limits = [limit.upper for limit in found]
            if any(limit.lower < 0 for limit in found) or min(limits) == inf:
                continue
            result -= factors[0] * factors[1] * (2 * coefficient)
            if max(limits) == inf:  # only one is limited
                other = factors[limits.index(inf)]
                result += other * (2 * coefficient * int(min(limits)))
            else:
                result += (factors[0] * int(limits[1]) + factors[1] * int(limits[0])) * coefficient
        return result

    def interval(self, number: IntExpr, shown: Any) -> Interval:
        """The interval of an expression over symbols without a range.

        Raises ValueError, which shows what is given, where there is none.
        """
        to, back = self._renaming([number, *(e for span in self.ranges.values() for e in span)])
        span = bounds.interval_of(number.substitute(to), _renamed(self.ranges, to))
        if span is None:
            raise ValueError(f"expected an expression with known bounds, got {shown}")
        return Interval(*(e.substitute(back) for e in span))

    def _known_ranges(self, expr: IntExpr) -> tuple[IntExpr, bounds.Ranges, dict[Atom, IntExpr]]:
        """The renamed expression, the renamed ranges, and the names to undo."""
        ends = [e for atom, span in self.ranges.items() for e in (IntExpr.of(atom), *span)]
        to, back = self._renaming([expr, *ends])
        return expr.substitute(to), _renamed(self.ranges, to), back

    def _renaming(self, exprs: list[IntExpr]) -> tuple[dict[Atom, IntExpr], dict[Atom, IntExpr]]:
        """Symbols that may be negative as operands, of which `bounds` assumes no sign; and back."""
        names = sorted({name for expr in exprs for name in expr.symbols()})
        unknown = [s for s in map(Sym, names) if self.facts.int_bounds(IntExpr.of(s)).lower < 0]
        to: dict[Atom, IntExpr] = {s: IntExpr.of(Arg(n)) for n, s in enumerate(unknown)}
        back: dict[Atom, IntExpr] = {Arg(n): IntExpr.of(s) for n, s in enumerate(unknown)}
        return to, back

    def decided(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> bool | None:
        """The outcome of a comparison, `None` if it is not known."""
        x, y = as_int_expr(lhs), as_int_expr(rhs)
        if x is None or y is None:
            return self._decided_by_bounds(op, lhs, rhs)
        outcomes = {
            "le": (y - x, x - y - 1),
            "lt": (y - x - 1, x - y),
            "ge": (x - y, y - x - 1),
            "gt": (x - y - 1, y - x),
        }
        if op in outcomes:
            holds, fails = (self.never_negative(e) for e in outcomes[op])
            return True if holds else False if fails else None
        if self.never_0(x - y):
            return op == "ne"
        equal = self.simplified(x - y).constant == 0
        is_equal = equal or (self.never_negative(x - y) and self.never_negative(y - x))
        return op == "eq" if is_equal else None

    def _decided_by_bounds(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> bool | None:
        a, b = self.facts.bounds_of(lhs), self.facts.bounds_of(rhs)
        if op in ("gt", "ge"):
            return self._decided_by_bounds(_FLIPPED[op], rhs, lhs)
        if op in ("eq", "ne"):
            apart = a.upper < b.lower or b.upper < a.lower
            return (op == "ne") if apart else None
        holds = a.upper < b.lower if op == "lt" else a.upper <= b.lower
        fails = a.lower >= b.upper if op == "lt" else a.lower > b.upper
        return True if holds else False if fails else None

    def assume(self, part: PrimExpr) -> None:
        """Narrow what is known of the expressions that comparisons, joined by and, are about."""
        if isinstance(part, Binary) and part.op == "bitwise_and":
            self.assume(part.lhs)
            self.assume(part.rhs)
        if not isinstance(part, Binary) or part.op not in _FLIPPED:
            return
        x, y = as_int_expr(part.lhs), as_int_expr(part.rhs)
        if x is not None and y is not None:
            self._assume_difference(part.op, self.bound(x - y))
        for op, side, other in (
            (part.op, part.lhs, as_int_expr(part.rhs)),
            (_FLIPPED[part.op], part.rhs, as_int_expr(part.lhs)),
        ):
            if other is None or op == "ne":
                continue
            if isinstance(side, Var) and other.constant is not None:
                limits = _limits(op, Bounds.point(other.constant))
                self.facts.variables[side] = self.facts.bounds_of(side).intersection(limits)
            if op == "eq" and other.constant is not None:
                self._assume_residue(side, other.constant)
            number = as_int_expr(side)
            if number is not None and (atom := number.as_atom) is not None:
                self._narrow(atom, op, other)

    def _assume_difference(self, op: str, difference: IntExpr) -> None:
        """Learn from a comparison of a difference with 0."""
        if op == "ne":
            self.not_0.append(difference)
        if op in ("ge", "gt", "eq"):
            self.at_least_0.append(difference - (op == "gt"))
        if op in ("le", "lt", "eq"):
            self.at_least_0.append(-difference - (op == "lt"))

    def _assume_residue(self, side: PrimExpr, remainder: int) -> None:
        """Learn from a remainder by a number; one that is truncated tells it but for 0."""
        number = as_int_expr(side)
        atom = None if number is None else number.as_atom
        if isinstance(side, Binary) and side.op == "truncmod":
            dividend, divisor = as_int_expr(side.lhs), as_int_expr(side.rhs)
        elif atom is not None and not isinstance(atom, Sym | Arg) and atom.op == "mod":
            dividend, divisor = atom.lhs, atom.rhs
        else:
            return
        var = None if dividend is None else dividend.as_atom
        by = None if divisor is None else divisor.constant
        if var is not None and by is not None and by > 0:
            known = self.facts.residues.get(var, ANY)
            self.facts.residues[var] = known.intersection(Residue.of(by, remainder))

    def _narrow(self, atom: Atom, op: str, limit: IntExpr) -> None:
        limits = _limits(op, self.facts.int_bounds(limit))
        known = self.facts.bounds.get(atom, UNBOUNDED).intersection(limits)
        low, high = (IntExpr.of(end) for end in ConstIntBound.of(known))
        before = self.ranges.get(atom, Interval(low, high))
        self.facts.bounds[atom] = known
        if limit.constant is not None and atom not in self.ranges:
            self.ranges[atom] = before
            return
        if op in ("ge", "gt", "eq"):
            before = Interval(limit + (op == "gt"), before.upper)
        if op in ("le", "lt", "eq"):
            before = Interval(before.lower, limit - (op == "lt"))
        self.ranges[atom] = before


def _limits(op: str, other: Bounds) -> Bounds:
    """The bounds of what compares like this with something in other bounds."""
    lower = other.lower + (op == "gt") if op in ("ge", "gt", "eq") else -inf
    upper = other.upper - (op == "lt") if op in ("le", "lt", "eq") else inf
    return Bounds(lower, upper)


def _renamed(ranges: Mapping[Atom, Interval], to: dict[Atom, IntExpr]) -> dict[Atom, Interval]:
    found: dict[Atom, Interval] = {}
    for atom, span in ranges.items():
        new = IntExpr.of(atom).substitute(to).as_atom
        if new is not None:
            found[new] = Interval(*(end.substitute(to) for end in span))
    return found

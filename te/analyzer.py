"""`arith.Analyzer`: what is known of integer expressions; a view of the analyses in `dialects`."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any

from ..dialects import bounds
from ..dialects.bounds import Interval
from ..dialects.constant_bounds import UNBOUNDED, Bounds
from ..dialects.int_expr import Arg, Atom, IntExpr, Sym, maximum, minimum
from ..dialects.residues import ANY, Residue
from .arithmetic import (
    COMPARISONS,
    Binary,
    Call,
    Imm,
    PrimExpr,
    as_int_expr,
    binary,
    convert,
    index_expr,
)
from .expr import Var
from .ranges import ConstIntBound, IntervalSet, ModularSet, Range
from .scalar_facts import CHOICES, ScalarFacts

_FLIPPED = {"le": "ge", "lt": "gt", "ge": "le", "gt": "lt", "eq": "eq"}


class Analyzer:
    """Simplifies and proves, from ranges and values of variables; TVM's ``arith.Analyzer``.

    A variable is a symbol of `tir.Var` or `te.var`, which others of its name are equal to. It may
    have any value of its dtype as long as nothing is known of it.
    """

    def __init__(self) -> None:
        self._ranges: dict[Atom, Interval] = {}
        self._values: dict[Atom, IntExpr] = {}
        self._facts = ScalarFacts()

    def clone(self) -> Analyzer:
        """A copy that learns by itself."""
        new = type(self)()
        new._ranges, new._values = dict(self._ranges), dict(self._values)
        new._facts = self._facts.copy()
        return new

    def bind(self, var: PrimExpr, expr: Any, allow_override: bool = False) -> None:
        """From now on a variable is in a `Range`, or equal to an expression.

        TVM needs `allow_override` to change it. Raises TypeError for what is no variable or no
        integer expression.
        """
        if isinstance(expr, Range):
            self._set_range(_variable(var), expr.interval)
        else:
            self._values[_variable(var)] = self.int_expr(expr)

    def update(
        self,
        var: PrimExpr,
        info: ConstIntBound | ModularSet | IntervalSet,
        override: bool = False,
    ) -> None:
        """From now on a variable has these bounds, or is in this set.

        TVM needs `override` to change it. Raises TypeError for any other `info`.
        """
        match info:
            case ConstIntBound() if isinstance(var, Var):
                self._facts.variables[var] = info.bounds
            case ConstIntBound():
                self._set_bounds(_variable(var), info.bounds)
            case ModularSet():
                self._facts.residues[_variable(var)] = Residue.of(*info)
            case IntervalSet():
                self._set_range(_variable(var), info.interval)
            case _:
                raise TypeError(
                    "expected a ConstIntBound, ModularSet or IntervalSet, "
                    f"got {type(info).__name__}"
                )

    @contextmanager
    def constraint_scope(self, constraint: PrimExpr) -> Generator[None]:
        """Inside, comparisons of expressions hold, joined by ``&``; what is not known is kept."""
        before = self._ranges, self._facts
        self._ranges, self._facts = dict(self._ranges), self._facts.copy()
        for part in _parts(constraint):
            self._assume(part)
        try:
            yield
        finally:
            self._ranges, self._facts = before

    def simplify(self, expr: Any, steps: int = 2) -> PrimExpr:
        """An expression that is equal, with what the ranges decide folded, in canonical form."""
        value = convert(expr)
        number = as_int_expr(value)
        if number is not None:
            return index_expr(self._simplified(self._bound(number)), value.dtype)
        if not isinstance(value, Binary):
            return value
        op, parts = value.op, [self.simplify(part) for part in (value.lhs, value.rhs)]
        if op in ("truncdiv", "truncmod") and self._rounds_down(*parts):
            return self.simplify(binary(op.replace("trunc", "floor"), *parts))
        decided = self._decided(op, *parts) if op in COMPARISONS else None
        return binary(op, *parts) if decided is None else Imm(decided, "bool")

    rewrite_simplify = simplify
    canonical_simplify = simplify

    def can_prove(self, cond: Any, strength: object = None) -> bool:
        """Whether a condition is known to hold; `strength` is TVM's, and has no effect."""
        result = self.simplify(cond)
        if isinstance(result, Binary) and result.op == "bitwise_and":
            return self.can_prove(result.lhs) and self.can_prove(result.rhs)
        return isinstance(result, Imm) and bool(result.value)

    def can_prove_equal(self, lhs: Any, rhs: Any) -> bool:
        """Whether two expressions are known to be equal."""
        return self.can_prove(binary("eq", lhs, rhs))

    def can_prove_greater_equal(self, expr: Any, lower: int) -> bool:
        """Whether an expression is known to be at least a number."""
        return self.can_prove(binary("ge", expr, lower))

    def can_prove_less(self, expr: Any, upper: int) -> bool:
        """Whether an expression is known to be less than a number."""
        return self.can_prove(binary("lt", expr, upper))

    def const_int_bound(self, expr: Any) -> ConstIntBound:
        """The least and largest value that an expression is known to have."""
        return ConstIntBound.of(self._facts.bounds_of(self.simplify(expr)))

    def const_int_bound_is_bound(self, var: PrimExpr) -> bool:
        """Whether a variable has bounds."""
        if isinstance(var, Var):
            return var in self._facts.variables
        return _variable(var) in self._facts.bounds

    def modular_set(self, expr: Any) -> ModularSet:
        """A number that an expression is a multiple of, after a constant is taken off."""
        return ModularSet(*self._facts.residue_of(self.simplify(expr)))

    def int_set(self, expr: Any, dom_map: Mapping[PrimExpr, IntervalSet] | None = None) -> Any:
        """The set of an expression if variables are in these sets, by default in their ranges.

        Other variables are kept; sets over variables that have one are of all their values. Raises
        ValueError where no bounds are known.
        """
        inside = self.clone()
        if dom_map is not None:
            inside._ranges = {}
            for var, found in dom_map.items():
                inside.update(var, found)
        value = inside.simplify(expr)
        if isinstance(value, Call) and value.op in CHOICES:
            first, second = (self.int_set(part, dom_map).interval for part in value.args[1:])
            lower = minimum(first.lower, second.lower)
            return IntervalSet.of(Interval(lower, maximum(first.upper, second.upper)))
        span = Interval.point(self.int_expr(value))
        for _ in inside._ranges or [None]:
            lower, upper = (inside._interval(end, expr) for end in span)
            if span == (span := Interval(lower.lower, upper.upper)):
                break
        return IntervalSet.of(span)

    def _interval(self, number: IntExpr, shown: Any) -> Interval:
        to, back = self._renaming([number, *(e for span in self._ranges.values() for e in span)])
        span = bounds.interval_of(number.substitute(to), _renamed(self._ranges, to))
        if span is None:
            raise ValueError(f"expected an expression with known bounds, got {shown}")
        return Interval(*(e.substitute(back) for e in span))

    def _bound(self, expr: IntExpr) -> IntExpr:
        return expr.substitute(dict(self._values)) if self._values else expr

    def int_expr(self, expr: Any) -> IntExpr:
        """An expression with the values of variables; raises TypeError for other expressions."""
        number = as_int_expr(convert(expr))
        if number is None:
            raise TypeError(f"expected an integer expression of symbols, got {expr}")
        return self._bound(number)

    def _set_range(self, atom: Atom, span: Interval) -> None:
        self._ranges[atom] = span
        lower, upper = (self._facts.int_bounds(end) for end in span)
        self._facts.bounds[atom] = Bounds(lower.lower, upper.upper)

    def _set_bounds(self, atom: Atom, found: Bounds) -> None:
        self._facts.bounds[atom] = found
        self._ranges[atom] = Interval(*(IntExpr.of(end) for end in ConstIntBound.of(found)))

    def _renaming(self, exprs: list[IntExpr]) -> tuple[dict[Atom, IntExpr], dict[Atom, IntExpr]]:
        """Symbols that may be negative as operands, of which `bounds` assumes no sign; and back."""
        names = sorted({name for expr in exprs for name in expr.symbols()})
        unknown = [s for s in map(Sym, names) if self._facts.int_bounds(IntExpr.of(s)).lower < 0]
        to: dict[Atom, IntExpr] = {s: IntExpr.of(Arg(n)) for n, s in enumerate(unknown)}
        back: dict[Atom, IntExpr] = {Arg(n): IntExpr.of(s) for n, s in enumerate(unknown)}
        return to, back

    def _known_ranges(self, expr: IntExpr) -> tuple[IntExpr, bounds.Ranges, dict[Atom, IntExpr]]:
        """The renamed expression, the renamed ranges, and the names to undo."""
        ends = [e for atom, span in self._ranges.items() for e in (IntExpr.of(atom), *span)]
        to, back = self._renaming([expr, *ends])
        return expr.substitute(to), _renamed(self._ranges, to), back

    def _simplified(self, expr: IntExpr) -> IntExpr:
        renamed, ranges, back = self._known_ranges(expr)
        return bounds.simplify(renamed, ranges).substitute(back)

    def _never_negative(self, expr: IntExpr) -> bool:
        if self._facts.int_bounds(expr).lower >= 0:
            return True
        renamed, ranges, _ = self._known_ranges(expr)
        return bounds.never_negative(renamed, ranges)

    def _rounds_down(self, lhs: PrimExpr, rhs: PrimExpr) -> bool:
        """Whether a quotient that is truncated is the same as rounded down."""
        divisor = self._facts.bounds_of(rhs)
        return self._facts.bounds_of(lhs).lower >= 0 and divisor.lower >= 0

    def _decided(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> bool | None:
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
            holds, fails = (self._never_negative(e) for e in outcomes[op])
            return True if holds else False if fails else None
        apart = any(self._never_negative(e - 1) for e in (x - y, y - x))
        equal = self._simplified(x - y).constant == 0
        return None if not apart and not equal else equal == (op == "eq")

    def _decided_by_bounds(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> bool | None:
        a, b = self._facts.bounds_of(lhs), self._facts.bounds_of(rhs)
        if op in ("gt", "ge"):
            return self._decided_by_bounds(_FLIPPED[op], rhs, lhs)
        if op in ("eq", "ne"):
            apart = a.upper < b.lower or b.upper < a.lower
            return (op == "ne") if apart else None
        holds = a.upper < b.lower if op == "lt" else a.upper <= b.lower
        fails = a.lower >= b.upper if op == "lt" else a.lower > b.upper
        return True if holds else False if fails else None

    def _assume(self, part: PrimExpr) -> None:
        """Narrow what is known of the expressions that a comparison is about."""
        if not isinstance(part, Binary) or part.op not in _FLIPPED:
            return
        for op, side, other in (
            (part.op, part.lhs, as_int_expr(part.rhs)),
            (_FLIPPED[part.op], part.rhs, as_int_expr(part.lhs)),
        ):
            if other is None:
                continue
            if op == "eq" and other.constant is not None:
                self._assume_residue(side, other.constant)
            number = as_int_expr(side)
            if number is not None and (atom := number.as_atom) is not None:
                self._narrow(atom, op, other)

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
            known = self._facts.residues.get(var, ANY)
            self._facts.residues[var] = known.intersection(Residue.of(by, remainder))

    def _narrow(self, atom: Atom, op: str, limit: IntExpr) -> None:
        ends = self._facts.int_bounds(limit)
        lower = ends.lower + (op == "gt") if op in ("ge", "gt", "eq") else -inf
        upper = ends.upper - (op == "lt") if op in ("le", "lt", "eq") else inf
        known = self._facts.bounds.get(atom, UNBOUNDED).intersection(Bounds(lower, upper))
        low, high = (IntExpr.of(end) for end in ConstIntBound.of(known))
        before = self._ranges.get(atom, Interval(low, high))
        self._facts.bounds[atom] = known
        if limit.constant is not None and atom not in self._ranges:
            self._ranges[atom] = before
            return
        if op in ("ge", "gt", "eq"):
            before = Interval(limit + (op == "gt"), before.upper)
        if op in ("le", "lt", "eq"):
            before = Interval(before.lower, limit - (op == "lt"))
        self._ranges[atom] = before


def _renamed(ranges: Mapping[Atom, Interval], to: dict[Atom, IntExpr]) -> dict[Atom, Interval]:
    found: dict[Atom, Interval] = {}
    for atom, span in ranges.items():
        new = IntExpr.of(atom).substitute(to).as_atom
        if new is not None:
            found[new] = Interval(*(end.substitute(to) for end in span))
    return found


def _variable(var: PrimExpr) -> Atom:
    number = as_int_expr(var)
    atom = None if number is None else number.as_atom
    if atom is None:
        raise TypeError(f"expected a variable of integers, got {var}")
    return atom


def _parts(cond: PrimExpr) -> list[PrimExpr]:
    if isinstance(cond, Binary) and cond.op == "bitwise_and":
        return [*_parts(cond.lhs), *_parts(cond.rhs)]
    return [cond]

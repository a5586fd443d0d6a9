"""`arith.Analyzer`: what is known of integer expressions; a view of the analysis in `bounds`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from math import gcd
from typing import Any

from ..dialects import bounds
from ..dialects.bounds import Interval
from ..dialects.int_expr import Atom, IntExpr
from .arithmetic import COMPARISONS, Binary, Imm, Index, PrimExpr, as_int_expr, binary, convert
from .ranges import ConstIntBound, ModularSet, Range

_FLIPPED = {"le": "ge", "lt": "gt", "ge": "le", "gt": "lt", "eq": "eq"}


class Analyzer:
    """Simplifies and proves, from ranges and values of variables; TVM's ``arith.Analyzer``.

    A variable is a symbol of `tir.Var` or `te.var`, which is at least 0 as long as it has no range,
    and which others of its name are equal to.
    """

    def __init__(self) -> None:
        self._ranges: dict[Atom, Interval] = {}
        self._values: dict[Atom, IntExpr] = {}

    def bind(self, var: PrimExpr, expr: Any) -> None:
        """From now on a variable is in a `Range`, or equal to an expression.

        Raises TypeError for what is no variable or no integer expression.
        """
        if isinstance(expr, Range):
            self._ranges[_variable(var)] = expr.interval
        else:
            self._values[_variable(var)] = self._expr(expr)

    def update(self, var: PrimExpr, info: ConstIntBound, override: bool = False) -> None:
        """From now on a variable has these bounds; TVM needs `override` to change bounds."""
        span = Interval(IntExpr.of(info.min_value), IntExpr.of(info.max_value))
        self._ranges[_variable(var)] = span

    @contextmanager
    def constraint_scope(self, constraint: PrimExpr) -> Generator[None]:
        """Inside, comparisons hold of variables with numbers or expressions, joined by ``&``."""
        before = dict(self._ranges)
        for part in _parts(constraint):
            self._assume(part)
        try:
            yield
        finally:
            self._ranges = before

    def simplify(self, expr: Any, steps: int = 2) -> PrimExpr:
        """An expression that is equal, with what the ranges decide folded, in canonical form."""
        value = convert(expr)
        number = as_int_expr(value)
        if number is not None:
            return _index(bounds.simplify(self._bound(number), self._ranges), value.dtype)
        if not isinstance(value, Binary):
            return value
        parts = [self.simplify(part) for part in (value.lhs, value.rhs)]
        decided = self._decided(value.op, *parts) if value.op in COMPARISONS else None
        return binary(value.op, *parts) if decided is None else Imm(decided, "bool")

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
        span = bounds.interval_of(self._expr(self.simplify(expr)), self._ranges)
        lower = None if span is None else self._limit(-span.lower)
        upper = None if span is None else self._limit(span.upper)
        return ConstIntBound(
            ConstIntBound.NEG_INF if lower is None else max(-lower, ConstIntBound.NEG_INF),
            ConstIntBound.POS_INF if upper is None else min(upper, ConstIntBound.POS_INF),
        )

    def modular_set(self, expr: Any) -> ModularSet:
        """A number that an expression is a multiple of, after a constant is taken off."""
        number = self._expr(self.simplify(expr))
        coeff = gcd(*(c for monomial, c in number.terms if monomial))
        return ModularSet(coeff, number.offset % coeff if coeff else number.offset)

    def _bound(self, expr: IntExpr) -> IntExpr:
        return expr.substitute(dict(self._values)) if self._values else expr

    def _expr(self, expr: Any) -> IntExpr:
        number = as_int_expr(convert(expr))
        if number is None:
            raise TypeError(f"expected an integer expression of symbols, got {expr}")
        return self._bound(number)

    def _limit(self, expr: IntExpr) -> int | None:
        return None if self._may_be_negative(expr) else bounds.constant_limit(expr)

    def _never_negative(self, expr: IntExpr) -> bool:
        span = bounds.interval_of(expr, self._ranges)
        known = [expr] if span is None else [span.lower, expr]
        return any(bounds.is_non_negative(e) for e in known if not self._may_be_negative(e))

    def _may_be_negative(self, expr: IntExpr) -> bool:
        """Whether an expression has variables that the rules for symbols do not hold for."""
        spans = [self._ranges[atom] for atom in expr.all_atoms if atom in self._ranges]
        return any(not bounds.is_non_negative(s.lower) for s in spans)

    def _decided(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> bool | None:
        """The outcome of a comparison, `None` if it is not known."""
        x, y = as_int_expr(lhs), as_int_expr(rhs)
        if x is None or y is None:
            return None
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
        equal = bounds.simplify(x - y, self._ranges).constant == 0
        return None if not apart and not equal else equal == (op == "eq")

    def _assume(self, part: PrimExpr) -> None:
        """Narrow the range of the variable that a comparison is about."""
        if not isinstance(part, Binary) or part.op not in _FLIPPED:
            return
        for op, var, limit in (
            (part.op, as_int_expr(part.lhs), as_int_expr(part.rhs)),
            (_FLIPPED[part.op], as_int_expr(part.rhs), as_int_expr(part.lhs)),
        ):
            if var is not None and limit is not None and (atom := var.as_atom) is not None:
                self._narrow(atom, op, limit)

    def _narrow(self, atom: Atom, op: str, limit: IntExpr) -> None:
        unbounded = Interval(IntExpr.of(0), IntExpr.of(ConstIntBound.POS_INF))
        lower, upper = self._ranges.get(atom, unbounded)
        if op in ("ge", "gt", "eq"):
            lower = limit + (op == "gt")
        if op in ("le", "lt", "eq"):
            upper = limit - (op == "lt")
        self._ranges[atom] = Interval(lower, upper)


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


def _index(expr: IntExpr, dtype: str) -> PrimExpr:
    constant = expr.constant
    return Index(expr, dtype) if constant is None else Imm(constant, dtype)

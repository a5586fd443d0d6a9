"""Simplification of trees of scalars: comparisons, conditions and choices, by what is known."""

from __future__ import annotations

from typing import TypeGuard

from .arithmetic import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Imm,
    PrimExpr,
    as_int_expr,
    binary,
    cast,
    index_expr,
)
from .equality import is_equal
from .knowledge import NEGATED, Knowledge
from .parts import OPENED, Parts, truncated
from .scalar_facts import CHOICES, INDEX_DTYPES

_LOGICAL = ("bitwise_and", "bitwise_or")
_REFLEXIVE = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}


class Rewriter:
    """Simplifies expressions where something is known, which it does not change."""

    def __init__(self, known: Knowledge):
        self._known = known

    def simplify(self, value: PrimExpr) -> PrimExpr:
        """An expression that is equal, in canonical form where it is over symbols alone."""
        if (number := as_int_expr(value)) is not None:
            return index_expr(self._known.simplified(self._known.bound(number)), value.dtype)
        match value:
            case Binary(op=op, dtype="bool") if op in _LOGICAL:
                return self._joined(op, _parts(op, value))
            case Binary(op=op):
                return self._operated(op, *map(self.simplify, value.children()))
            case Call(op=op, args=(condition, on_true, on_false)) if op in CHOICES:
                return self._chosen(op, condition, on_true, on_false)
            case Cast():
                return cast(value.dtype, self.simplify(value.value))
            case _:
                return value

    def _where(self, condition: PrimExpr | None) -> Rewriter:
        """A rewriter that knows a condition too, if there is one."""
        if condition is None:
            return self
        known = self._known.copy()
        known.assume(condition)
        return Rewriter(known)

    def _joined(self, op: str, parts: list[PrimExpr]) -> PrimExpr:
        """A conjunction or disjunction; each part is simplified where it matters."""
        is_all, inside = op == "bitwise_and", self
        kept: list[PrimExpr] = []
        for part in parts:
            new = inside.simplify(part)
            if isinstance(new, Imm):
                if bool(new.value) != is_all:
                    return new
                continue
            kept.append(new)
            inside = inside._where(new if is_all else negation(new))
        result = kept[0] if kept else Imm(is_all, "bool")
        for part in kept[1:]:
            result = binary(op, result, part)
        return result

    def _chosen(
        self, op: str, condition: PrimExpr, on_true: PrimExpr, on_false: PrimExpr
    ) -> PrimExpr:
        """A choice, of which each side is simplified where it is taken."""
        test = self.simplify(condition)
        if isinstance(test, Imm):
            return self.simplify(on_true if test.value else on_false)
        first = self._where(test).simplify(on_true)
        second = self._where(negation(test)).simplify(on_false)
        return self._choice(op, test, first, second)

    def _choice(self, op: str, test: PrimExpr, first: PrimExpr, second: PrimExpr) -> PrimExpr:
        """A choice of simplified parts, of one condition where two have the same other side."""
        if is_equal(first, second):
            return first
        match first:
            case Call(op=inner, args=(more, both, other)) if inner == op:
                if is_equal(other, second) and not (more.reads_memory() or more.has_calls()):
                    both_hold = self._joined("bitwise_and", [test, more])
                    return self._choice(op, both_hold, both, other)
            case _:
                pass
        return Call(op, (test, first, second), first.dtype)

    def _operated(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> PrimExpr:
        """An operation on simplified operands; of what is called, it is kept."""
        if lhs.has_calls() or rhs.has_calls():
            return binary(op, lhs, rhs)
        if op in ("truncdiv", "truncmod"):
            if self._rounds_down(lhs, rhs):
                return self.simplify(binary(op.replace("trunc", "floor"), lhs, rhs))
            if lhs.dtype in INDEX_DTYPES and (found := truncated(op, lhs, rhs)) is not None:
                return self.simplify(found)
        if op == "bitwise_xor" and isinstance(rhs, Imm) and rhs.dtype == "bool":
            opposite = negation(lhs) if rhs.value else lhs
            return binary(op, lhs, rhs) if opposite is None else self.simplify(opposite)
        if op in COMPARISONS:
            decided = self._known.decided(op, lhs, rhs)
            if decided is None and is_integer(lhs.dtype) and is_equal(lhs, rhs):
                decided = _REFLEXIVE[op]
            return binary(op, lhs, rhs) if decided is None else Imm(decided, "bool")
        result = binary(op, lhs, rhs)
        if is_integer(result.dtype) and (only := self._only_value(op, result)) is not None:
            return Imm(only, result.dtype)
        chosen = self._inside_choices(op, lhs, rhs)
        if chosen is not None:
            return chosen
        is_sum = op in OPENED and result.dtype in INDEX_DTYPES
        return Parts(self._known, result.dtype).simplify(result) if is_sum else result

    def _only_value(self, op: str, expr: PrimExpr) -> int | None:
        """The value of an operation on integers if it is known."""
        if not isinstance(expr, Binary):
            return None
        if op == "sub" and is_equal(expr.lhs, expr.rhs):
            return 0
        found, residue = self._known.facts.bounds_of(expr), self._known.facts.residue_of(expr)
        if found.lower == found.upper:
            return int(found.lower)
        return None if residue.coeff else residue.base

    def _inside_choices(self, op: str, lhs: PrimExpr, rhs: PrimExpr) -> PrimExpr | None:
        """An operation on the sides of choices with one condition, or where a side cancels."""
        choices = [e for e in (lhs, rhs) if _is_choice(e)]
        if not choices or not _same_choice(choices[0], choices[-1]):
            return None
        kind, test = choices[0].op, choices[0].args[0]
        results: list[PrimExpr] = []
        cancels = len(choices) == 2
        for n, condition in ((1, test), (2, negation(test))):
            sides = [e.args[n] if _is_choice(e) else e for e in (lhs, rhs)]
            result = self._where(condition)._operated(op, *sides)
            cancels |= isinstance(result, Imm) and not all(isinstance(e, Imm) for e in sides)
            results.append(result)
        is_moved = len(choices) == 1 and (lhs.reads_memory() or rhs.reads_memory())
        return self._choice(kind, test, *results) if cancels and not is_moved else None

    def _rounds_down(self, lhs: PrimExpr, rhs: PrimExpr) -> bool:
        """Whether a quotient that is truncated is the same as rounded down."""
        bounds_of = self._known.facts.bounds_of
        return bounds_of(lhs).lower >= 0 and bounds_of(rhs).lower >= 0


def is_integer(dtype: str) -> bool:
    """Whether numbers of a dtype are equal to themselves, and have differences."""
    return dtype.startswith(("int", "uint"))


def negation(condition: PrimExpr) -> PrimExpr | None:
    """The opposite of a comparison of integers, or of several of which one holds; else `None`."""
    if isinstance(condition, Imm):
        return Imm(not condition.value, "bool")
    if not isinstance(condition, Binary):
        return None
    if condition.op in NEGATED and is_integer(condition.lhs.dtype):
        return binary(NEGATED[condition.op], condition.lhs, condition.rhs)
    if condition.op in _LOGICAL and condition.dtype == "bool":
        other = _LOGICAL[condition.op == _LOGICAL[0]]
        parts = [negation(part) for part in condition.children()]
        return None if None in parts else binary(other, *parts)
    return None


def _is_choice(expr: PrimExpr) -> TypeGuard[Call]:
    return isinstance(expr, Call) and expr.op in CHOICES


def _same_choice(a: Call, b: Call) -> bool:
    return a.op == b.op and is_equal(a.args[0], b.args[0])


def _parts(op: str, cond: PrimExpr) -> list[PrimExpr]:
    if isinstance(cond, Binary) and cond.op == op and cond.dtype == "bool":
        return [*_parts(op, cond.lhs), *_parts(op, cond.rhs)]
    return [cond]

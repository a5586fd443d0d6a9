"""Predicates of blocks, ``i * 4 + j < n and k <= 3``, as bounds of integer expressions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from ..dialects import tir
from ..dialects.int_expr import ZERO, IntExpr
from .expr import Binary, Imm, PrimExpr

Bound = tuple[IntExpr, IntExpr]
"""``lhs < rhs``."""


def bounds_of(predicate: PrimExpr, index: Callable[[PrimExpr], IntExpr]) -> list[Bound]:
    """The bounds that a predicate is the conjunction of; `index` gives the sides of comparisons.

    One of several, joined by ``or``, is a bound of their minimum. Raises ValueError for any other
    predicate.
    """
    if isinstance(predicate, Imm) and predicate.dtype == "bool":
        return [] if predicate.value else [(ZERO, ZERO)]
    if isinstance(predicate, Binary) and predicate.dtype == "bool":
        sides = predicate.lhs, predicate.rhs
        if predicate.op == "bitwise_and":
            return [b for side in sides for b in bounds_of(side, index)]
        if predicate.op == "bitwise_or":
            return [tir.any_of(bounds) for bounds in product(*(bounds_of(s, index) for s in sides))]
        if all(side.dtype in ("int32", "int64") for side in sides):
            return _compared(predicate.op, index(predicate.lhs), index(predicate.rhs))
    raise ValueError("expected comparisons of integer expressions, joined by 'and' and 'or'")


def _compared(op: str, lhs: IntExpr, rhs: IntExpr) -> list[Bound]:
    match op:
        case "lt":
            return [(lhs, rhs)]
        case "le":
            return [(lhs, rhs + 1)]
        case "gt":
            return [(rhs, lhs)]
        case "ge":
            return [(rhs, lhs + 1)]
        case "eq":
            return [(lhs, rhs + 1), (rhs, lhs + 1)]
        case _:
            raise ValueError("expected one of the comparisons < <= > >= ==")

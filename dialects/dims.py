"""Conversion of dims from user input: ints, symbols, expressions, and strings."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from .int_expr import IntExpr, Sym, maximum, minimum

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], IntExpr]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda lhs, rhs: lhs // rhs,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[[Any, Any], IntExpr]] = {"min": minimum, "max": maximum}


def dims_of(shape: Any) -> list[IntExpr]:
    """The dims of a shape: a sequence, an object with `values`, or a single dim.

    Raises TypeError or ValueError with one line for anything else.
    """
    values: Any = getattr(shape, "values", shape)
    if callable(values) or isinstance(values, str) or not isinstance(values, Iterable):
        return [dim_of(shape)]
    return [dim_of(d) for d in cast("Sequence[Any]", values)]


def dim_of(dim: Any) -> IntExpr:
    """Convert a dim to an integer expression: an int, an expression, or a string ``"n * 4"``.

    Raises TypeError or ValueError with one line for anything else.
    """
    if isinstance(dim, IntExpr):
        return dim
    if isinstance(dim, str):
        return _parsed(dim)
    if (inner := expr_of(dim)) is not None:
        return inner
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"expected a dim to be a number, a symbol or a string, got {dim!r}")
    number = operator.index(dim)
    if number < 0:
        raise ValueError(f"expected a dim of at least 0, got {number}")
    return IntExpr.of(number)


def expr_of(dim: object) -> IntExpr | None:
    """The integer expression that an object shows: an expression, or a number of a graph."""
    type_ = getattr(getattr(dim, "borrowed", None), "type", None)
    found = (getattr(shown, "expr", None) for shown in (dim, type_))
    return next((expr for expr in found if isinstance(expr, IntExpr)), None)


def _parsed(text: str) -> IntExpr:
    try:
        return int_expr_of(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
        raise ValueError(f"expected a dim such as 'n' or 'n * 4', got '{text}'") from None


def int_expr_of(node: ast.expr) -> IntExpr:
    """Convert a Python expression, whose names are symbols; raises ValueError for other syntax."""
    match node:
        case ast.Name(id=name):
            return IntExpr.of(Sym(name))
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return IntExpr.of(value)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](int_expr_of(left), int_expr_of(right))
        case ast.Call(func=ast.Name(id=name), args=[first, second]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](int_expr_of(first), int_expr_of(second))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -int_expr_of(operand)
        case _:
            raise ValueError

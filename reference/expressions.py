"""Integer expressions as Python functions, on numbers and on index arrays alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..dialects.int_expr import Arg, Atom, IntExpr, IntLike, Sym, render
from .values import EvaluationError, Value

Evaluate: TypeAlias = Callable[[Sequence[Value]], Value]

_PYTHON_SPELLING = {
    "floordiv": "floordiv({2}, {3})",
    "mod": "mod({2}, {3})",
    "min": "minimum({2}, {3})",
    "max": "maximum({2}, {3})",
}


def _minimum(lhs: Value, rhs: Value) -> Value:
    return min(lhs, rhs) if isinstance(lhs, int) and isinstance(rhs, int) else np.minimum(lhs, rhs)


def _maximum(lhs: Value, rhs: Value) -> Value:
    return max(lhs, rhs) if isinstance(lhs, int) and isinstance(rhs, int) else np.maximum(lhs, rhs)


def _floordiv(lhs: Value, rhs: Value) -> Value:
    """As native code divides: by 0 that is 0."""
    if isinstance(rhs, int):
        return lhs // rhs if rhs else lhs * 0
    with np.errstate(divide="ignore"):
        return np.floor_divide(lhs, rhs)


def _mod(lhs: Value, rhs: Value) -> Value:
    """The remainder of a division; 0 for a division by 0."""
    if isinstance(rhs, int):
        return lhs % rhs if rhs else lhs * 0
    with np.errstate(divide="ignore"):
        return np.mod(lhs, rhs)


def _name_of(atom: Sym | Arg) -> str:
    return f"a[{atom.index}]" if isinstance(atom, Arg) else atom.name


@lru_cache(maxsize=4096)
def compile_expr(expr: IntExpr) -> Evaluate:
    """The expression as a function of its operands' values; it must not have symbols.

    Quotients and remainders by 0 are 0, as in native code.
    """
    scope: dict[str, Any] = {
        "minimum": _minimum,
        "maximum": _maximum,
        "floordiv": _floordiv,
        "mod": _mod,
    }
    # The text is built from a canonical expression: numbers, operators and operand positions only.
    return eval(f"lambda a: {render(expr, _name_of, _PYTHON_SPELLING)}", scope)


def substitute_symbols(expr: IntExpr, symbols: Mapping[str, int]) -> IntExpr:
    """The expression with numbers for its symbols, in which divisions by 0 are left."""
    found: dict[Atom, IntLike] = {
        Sym(name): symbols[name] for name in expr.symbols() if name in symbols
    }
    return expr.substitute(found)


def with_symbols(expr: IntExpr, symbols: Mapping[str, int]) -> IntExpr:
    """The expression with numbers for its symbols; raises EvaluationError to divide by zero."""
    try:
        value = substitute_symbols(expr, symbols)
        return (
            IntExpr.of(value.evaluate(_unknown)) if not any(True for _ in value.atoms()) else value
        )
    except ZeroDivisionError:
        raise EvaluationError(f"expected no division by zero in '{expr}'") from None


def number(expr: IntExpr, symbols: Mapping[str, int]) -> int:
    """The value of an expression over symbols alone; raises EvaluationError where one has none."""
    value = with_symbols(expr, symbols).constant
    if value is None:
        missing = ", ".join(sorted(expr.symbols() - set(symbols)))
        raise EvaluationError(
            f"expected values for the symbols of '{expr}', got none for {missing or 'operands'}"
        )
    return value


def shape_of(dims: Sequence[IntExpr], symbols: Mapping[str, int]) -> tuple[int, ...]:
    """The shape that dims have for these symbols; raises EvaluationError for a negative one."""
    shape = tuple(number(d, symbols) for d in dims)
    for dim, value in zip(dims, shape, strict=True):
        if value < 0:
            raise EvaluationError(f"expected dims of at least 0, got {value} for '{dim}'")
    return shape


def _unknown(atom: Sym | Arg) -> int:
    raise EvaluationError(f"expected a value for '{atom}'")

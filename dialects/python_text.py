"""Expressions as Python text, as TVMScript writes them: precedences and integer expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .int_expr import Arg, Compound, IntExpr, Sym, render

OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, UNARY, PRIMARY = range(12)
"""Python's precedences, from loose to tight."""


class Text(NamedTuple):
    """An expression and how tightly its outermost operator binds."""

    text: str
    precedence: int = PRIMARY

    def within(self, precedence: int) -> str:
        """The text, in parentheses where an operand has to bind at least this tightly."""
        return self.text if self.precedence >= precedence else f"({self.text})"


_SPELLING = {
    "floordiv": "{0} // {1}",
    "mod": "{0} % {1}",
    "min": "T.min({2}, {3})",
    "max": "T.max({2}, {3})",
}


def integer_text(expr: IntExpr, name_of: Callable[[Sym | Arg], str] | None = None) -> str:
    """An integer expression with Python's operators."""
    return render(expr, spelling=_SPELLING) if name_of is None else render(expr, name_of, _SPELLING)


def integer_precedence(expr: IntExpr) -> int:
    """How tightly the text of an integer expression binds."""
    if (value := expr.constant) is not None:
        return PRIMARY if value >= 0 else UNARY
    if len(expr.terms) > 1:
        return ADD
    atom = expr.as_atom
    if atom is None:
        return MULTIPLY if all(c > 0 for _, c in expr.terms) else ADD
    if isinstance(atom, Compound) and atom.op in ("floordiv", "mod"):
        return MULTIPLY
    return PRIMARY

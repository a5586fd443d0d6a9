"""Symbols and operands, and the text of expressions over them, in several spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol


# Atoms are the keys of most dictionaries of a compilation: tuples hash several times as fast as
# dataclasses. They are never used as tuples; arithmetic begins with `IntExpr.of`.
class Sym(NamedTuple):
    """A symbol of the enclosing function: ``n`` of ``T.int64()`` or of ``R.Tensor(("n",))``."""

    name: str


class Arg(NamedTuple):
    """The `index`-th operand of the operation that holds the expression."""

    index: int  # pyright: ignore[reportIncompatibleMethodOverride]


class Polynomial(Protocol):
    """The part of `IntExpr` that rendering needs."""

    @property
    def terms(self) -> tuple[tuple[tuple[Any, ...], int], ...]:
        """Products of atoms with their coefficients."""
        ...

    @property
    def constant(self) -> int | None:
        """The value if the expression is constant."""
        ...

    @property
    def as_atom(self) -> Any:
        """The atom, if the expression is exactly one."""
        ...


RESERVED = frozenset({"floordiv", "mod", "min", "max", "arg"})
"""Keywords of the expression syntax; symbols with these names are quoted."""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")


def symbol_text(name: str) -> str:
    """A symbol in the text of the IR, quoted if the parser would not read it back."""
    return name if _BARE.fullmatch(name) and name not in RESERVED else f'"{name}"'


def _default_name(atom: Sym | Arg) -> str:
    return symbol_text(atom.name) if isinstance(atom, Sym) else f"arg({atom.index})"


IR_SPELLING = {
    "floordiv": "{0} floordiv {1}",
    "mod": "{0} mod {1}",
    "min": "min({2}, {3})",
    "max": "max({2}, {3})",
}
PYTHON_SPELLING = {**IR_SPELLING, "floordiv": "{0} // {1}", "mod": "{0} % {1}"}


def render(
    expr: Polynomial,
    name_of: Callable[[Sym | Arg], str] = _default_name,
    spelling: Mapping[str, str] = IR_SPELLING,
) -> str:
    """Render an expression; `spelling` has a format string for each kind of compound.

    In a format string, ``{0}`` and ``{1}`` are the operands, parenthesized as factors; ``{2}`` and
    ``{3}`` are not parenthesized.
    """
    if not expr.terms:
        return "0"
    text = ""
    for monomial, coefficient in expr.terms:
        magnitude = abs(coefficient)
        is_factor = len(monomial) > 1 or magnitude != 1 or coefficient < 0
        factors = [_render_atom(a, name_of, spelling, is_factor) for a in monomial]
        if magnitude != 1 or not factors:
            factors.append(str(magnitude))
        product = " * ".join(factors)
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {product}" if text else (f"-{product}" if coefficient < 0 else product)
    return text


def _render_atom(
    atom: Any, name_of: Callable[[Sym | Arg], str], spelling: Mapping[str, str], is_factor: bool
) -> str:
    if isinstance(atom, Sym | Arg):
        return name_of(atom)
    lhs, rhs = render(atom.lhs, name_of, spelling), render(atom.rhs, name_of, spelling)
    left = lhs if _is_leaf(atom.lhs) else f"({lhs})"
    right = rhs if _is_leaf(atom.rhs) else f"({rhs})"
    form = spelling[atom.op]
    text = form.format(left, right, lhs, rhs)
    return f"({text})" if is_factor and form.startswith("{") else text


def _is_leaf(expr: Polynomial) -> bool:
    constant = expr.constant
    return (constant is not None and constant >= 0) or isinstance(expr.as_atom, Sym | Arg)

"""Atoms of polynomials: symbols, operands, and floordiv, mod, min and max of other polynomials."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from .text import Arg, Sym, render_atom

if TYPE_CHECKING:
    from .terms import IntExpr

EVALUATE: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}
"""What the operation of each compound does."""

COMPOUND_OPS = tuple(EVALUATE)


class Compound:
    """A ``floordiv``, ``mod``, ``min`` or ``max`` that does not simplify further."""

    __slots__ = ("_hash", "lhs", "op", "rhs")
    __match_args__ = ("op", "lhs", "rhs")

    def __init__(self, op: str, lhs: IntExpr, rhs: IntExpr):
        self.op, self.lhs, self.rhs = op, lhs, rhs
        self._hash = hash((op, lhs, rhs))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Compound):
            return NotImplemented
        return (self.op, self.lhs, self.rhs) == (other.op, other.lhs, other.rhs)

    def __repr__(self) -> str:
        return f"Compound({self.op!r}, {self.lhs!r}, {self.rhs!r})"


Atom: TypeAlias = Sym | Arg | Compound
ATOMS = (Sym, Arg, Compound)
Monomial: TypeAlias = tuple[Atom, ...]
"""A product of atoms, in the order of their keys."""


def atom_key(atom: Atom) -> tuple[int, int, str]:
    """The key by which atoms are sorted: operands, then symbols, then compounds by their text."""
    match atom:
        case Arg(index):
            return (0, index, "")
        case Sym(name):
            return (1, 0, name)
        case Compound():
            return (2, 0, _text(atom))


@lru_cache(maxsize=1 << 14)
def _text(atom: Compound) -> str:
    """The text of a compound, by which terms are sorted; cached, as rendering is slow."""
    return render_atom(atom)


@lru_cache(maxsize=1 << 14)
def _monomial_key(monomial: Monomial) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
    return (not monomial, tuple(atom_key(a) for a in monomial))


def term_key(term: tuple[Monomial, int]) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
    """The key by which the terms of a polynomial are sorted; the constant is the last."""
    return _monomial_key(term[0])

"""Canonical polynomials over atoms, with floordiv, mod, min and max as compound atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import index, is_
from typing import TypeAlias

from .text import Arg, Sym, render

IntLike: TypeAlias = "IntExpr | Atom | int"


_EVALUATE: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}
COMPOUND_OPS = tuple(_EVALUATE)


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
_ATOMS = (Sym, Arg, Compound)


Monomial: TypeAlias = tuple[Atom, ...]


def _atom_key(atom: Atom) -> tuple[int, int, str]:
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
    return str(IntExpr.of(atom))


@lru_cache(maxsize=1 << 14)
def _monomial_key(monomial: Monomial) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
    return (not monomial, tuple(_atom_key(a) for a in monomial))


def _term_key(term: tuple[Monomial, int]) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
    return _monomial_key(term[0])


class IntExpr:
    """A canonical polynomial: `terms` pairs products of atoms with coefficients, sorted.

    The constant term is the last.

    Build expressions with `IntExpr.of`, `sym`, `arg` and Python's ``+ - * // %`` (floor semantics).
    Expressions are immutable, and properties and results are cached: the same ones recur often.
    """

    __slots__ = ("_arg_set", "_args", "_atoms", "_hash", "_leaves", "constant", "terms")

    constant: int | None
    """The value if the expression is constant; `None` otherwise."""

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]):
        self.terms = terms
        self._hash = hash(terms)
        self.constant = None if terms else 0
        if len(terms) == 1 and not terms[0][0]:
            self.constant = terms[0][1]
        self._atoms = self._leaves = self._args = self._arg_set = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self.terms == other.terms if isinstance(other, IntExpr) else NotImplemented

    @staticmethod
    def of(value: IntLike) -> IntExpr:
        """The expression of an int, an atom, or an expression; raises TypeError otherwise."""
        if isinstance(value, IntExpr):
            return value
        if isinstance(value, _ATOMS):
            return _expression((((value,), 1),))
        return _number(value if type(value) is int else int(index(value)))

    @staticmethod
    def from_terms(terms: Mapping[Monomial, int]) -> IntExpr:
        """The sum of products with these coefficients; the atoms of each product are sorted."""
        kept = [(m, c) for m, c in terms.items() if c]
        if len(kept) > 1:
            kept.sort(key=_term_key)
        return _expression(tuple(kept))

    @property
    def is_constant(self) -> bool:
        return self.constant is not None

    @property
    def offset(self) -> int:
        """The constant term."""
        return self.terms[-1][1] if self.terms and not self.terms[-1][0] else 0

    @property
    def as_atom(self) -> Atom | None:
        """The atom, if the expression is exactly one atom."""
        if len(self.terms) != 1:
            return None
        monomial, coefficient = self.terms[0]
        return monomial[0] if coefficient == 1 and len(monomial) == 1 else None

    def __add__(self, other: IntLike) -> IntExpr:
        return _sum(self, other if isinstance(other, IntExpr) else IntExpr.of(other))

    def __neg__(self) -> IntExpr:
        return _times(self, -1)

    def __sub__(self, other: IntLike) -> IntExpr:
        return _difference(self, other if isinstance(other, IntExpr) else IntExpr.of(other))

    def __rsub__(self, other: IntLike) -> IntExpr:
        return IntExpr.of(other) - self

    def __mul__(self, other: IntLike) -> IntExpr:
        return _product(self, other if isinstance(other, IntExpr) else IntExpr.of(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike) -> IntExpr:
        return compound("floordiv", self, IntExpr.of(other))

    def __rfloordiv__(self, other: IntLike) -> IntExpr:
        return compound("floordiv", IntExpr.of(other), self)

    def __mod__(self, other: IntLike) -> IntExpr:
        return compound("mod", self, IntExpr.of(other))

    def __rmod__(self, other: IntLike) -> IntExpr:
        return compound("mod", IntExpr.of(other), self)

    def atoms(self) -> Iterator[Atom]:
        """The symbols and operands in the expression and its compounds, with repetitions."""
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, Compound):
                    yield from atom.lhs.atoms()
                    yield from atom.rhs.atoms()
                else:
                    yield atom

    def symbols(self) -> set[str]:
        """The names of the symbols in the expression."""
        return {a.name for a in self.leaves if isinstance(a, Sym)}

    @property
    def all_atoms(self) -> tuple[Atom, ...]:
        """The distinct atoms in the expression; compounds precede their operands."""
        if self._atoms is None:
            self._atoms = tuple(dict.fromkeys(_all_atoms(self)))
        return self._atoms

    @property
    def leaves(self) -> tuple[Sym | Arg, ...]:
        """The distinct symbols and operands in the expression, in order."""
        if self._leaves is None:
            atoms = self.all_atoms
            self._leaves = tuple([a for a in atoms if not isinstance(a, Compound)])
        return self._leaves

    def args(self) -> frozenset[int]:
        """The positions of the operands in the expression."""
        if self._arg_set is None:
            self._arg_set = frozenset(self.args_in_order)
        return self._arg_set

    @property
    def args_in_order(self) -> tuple[int, ...]:
        """The positions of the operands, by first occurrence."""
        if self._args is None:
            self._args = tuple([a.index for a in self.leaves if isinstance(a, Arg)])
        return self._args

    @property
    def has_compounds(self) -> bool:
        """Whether the expression contains a ``floordiv``, ``mod``, ``min`` or ``max``."""
        return len(self.all_atoms) > len(self.leaves)

    def substitute(self, mapping: Mapping[Atom, IntLike]) -> IntExpr:
        """Replace symbols and operands; those not in the mapping are kept."""
        leaves = self.leaves
        if not mapping or not leaves:
            return self
        return _substituted(self, tuple([mapping.get(leaf) for leaf in leaves]))

    def evaluate(self, value_of: Callable[[Sym | Arg], int]) -> int:
        """The value of the expression if `value_of` has the values of symbols and operands.

        Raises ZeroDivisionError for a floordiv or mod by zero.
        """
        total = 0
        for monomial, coefficient in self.terms:
            product = coefficient
            for atom in monomial:
                if isinstance(atom, Compound):
                    lhs, rhs = atom.lhs.evaluate(value_of), atom.rhs.evaluate(value_of)
                    product = product * _EVALUATE[atom.op](lhs, rhs)
                else:
                    product = product * value_of(atom)
            total = total + product
        return total

    def coefficient_of(self, atom: Atom) -> IntExpr | None:
        """``c`` if the expression is ``c * atom + rest`` and neither contains `atom`.

        Otherwise `None`.
        """
        coefficient, rest = self.split_on(atom) or (None, None)
        return coefficient if rest is not None else None

    def split_on(self, atom: Atom) -> tuple[IntExpr, IntExpr] | None:
        """``(c, rest)`` if the expression is ``c * atom + rest`` and neither contains `atom`.

        Otherwise `None`.
        """
        coefficient: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for monomial, value in self.terms:
            others = tuple(a for a in monomial if a != atom)
            if len(monomial) - len(others) > 1 or any(_mentions(a, atom) for a in others):
                return None
            (rest if len(others) == len(monomial) else coefficient)[others] = value
        return IntExpr.from_terms(coefficient), IntExpr.from_terms(rest)

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        return f"IntExpr({self})"


_expression = lru_cache(maxsize=1 << 16)(IntExpr)
"""Construct an expression; cached, with its cached properties, as most recur."""

ZERO = _expression(())


ONE = _expression((((), 1),))


def sym(name: str) -> IntExpr:
    """The expression of the symbol `name`."""
    return IntExpr.of(Sym(name))


@lru_cache(maxsize=1 << 10)
def arg(index: int) -> IntExpr:
    """The expression of operand number `index`."""
    return IntExpr.of(Arg(index))


@lru_cache(maxsize=1 << 13)
def _number(value: int) -> IntExpr:
    return _expression((((), value),) if value else ())


@lru_cache(maxsize=1 << 16)
def _sum(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    if rhs.constant is not None:
        return _plus(lhs, rhs.constant)
    if lhs.constant is not None:
        return _plus(rhs, lhs.constant)
    terms = dict(lhs.terms)
    for monomial, coefficient in rhs.terms:
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return IntExpr.from_terms(terms)


@lru_cache(maxsize=1 << 16)
def _difference(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    if rhs.constant is not None:
        return _plus(lhs, -rhs.constant)
    return lhs + _times(rhs, -1)


@lru_cache(maxsize=1 << 16)
def _product(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    if rhs.constant is not None:
        return _times(lhs, rhs.constant)
    if lhs.constant is not None:
        return _times(rhs, lhs.constant)
    terms: dict[Monomial, int] = {}
    for m0, c0 in lhs.terms:
        for m1, c1 in rhs.terms:
            m = m0 + m1
            if m0 and m1:
                m = tuple(sorted(m, key=_atom_key))
            terms[m] = terms.get(m, 0) + c0 * c1
    return IntExpr.from_terms(terms)


def _plus(expr: IntExpr, number: int) -> IntExpr:
    """The sum with a number; terms need no sorting."""
    if not number:
        return expr
    rest = expr.terms
    if rest and not rest[-1][0]:
        rest, number = rest[:-1], number + rest[-1][1]
    if not rest:
        return _number(number)
    return _expression((*rest, ((), number)) if number else rest)


def _times(expr: IntExpr, number: int) -> IntExpr:
    """The product with a number; terms need no sorting."""
    if number == 1:
        return expr
    if expr.constant is not None:
        return _number(expr.constant * number)
    return _expression(tuple([(m, c * number) for m, c in expr.terms])) if number else ZERO


@lru_cache(maxsize=1 << 16)
def _substituted(expr: IntExpr, new: Sequence[IntLike | None]) -> IntExpr:
    """Replace the leaves, in the order of `leaves`; `None` keeps a leaf."""
    mapping: dict[Atom, IntLike] = {
        leaf: value
        for leaf, value in zip(expr.leaves, new, strict=True)
        if value is not None and (value.as_atom if isinstance(value, IntExpr) else value) != leaf
    }
    if not mapping:
        return expr
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in expr.terms:
        factors = [_replaced(atom, mapping) for atom in monomial]
        if all(map(is_, factors, monomial)):
            terms[monomial] = terms.get(monomial, 0) + coefficient
            continue
        for m, c in _product_of(factors).terms:
            terms[m] = terms.get(m, 0) + coefficient * c
    return IntExpr.from_terms(terms)


def _all_atoms(expr: IntExpr) -> Iterator[Atom]:
    for monomial, _ in expr.terms:
        for atom in monomial:
            yield atom
            if isinstance(atom, Compound):
                yield from _all_atoms(atom.lhs)
                yield from _all_atoms(atom.rhs)


def _mentions(atom: Atom, wanted: Atom) -> bool:
    if atom == wanted:
        return True
    return isinstance(atom, Compound) and any(
        wanted in operand.all_atoms for operand in (atom.lhs, atom.rhs)
    )


def _product_of(factors: Iterable[IntLike]) -> IntExpr:
    product = ONE
    for factor in factors:
        product = product * factor
    return product


def _replaced(atom: Atom, mapping: Mapping[Atom, IntLike]) -> IntLike:
    """The replacement of an atom; the atom itself if nothing changes."""
    if not isinstance(atom, Compound):
        return mapping.get(atom, atom)
    lhs, rhs = atom.lhs.substitute(mapping), atom.rhs.substitute(mapping)
    return atom if lhs is atom.lhs and rhs is atom.rhs else compound(atom.op, lhs, rhs)


COMPOUNDS: dict[str, Callable[[IntExpr, IntExpr], IntExpr]] = {}
"""The function that simplifies each operation of `Compound`; `simplification` enters them."""


@lru_cache(maxsize=1 << 16)
def compound(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """The simplified ``floordiv``, ``mod``, ``min`` or ``max`` of two expressions."""
    return COMPOUNDS[op](lhs, rhs)

"""Canonical polynomials over atoms; floordiv, mod, min and max of them are atoms again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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


@dataclass(frozen=True)
class Compound:
    """A ``floordiv``, ``mod``, ``min`` or ``max`` of expressions that did not simplify further."""

    op: str
    lhs: IntExpr
    rhs: IntExpr

    @cached_property
    def _hash(self) -> int:
        return hash((self.op, self.lhs, self.rhs))

    def __hash__(self) -> int:
        return self._hash


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
    """The text of a compound, which terms are in the order of: rendering takes long."""
    return str(IntExpr.of(atom))


@lru_cache(maxsize=1 << 14)
def _monomial_key(monomial: Monomial) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
    return (not monomial, tuple(_atom_key(a) for a in monomial))


@dataclass(frozen=True)
class IntExpr:
    """A canonical polynomial: `terms` pairs each product of atoms with its coefficient, sorted.

    The constant term is the last.

    Build expressions with `IntExpr.of`, `sym`, `arg` and Python's ``+ - * // %`` (floor semantics).
    """

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @staticmethod
    def of(value: IntLike) -> IntExpr:
        """The expression of an int, an atom, or an expression; raises TypeError for the rest."""
        if isinstance(value, IntExpr):
            return value
        if isinstance(value, _ATOMS):
            return IntExpr((((value,), 1),))
        return _number(index(value))

    @staticmethod
    def from_terms(terms: Mapping[Monomial, int]) -> IntExpr:
        """The sum of products with these coefficients; each product's atoms are in order."""
        kept = [(m, c) for m, c in terms.items() if c]
        if len(kept) > 1:
            kept.sort(key=lambda term: _monomial_key(term[0]))
        return IntExpr(tuple(kept))

    @property
    def is_constant(self) -> bool:
        return not self.terms or (len(self.terms) == 1 and not self.terms[0][0])

    @property
    def constant(self) -> int | None:
        """The value, if the expression is one number; `None` otherwise."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[0]
        return coefficient if len(self.terms) == 1 and not monomial else None

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
        rhs = IntExpr.of(other)
        if (number := rhs.constant) is not None:
            return self._plus(number)
        if (number := self.constant) is not None:
            return rhs._plus(number)
        terms = dict(self.terms)
        for monomial, coefficient in rhs.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return IntExpr.from_terms(terms)

    def _plus(self, number: int) -> IntExpr:
        """The sum with a number, which needs no order."""
        if not number:
            return self
        rest = self.terms
        if rest and not rest[-1][0]:
            rest, number = rest[:-1], number + rest[-1][1]
        if not rest:
            return _number(number)
        return IntExpr((*rest, ((), number)) if number else rest)

    def _times(self, number: int) -> IntExpr:
        """The product with a number, which needs no order."""
        if number == 1:
            return self
        if (value := self.constant) is not None:
            return _number(value * number)
        return IntExpr(tuple([(m, c * number) for m, c in self.terms])) if number else ZERO

    def __neg__(self) -> IntExpr:
        return self._times(-1)

    def __sub__(self, other: IntLike) -> IntExpr:
        rhs = IntExpr.of(other)
        if (number := rhs.constant) is not None:
            return self._plus(-number)
        return self + rhs._times(-1)

    def __rsub__(self, other: IntLike) -> IntExpr:
        return IntExpr.of(other) - self

    def __mul__(self, other: IntLike) -> IntExpr:
        rhs = IntExpr.of(other)
        if (number := rhs.constant) is not None:
            return self._times(number)
        if (number := self.constant) is not None:
            return rhs._times(number)
        terms: dict[Monomial, int] = {}
        for m0, c0 in self.terms:
            for m1, c1 in rhs.terms:
                m = m0 + m1
                if m0 and m1:
                    m = tuple(sorted(m, key=_atom_key))
                terms[m] = terms.get(m, 0) + c0 * c1
        return IntExpr.from_terms(terms)

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
        """Every symbol and operand in the expression, with repetitions, compounds looked into."""
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, Compound):
                    yield from atom.lhs.atoms()
                    yield from atom.rhs.atoms()
                else:
                    yield atom

    def symbols(self) -> set[str]:
        """Names of the symbols in the expression."""
        return {a.name for a in self.atoms() if isinstance(a, Sym)}

    def args(self) -> frozenset[int]:
        """Positions of the operands in the expression."""
        return self._args

    @cached_property
    def _args(self) -> frozenset[int]:
        return frozenset(self.args_in_order)

    @cached_property
    def args_in_order(self) -> tuple[int, ...]:
        """Positions of the operands, in the order in which they first appear."""
        return tuple(dict.fromkeys([a.index for a in self.atoms() if isinstance(a, Arg)]))

    @cached_property
    def has_compounds(self) -> bool:
        """Whether there is a ``floordiv``, ``mod``, ``min`` or ``max`` in the expression."""
        return any(isinstance(a, Compound) for monomial, _ in self.terms for a in monomial)

    def substitute(self, mapping: Mapping[Atom, IntLike]) -> IntExpr:
        """Replace symbols and operands; what the mapping does not hold stays."""
        if not mapping or self.is_constant:
            return self
        terms: dict[Monomial, int] = {}
        is_same = True
        for monomial, coefficient in self.terms:
            factors = [_replaced(atom, mapping) for atom in monomial]
            if all(map(is_, factors, monomial)):
                terms[monomial] = terms.get(monomial, 0) + coefficient
                continue
            is_same = False
            for m, c in _product(factors).terms:
                terms[m] = terms.get(m, 0) + coefficient * c
        return self if is_same else IntExpr.from_terms(terms)

    def evaluate(self, value_of: Callable[[Sym | Arg], int]) -> int:
        """The value of the expression when `value_of` gives the values of symbols and operands.

        Raises ZeroDivisionError for a floordiv or mod by zero.
        """
        total = 0
        for monomial, coefficient in self.terms:
            product = coefficient
            for atom in monomial:
                if isinstance(atom, Compound):
                    lhs, rhs = atom.lhs.evaluate(value_of), atom.rhs.evaluate(value_of)
                    product *= _EVALUATE[atom.op](lhs, rhs)
                else:
                    product *= value_of(atom)
            total += product
        return total

    def coefficient_of(self, atom: Atom) -> IntExpr | None:
        """``c`` where the expression is ``c * atom + rest`` and neither mentions `atom`.

        Else `None`.
        """
        coefficient, rest = self.split_on(atom) or (None, None)
        return coefficient if rest is not None else None

    def split_on(self, atom: Atom) -> tuple[IntExpr, IntExpr] | None:
        """``(c, rest)`` where the expression is ``c * atom + rest`` and neither mentions `atom`.

        `None` where there is no such form.
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


ZERO = IntExpr(())


ONE = IntExpr((((), 1),))


def sym(name: str) -> IntExpr:
    """The expression of the symbol `name`."""
    return IntExpr.of(Sym(name))


@lru_cache(maxsize=1 << 10)
def arg(index: int) -> IntExpr:
    """The expression of operand number `index`."""
    return IntExpr.of(Arg(index))


def _number(value: int) -> IntExpr:
    return _small_number(value) if -_SMALL < value < _SMALL else IntExpr((((), value),))


_SMALL = 1 << 12


@lru_cache(maxsize=2 * _SMALL)
def _small_number(value: int) -> IntExpr:
    return IntExpr((((), value),) if value else ())


def _mentions(atom: Atom, wanted: Atom) -> bool:
    if atom == wanted:
        return True
    return isinstance(atom, Compound) and any(
        _mentions(a, wanted) for e in (atom.lhs, atom.rhs) for m, _ in e.terms for a in m
    )


def _product(factors: Sequence[IntLike]) -> IntExpr:
    first, *others = factors
    product = IntExpr.of(first)
    for factor in others:
        product = product * factor
    return product


def _replaced(atom: Atom, mapping: Mapping[Atom, IntLike]) -> IntLike:
    """What the mapping has for an atom; the atom itself where that is the same."""
    if not isinstance(atom, Compound):
        new = mapping.get(atom, atom)
        return atom if (new.as_atom if isinstance(new, IntExpr) else new) == atom else new
    lhs, rhs = atom.lhs.substitute(mapping), atom.rhs.substitute(mapping)
    return atom if lhs is atom.lhs and rhs is atom.rhs else compound(atom.op, lhs, rhs)


def floordiv(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``lhs // rhs`` rounded towards minus infinity."""
    divisor = rhs.constant
    if divisor == 1 or not lhs.terms:
        return lhs
    if divisor is None or divisor == 0:
        return _exact_quotient(lhs, rhs) or IntExpr.of(Compound("floordiv", lhs, rhs))
    if (value := lhs.constant) is not None:
        return IntExpr.of(value // divisor)
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in lhs.terms:
        quotient, remainder = divmod(coefficient, divisor)
        if not monomial or remainder == 0:
            whole[monomial] = quotient
            rest[monomial] = remainder
        else:
            rest[monomial] = coefficient
    remaining = IntExpr.from_terms(rest)
    result = IntExpr.from_terms(whole)
    if (value := remaining.constant) is not None:
        return result + value // divisor
    return result + IntExpr.of(Compound("floordiv", remaining, rhs))


def is_divisor(expr: IntExpr) -> bool:
    """Whether an expression is taken not to be 0: a number but 0, or one of symbols, as of sizes.

    A variable of a loop may be 0; quotients and remainders by 0 are 0.
    """
    return expr.constant != 0 and not expr.args()


def _exact_quotient(lhs: IntExpr, rhs: IntExpr) -> IntExpr | None:
    """``lhs / rhs`` where the polynomial `rhs` divides `lhs`."""
    if not is_divisor(rhs):
        return None
    atoms = list(dict.fromkeys(a for m, _ in (*rhs.terms, *lhs.terms) for a in m))

    def degrees(term: tuple[Monomial, int]) -> list[int]:
        return [term[0].count(atom) for atom in atoms]

    divisor, factor = max(rhs.terms, key=degrees)
    result, rest = ZERO, lhs
    while rest.terms:
        monomial, coefficient = max(rest.terms, key=degrees)
        left = list(monomial)
        for atom in divisor:
            if atom not in left:
                return None
            left.remove(atom)
        if coefficient % factor:
            return None
        piece = IntExpr.from_terms({tuple(left): coefficient // factor})
        result, rest = result + piece, rest - piece * rhs
    return result


def floormod(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """``lhs % rhs`` with the sign of `rhs`."""
    divisor = rhs.constant
    if divisor == 1:
        return ZERO
    if divisor is None or divisor <= 0:
        return IntExpr.of(Compound("mod", lhs, rhs)) if lhs.terms else ZERO
    reduced = IntExpr.from_terms({m: c % divisor for m, c in lhs.terms})
    if (value := reduced.constant) is not None:
        return IntExpr.of(value % divisor)
    return IntExpr.of(Compound("mod", reduced, rhs))


def _extremum(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    difference = (lhs - rhs).constant
    if difference is not None:
        return (lhs if difference > 0 else rhs) if op == "max" else (rhs if difference > 0 else lhs)
    first, second = sorted((lhs, rhs), key=str)
    return IntExpr.of(Compound(op, first, second))


def minimum(lhs: IntLike, rhs: IntLike) -> IntExpr:
    """The smaller of two expressions."""
    return _extremum("min", IntExpr.of(lhs), IntExpr.of(rhs))


def maximum(lhs: IntLike, rhs: IntLike) -> IntExpr:
    """The larger of two expressions."""
    return _extremum("max", IntExpr.of(lhs), IntExpr.of(rhs))


_BUILD: dict[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "floordiv": floordiv,
    "mod": floormod,
    "min": minimum,
    "max": maximum,
}


def compound(op: str, lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """The simplified ``floordiv``, ``mod``, ``min`` or ``max`` of two expressions."""
    return _BUILD[op](lhs, rhs)


def split_quotient(expr: IntExpr) -> tuple[IntExpr, IntExpr]:
    """``(a, c)`` where the expression is ``a // c``, however many divisions that takes."""
    atom = expr.as_atom
    if isinstance(atom, Compound) and atom.op == "floordiv":
        dividend, divisor = split_quotient(atom.lhs)
        return dividend, divisor * atom.rhs
    return expr, ONE

"""Iterator maps: whether index expressions are injective, and their inverse.

::

    a0 = i * 12 + j * 4 + k      ⇒      i = a0 // 12, j = a0 % 12 // 4, k = a0 % 4
    a0 = i // 4, a1 = i % 4      ⇒      i = a0 * 4 + a1
    a0 = i + j, a1 = j           ⇒      i = a0 - a1

In a sum, a term is known if its coefficient is larger than what the others add up to, as that of a
digit in a number; then the others are known too. Quotients are joined with their remainders. The
counterpart is TVM's ``arith::DetectIterMap``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import gcd, prod

from ...dialects.bounds import Interval, Ranges, interval_of, is_non_negative, simplify
from ...dialects.int_expr import (
    ONE,
    ZERO,
    Atom,
    Compound,
    IntExpr,
    IntLike,
    Monomial,
    Sym,
    arg,
    floormod,
    split_quotient,
)


class IterMap:
    """Expressions of iterators, by the values ``arg(0)``, ``arg(1)``, … of some expressions.

    All atoms that are no iterators are fixed, and symbols are at least 1.
    """

    def __init__(self, exprs: Sequence[IntExpr], iterators: Collection[Atom], ranges: Ranges):
        self.iterators = set(iterators)
        self.ranges = ranges
        self.known: dict[IntExpr, IntExpr] = {}
        for number, expr in enumerate(exprs):
            self._learn(expr, arg(number))
        found = -1
        while found != len(self.known):
            found = len(self.known)
            self._join()
            for expr, value in list(self.known.items()):
                self._subtract(expr, value)

    def value_of(self, iterator: Atom) -> IntExpr | None:
        """An iterator, over the values of the expressions; `None` if they do not determine it."""
        return self.known.get(IntExpr.of(iterator))

    def tells(self, iterators: Collection[Atom]) -> bool:
        """Whether the expressions are injective in these iterators."""
        return all(self.value_of(iterator) is not None for iterator in iterators)

    def _learn(self, expr: IntExpr, value: IntExpr) -> None:
        """Note the value of an expression, and of its terms as far as they follow."""
        expr = simplify(expr, self.ranges)
        digits: dict[Monomial, dict[Monomial, int]] = {}
        for monomial, coefficient in expr.terms:
            own = tuple(a for a in monomial if _mentions(a, self.iterators))
            others = tuple(a for a in monomial if not _mentions(a, self.iterators))
            digits.setdefault(own, {})[others] = coefficient
        fixed = IntExpr.from_terms(digits.pop((), {}))
        expr, value = expr - fixed, value - fixed
        if expr in self.known or not digits:
            return
        self.known[expr] = value
        for own, weights in digits.items():
            digit, weight = IntExpr.from_terms({own: 1}), IntExpr.from_terms(weights)
            split = None if digit == expr else self._split(expr - digit * weight, weight, value)
            if split is not None:
                self._learn(digit, split[0])
                self._learn(expr - digit * weight, split[1])
                return

    def _subtract(self, expr: IntExpr, value: IntExpr) -> None:
        """Note the rest of a sum without the terms that are known."""
        for monomial, coefficient in expr.terms:
            term = IntExpr.from_terms({monomial: 1})
            known = None if term == expr else self._value_of_term(term)
            if known is not None:
                expr, value = expr - term * coefficient, value - known * coefficient
        self._learn(expr, value)

    def _value_of_term(self, term: IntExpr) -> IntExpr | None:
        """The value of a term which is known, or whose iterators are."""
        if term in self.known:
            return self.known[term]
        found = {a: self.value_of(a) for a in self.iterators.intersection(term.atoms())}
        values = {a: value for a, value in found.items() if value is not None}
        return term.substitute(values) if len(values) == len(found) else None

    def _split(
        self, rest: IntExpr, weight: IntExpr, value: IntExpr
    ) -> tuple[IntExpr, IntExpr] | None:
        """``(digit, rest)`` where ``digit * weight + rest`` is `value`, if that is one pair."""
        if not self.iterators.intersection(rest.atoms()) <= self.ranges.keys():
            return None
        span = interval_of(rest, self.ranges)
        size = weight if weight.constant is None else IntExpr.of(abs(weight.constant))
        room = None if span is None else interval_of(size - span.extent, self.ranges)
        if span is None or room is None or not _is_positive(room.lower + 1):
            return None
        above = value - span.lower
        digit = above // size
        return (digit if size == weight else -digit), _remainder(above, size) + span.lower

    def _join(self) -> None:
        """Put quotients together with their remainders."""
        atoms = [a for e in self.known for a in [e.as_atom] if isinstance(a, Compound)]
        remainders = [a for a in atoms if a.op == "mod"]
        for quotient in (a for a in atoms if a.op == "floordiv"):
            for remainder in remainders:
                self._join_pair(quotient, remainder)

    def _join_pair(self, quotient: Compound, remainder: Compound) -> None:
        """``a`` from ``a // c`` and ``a % c``; also ``b // d`` from ``b // (d * c)`` and that % c.

        Of the remainder's ``a``, multiples of c may be missing.
        """
        dividend, by = split_quotient(IntExpr.of(quotient))
        base, divisor = split_quotient(remainder.lhs)
        if by != divisor * remainder.rhs:
            return
        whole = dividend if divisor == ONE else dividend // divisor
        if dividend != base and (divisor != ONE or floormod(dividend - base, by) != ZERO):
            return
        high, low = self.known[IntExpr.of(quotient)], self.known[IntExpr.of(remainder)]
        self._learn(whole, high * remainder.rhs + low)
        if divisor != ONE:
            self._learn(remainder.lhs, high * remainder.rhs + low)


def is_bijective(expr: IntExpr, extents: Mapping[Atom, IntExpr]) -> bool:
    """Whether different iterations of the loops give `expr` different values without gaps.

    `extents` has the loops' numbers of iterations; those that do not occur are left out, and so are
    those of one. Values grow with each of the loops. Other atoms are fixed.
    """
    used = used_in(expr, extents)
    ranges = {a: Interval.range(0, extent) for a, extent in extents.items()}
    moving = simplify(expr - expr.substitute(dict.fromkeys(extents, ZERO)), ranges)
    count = prod((extents[a] for a in used), start=ONE)
    is_dense = interval_of(moving, ranges) == Interval.range(0, count)
    return is_dense and IterMap([moving], used, ranges).tells(used)


def is_box(exprs: Sequence[IntExpr], extents: Mapping[Atom, IntExpr]) -> bool:
    """Whether different iterations give different values, which are those of a box."""
    used = [a for e in exprs for a in used_in(e, extents)]
    return len(used) == len(set(used)) and all(is_bijective(e, extents) for e in exprs)


def fills(
    exprs: Sequence[IntExpr], extents: Mapping[Atom, IntExpr], dims: Sequence[IntExpr]
) -> bool:
    """Whether different iterations give different values, which are all indices of a shape.

    A fused loop may be in several of the expressions, which are known to be in bounds.
    """
    used = {a for e in exprs for a in used_in(e, extents)}
    ranges = {a: Interval.range(0, extents[a]) for a in used}
    count = prod((extents[a] for a in used), start=ONE)
    return count == prod(dims, start=ONE) and IterMap(exprs, used, ranges).tells(used)


def used_in(expr: IntExpr, extents: Mapping[Atom, IntExpr]) -> set[Atom]:
    """The loops that occur in an expression, those of one iteration left out."""
    return {a for a in expr.atoms() if a in extents and extents[a] != ONE}


def moving_part(expr: IntExpr, variables: AbstractSet[Atom]) -> tuple[IntExpr, IntExpr]:
    """``(step, part)``: the terms that depend on variables are ``step * part``.

    The step is a positive number, times what one term alone has of other atoms.
    """
    part = IntExpr.from_terms(
        {m: c for m, c in expr.terms if any(_mentions(a, variables) for a in m)}
    )
    step = gcd(*(c for _, c in part.terms)) or 1
    part = IntExpr.from_terms({m: c // step for m, c in part.terms})
    if len(part.terms) != 1:
        return IntExpr.of(step), part
    ((monomial, sign),) = part.terms
    own = tuple(a for a in monomial if _mentions(a, variables))
    others = tuple(a for a in monomial if not _mentions(a, variables))
    return IntExpr.from_terms({others: step}), IntExpr.from_terms({own: sign})


def _mentions(atom: Atom, wanted: AbstractSet[Atom]) -> bool:
    if isinstance(atom, Compound):
        return not wanted.isdisjoint((*atom.lhs.atoms(), *atom.rhs.atoms()))
    return atom in wanted


def _is_positive(expr: IntExpr) -> bool:
    """Whether an expression is at least 1 wherever no symbol is 0."""
    larger: dict[Atom, IntLike] = {Sym(s): IntExpr.of(Sym(s)) + 1 for s in expr.symbols()}
    return is_non_negative(expr.substitute(larger) - 1)


def _remainder(value: IntExpr, size: IntExpr) -> IntExpr:
    """``value % size``, of a remainder by a multiple of it that of what is divided."""
    atom = value.as_atom
    if isinstance(atom, Compound) and atom.op == "mod" and floormod(atom.rhs, size) == ZERO:
        return _remainder(atom.lhs, size)
    return floormod(value, size)

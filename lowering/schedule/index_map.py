"""`IndexMap`: new indices of an element by its old ones, and the way back.

::

    lambda i, j: (i // 4, j, i % 4)     inverse for [n, m]:     lambda a0, a1, a2: (a0 * 4 + a2, a1)

The inverse exists where sums are digits of a number, and quotients come with their remainders.
The counterpart is TVM's ``IndexMap`` with ``arith::DetectIterMap``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...dialects.bounds import Interval, interval_of, is_non_negative, simplify
from ...dialects.dims import int_expr_of
from ...dialects.int_expr import (
    ONE,
    PYTHON_SPELLING,
    ZERO,
    Arg,
    Atom,
    Compound,
    IntExpr,
    IntLike,
    Sym,
    floormod,
    render,
    split_quotient,
)


@dataclass(frozen=True)
class IndexMap:
    """A function from indices to indices: `results` are over ``arg(i)``, called ``names[i]``."""

    names: tuple[str, ...]
    results: tuple[IntExpr, ...]

    @staticmethod
    def of(function: Callable[[Sequence[IntExpr]], Sequence[IntExpr]], rank: int) -> IndexMap:
        """The map that a function of `rank` indices is."""
        return IndexMap(tuple(f"i{n}" for n in range(rank)), tuple(function(_args(rank))))

    @staticmethod
    def of_text(text: str) -> IndexMap:
        """The map that the text of a lambda is; raises ValueError for other text."""
        try:
            node = ast.parse(text.strip(), mode="eval").body
            if not isinstance(node, ast.Lambda):
                raise ValueError
            names = [a.arg for a in node.args.args]
            own: dict[Atom, IntExpr] = {Sym(n): IntExpr.of(Arg(i)) for i, n in enumerate(names)}
            items = node.body.elts if isinstance(node.body, ast.Tuple | ast.List) else [node.body]
            return IndexMap(tuple(names), tuple(int_expr_of(e).substitute(own) for e in items))
        except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
            raise ValueError(f"expected a lambda of integer expressions, got '{text}'") from None

    def symbols(self) -> set[str]:
        """The symbols in the new indices."""
        return {s for e in self.results for s in e.symbols()}

    def __call__(self, indices: Sequence[IntExpr]) -> list[IntExpr]:
        """The new indices of an element; raises ValueError for another number of old ones."""
        if len(indices) != len(self.names):
            raise ValueError(f"expected {len(self.names)} indices for {self}, got {len(indices)}")
        mapping: dict[Atom, IntLike] = {Arg(i): index for i, index in enumerate(indices)}
        return [e.substitute(mapping) for e in self.results]

    def text(self, expr: IntExpr) -> str:
        """An expression over the old indices as Python."""
        return render(
            expr,
            lambda a: a.name if isinstance(a, Sym) else self.names[a.index],
            PYTHON_SPELLING,
        )

    def __str__(self) -> str:
        results = [self.text(e) for e in self.results]
        inner = ", ".join(results) + ("," if len(results) == 1 else "")
        return f"lambda {', '.join(self.names)}: ({inner})"

    def shape(self, dims: Sequence[IntExpr]) -> list[IntExpr]:
        """The dims that hold all new indices of elements of a shape, each from 0.

        Raises ValueError where the range of a new index is not known, or begins below 0.
        """
        ranges = ranges_of_dims(dims)
        shape: list[IntExpr] = []
        for expr in self(_args(len(dims))):
            span = interval_of(simplify(expr, ranges), ranges)
            if span is None or span.upper.args():
                raise ValueError(f"expected the range of new index {self.text(expr)} to be known")
            if not is_non_negative(span.lower):
                raise ValueError(
                    f"expected new index {self.text(expr)} to be at least 0, got {span.lower}"
                )
            shape.append(span.upper + 1)
        return shape

    def inverse(self, dims: Sequence[IntExpr]) -> IndexMap:
        """The map from new indices of a shape's elements to old ones.

        New indices that no element has are mapped somewhere: `conditions` tell them. Raises
        ValueError where the old indices are not known from the new ones.
        """
        solver = _Solver(ranges_of_dims(dims))
        for number, result in enumerate(self(_args(len(dims)))):
            solver.learn(result, IntExpr.of(Arg(number)))
        solver.join()
        olds = [
            solver.known.get(a, ZERO if d == ONE else None)
            for a, d in zip(_args(len(dims)), dims, strict=True)
        ]
        lost = [n for n, old in zip(self.names, olds, strict=True) if old is None]
        if lost:
            raise ValueError(f"expected new indices to tell '{lost[0]}' of {self}")
        names = tuple(f"a{i}" for i in range(len(self.results)))
        return IndexMap(names, tuple(old for old in olds if old is not None))

    def conditions(
        self, inverse: IndexMap, new: Sequence[IntExpr], dims: Sequence[IntExpr]
    ) -> list[tuple[IntExpr, IntExpr]]:
        """Pairs of which the first is smaller if and only if an element has these new indices."""
        olds = inverse(new)
        ends = zip(olds, dims, strict=True)
        found = [b for old, dim in ends for b in ((IntExpr.of(-1), old), (old, dim))]
        for here, there in zip(new, self(olds), strict=True):
            found += [(here - 1, there), (there, here + 1)]
        return found

    def is_onto(self, dims: Sequence[IntExpr]) -> bool:
        """Whether as many elements have new indices as `shape` has; for maps with an inverse."""
        return _product(self.shape(dims)) == _product(dims)


def ranges_of_dims(dims: Sequence[IntExpr]) -> dict[Atom, Interval]:
    """The values of the indices of a shape."""
    return {Arg(i): Interval.range(0, dim) for i, dim in enumerate(dims)}


def _args(count: int) -> list[IntExpr]:
    return [IntExpr.of(Arg(i)) for i in range(count)]


def _product(dims: Sequence[IntExpr]) -> IntExpr:
    total = ONE
    for dim in dims:
        total = total * dim
    return total


class _Solver:
    """Expressions of old indices whose values are known, as expressions of new indices."""

    def __init__(self, ranges: Mapping[Atom, Interval]):
        self.ranges = ranges
        self.known: dict[IntExpr, IntExpr] = {}

    def learn(self, expr: IntExpr, value: IntExpr) -> None:
        """Note what an expression is, and what its parts are if they are digits of it."""
        expr = simplify(expr, self.ranges)
        constant = IntExpr.of(expr.offset)
        expr, value = expr - constant, value - constant
        if expr in self.known or not expr.args():
            return
        self.known[expr] = value
        fixed = IntExpr.from_terms({m: c for m, c in expr.terms if not _moves(m)})
        digits = [_digit(m, c) for m, c in (expr - fixed).terms]
        if fixed.terms:
            self.learn(expr - fixed, value - fixed)
        elif len(digits) == 1 and digits[0][0] == -ONE:
            self.learn(digits[0][1], -value)
        elif digits and (digits[0][0] != ONE or len(digits) > 1):
            for part, its_value in self._split(digits, value):
                self.learn(part, its_value)

    def _split(
        self, digits: list[tuple[IntExpr, IntExpr]], value: IntExpr
    ) -> Iterator[tuple[IntExpr, IntExpr]]:
        """The digits of a number by their weights, if none reaches the next one's weight."""
        order: list[tuple[IntExpr, IntExpr]] = []
        reach = ONE
        rest = list(digits)
        while rest:
            least = [
                d
                for d in rest
                if _is_positive(d[0] - reach + 1)
                and all(_is_positive(e[0] - d[0] + 1) for e in rest)
            ]
            span = interval_of(least[0][1], self.ranges) if least else None
            if span is None or not is_non_negative(span.lower):
                return
            order.append(least[0])
            rest.remove(least[0])
            reach = least[0][0] * (span.upper + 1)
        for position, (weight, digit) in enumerate(order):
            below = value if position + 1 == len(order) else value % order[position + 1][0]
            yield digit, below // weight

    def join(self) -> None:
        """Put quotients together with their remainders, as long as that says something new."""
        seen = -1
        while seen != len(self.known):
            seen = len(self.known)
            atoms = [a for e in self.known for a in [e.as_atom] if isinstance(a, Compound)]
            for remainder in atoms:
                for quotient in atoms:
                    self._join(quotient, remainder)
            for expr, value in list(self.known.items()):
                self._subtract(expr, value)

    def _subtract(self, expr: IntExpr, value: IntExpr) -> None:
        """What is left of a sum without the terms that are known."""
        for monomial, coefficient in expr.terms:
            term = IntExpr.from_terms({monomial: 1})
            if term in self.known and term != expr:
                expr, value = expr - term * coefficient, value - self.known[term] * coefficient
        self.learn(expr, value)

    def _join(self, quotient: Compound, remainder: Compound) -> None:
        """``a`` from ``a // c`` and ``a % c``; also ``b // d`` from ``b // (d * c)`` and that % c.

        Of the remainder's ``a``, multiples of c may be missing.
        """
        if (quotient.op, remainder.op) != ("floordiv", "mod"):
            return
        dividend, by = split_quotient(IntExpr.of(quotient))
        base, divisor = split_quotient(remainder.lhs)
        if by != divisor * remainder.rhs:
            return
        whole = dividend if divisor == ONE else dividend // divisor
        if dividend != base and (divisor != ONE or floormod(dividend - base, by) != ZERO):
            return
        high, low = self.known[IntExpr.of(quotient)], self.known[IntExpr.of(remainder)]
        self.learn(whole, high * remainder.rhs + low)
        if divisor != ONE:
            self.learn(remainder.lhs, high * remainder.rhs + low)


def _is_positive(expr: IntExpr) -> bool:
    """Whether an expression is at least 1 wherever no symbol is 0: then there are no elements."""
    larger: dict[Atom, IntLike] = {Sym(s): IntExpr.of(Sym(s)) + 1 for s in expr.symbols()}
    return is_non_negative(expr.substitute(larger) - 1)


def _moves(monomial: tuple[Atom, ...]) -> bool:
    return any(IntExpr.of(a).args() for a in monomial)


def _digit(monomial: tuple[Atom, ...], coefficient: int) -> tuple[IntExpr, IntExpr]:
    """A term as its weight, which is the same for all indices, and the rest."""
    weight = IntExpr.from_terms(
        {tuple(a for a in monomial if not IntExpr.of(a).args()): coefficient}
    )
    digit = IntExpr.from_terms({tuple(a for a in monomial if IntExpr.of(a).args()): 1})
    return weight, digit

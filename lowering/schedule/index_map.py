"""`IndexMap`: maps the indices of elements to new ones, and its inverse.

::

    lambda i, j: (i // 4, j, i % 4)     inverse for [n, m]:     lambda a0, a1, a2: (a0 * 4 + a2, a1)

The inverse exists where `IterMap` finds it. The counterpart is TVM's ``IndexMap``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects.bounds import Interval, interval_of, is_non_negative, simplify
from ...dialects.dims import int_expr_of
from ...dialects.int_expr import (
    ONE,
    PYTHON_SPELLING,
    ZERO,
    Arg,
    Atom,
    IntExpr,
    IntLike,
    Sym,
    render,
)
from ..analysis.iter_map import IterMap


@dataclass(frozen=True)
class IndexMap:
    """A function from indices to indices: `results` are over ``arg(i)``, called ``names[i]``."""

    names: tuple[str, ...]
    results: tuple[IntExpr, ...]

    @staticmethod
    def of(function: Callable[[Sequence[IntExpr]], Sequence[IntExpr]], rank: int) -> IndexMap:
        """The map of a function of `rank` indices."""
        return IndexMap(tuple(f"i{n}" for n in range(rank)), tuple(function(_args(rank))))

    @staticmethod
    def of_text(text: str) -> IndexMap:
        """Parse the text of a lambda; raises ValueError for other text."""
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
        ranges = ranges_of_dims(dims)
        found = IterMap(self(_args(len(dims))), ranges, ranges)
        ends = zip(ranges, dims, strict=True)
        olds = [found.value_of(a) or (ZERO if d == ONE else None) for a, d in ends]
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
        """Whether the map is surjective onto `shape`; for maps with an inverse."""
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

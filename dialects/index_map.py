"""Maps from the indices of elements to new ones, by their expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from .bounds import Interval, interval_of, is_non_negative, simplify
from .dims import int_expr_of
from .int_expr import PYTHON_SPELLING, Arg, Atom, IntExpr, IntLike, Sym, render


@dataclass(frozen=True)
class IndexExprs:
    """A function from indices to indices: `results` are over ``arg(i)``, called ``names[i]``."""

    names: tuple[str, ...]
    results: tuple[IntExpr, ...]

    @classmethod
    def of(cls, function: Callable[[Sequence[IntExpr]], Sequence[IntExpr]], rank: int) -> Self:
        """The map of a function of `rank` indices."""
        return cls(tuple(f"i{n}" for n in range(rank)), tuple(function(index_args(rank))))

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Parse the text of a lambda; raises ValueError for other text."""
        try:
            node = ast.parse(text.strip(), mode="eval").body
            if not isinstance(node, ast.Lambda):
                raise ValueError
            names = [a.arg for a in node.args.args]
            own: dict[Atom, IntExpr] = {Sym(n): IntExpr.of(Arg(i)) for i, n in enumerate(names)}
            items = node.body.elts if isinstance(node.body, ast.Tuple | ast.List) else [node.body]
            return cls(tuple(names), tuple(int_expr_of(e).substitute(own) for e in items))
        except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
            raise ValueError(f"expected a lambda of integer expressions, got '{text}'") from None

    def symbols(self) -> set[str]:
        """The symbols in the new indices."""
        return {s for e in self.results for s in e.symbols()}

    def substitute(self, mapping: Mapping[Atom, IntLike]) -> Self:
        """Replace symbols; old indices get other names than the symbols have then."""
        results = tuple(e.substitute(mapping) for e in self.results)
        taken = {s for e in results for s in e.symbols()}
        own = (name if name not in taken else f"{name}_{i}" for i, name in enumerate(self.names))
        return type(self)(tuple(own), results)

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
        for expr in self(index_args(len(dims))):
            span = interval_of(simplify(expr, ranges), ranges)
            if span is None or span.upper.args():
                raise ValueError(f"expected the range of new index {self.text(expr)} to be known")
            if not is_non_negative(span.lower):
                raise ValueError(
                    f"expected new index {self.text(expr)} to be at least 0, got {span.lower}"
                )
            shape.append(span.upper + 1)
        return shape


def ranges_of_dims(dims: Sequence[IntExpr]) -> dict[Atom, Interval]:
    """The values of the indices of a shape."""
    return {Arg(i): Interval.range(0, dim) for i, dim in enumerate(dims)}


def index_args(count: int) -> list[IntExpr]:
    """The indices of an element."""
    return [IntExpr.of(Arg(i)) for i in range(count)]

"""`IndexMap`: maps the indices of elements to new ones, and its inverse.

::

    lambda i, j: (i // 4, j, i % 4)     inverse for [n, m]:     lambda a0, a1, a2: (a0 * 4 + a2, a1)

The inverse exists where `IterMap` finds it. The counterpart is TVM's ``IndexMap``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.index_map import IndexExprs, index_args
from ...dialects.index_map import ranges_of_dims as ranges_of_dims
from ...dialects.int_expr import ONE, ZERO, Arg, IntExpr
from ..analysis.iter_map import IterMap


class IndexMap(IndexExprs):
    """A function from indices to indices, with its inverse."""

    def inverse(self, dims: Sequence[IntExpr]) -> IndexMap:
        """The map from new indices of a shape's elements to old ones.

        New indices that no element has are mapped somewhere: `conditions` tell them. Raises
        ValueError where the old indices are not known from the new ones.
        """
        ranges = ranges_of_dims(dims)
        found = IterMap(self(index_args(len(dims))), ranges, ranges)
        ends = zip(ranges, dims, strict=True)
        olds = [_only_value(found.value_of(a)) if d == ONE else found.value_of(a) for a, d in ends]
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


def _product(dims: Sequence[IntExpr]) -> IntExpr:
    total = ONE
    for dim in dims:
        total = total * dim
    return total


def _only_value(old: IntExpr | None) -> IntExpr:
    """The index of a dim of one element: 0, or a new index that is the same."""
    return old if old is not None and isinstance(old.as_atom, Arg) else ZERO

"""`tir.IndexMap`: a map of indices, written as a Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..dialects.bounds import never_negative, simplify
from ..dialects.dims import dim_of, dims_of
from ..dialects.index_map import index_args
from ..dialects.int_expr import Arg, IntExpr
from ..ir.struct_info import shape_of
from ..lowering.schedule.index_map import IndexMap as _Map
from ..lowering.schedule.index_map import ranges_of_dims
from ..te.arithmetic import binary, const, index_expr
from ..te.expr import Index, PrimExpr
from ..te.intrinsics import logical_or


class IndexMap:
    """New indices of an element by its old ones; TVM's ``tir.IndexMap``.

    ``IndexMap.from_func(lambda i, j: (i // 4, j, i % 4))``. Symbols of a function, such as the
    ``n`` of ``tir.Var("n", "int64")``, may occur in it.
    """

    def __init__(self, map: _Map):
        self.map = map

    @staticmethod
    def from_func(
        mapping_function: Callable[..., Any],
        ndim: int | None = None,
        inverse_index_map: object = None,
        *,
        index_dtype: str = "int64",
    ) -> IndexMap:
        """The map that a function of indices is: it returns the new index, or a sequence of them.

        `ndim` is the number of indices where the function takes any: of ``lambda *outer, k:`` the
        last index is `k`. Raises TypeError where that is missing or another one, and for results
        that are no integer expressions. Indices are int64 whatever `index_dtype` says, and inverses
        are computed.
        """
        names, last = _parameters(mapping_function, ndim)
        indices = [Index(IntExpr.of(Arg(i))) for i in range(len(names))]
        first = len(names) - len(last)
        named = dict(zip(last, indices[first:], strict=True))
        results = mapping_function(*indices[:first], **named)
        items = cast("Iterable[Any]", results if isinstance(results, list | tuple) else [results])
        found = _Map(tuple(names), tuple(dim_of(item) for item in items))
        return IndexMap(found.substitute({}))

    @staticmethod
    def from_text(text: str) -> IndexMap:
        """The map that the text of a lambda is; raises ValueError for other text."""
        return IndexMap(_Map.of_text(text))

    @staticmethod
    def of(index_map: IndexMap | Callable[..., Any] | str, ndim: int) -> IndexMap:
        """What a user gives as a map of `ndim` indices: a map, a function, or a lambda's text."""
        if isinstance(index_map, str):
            return IndexMap.from_text(index_map)
        return index_map if isinstance(index_map, IndexMap) else IndexMap.from_func(index_map, ndim)

    @property
    def initial_indices(self) -> list[Any]:
        """The old indices."""
        return [Index(IntExpr.of(Arg(i))) for i in range(len(self.map.names))]

    @property
    def final_indices(self) -> list[Any]:
        """The new indices, over the old ones."""
        return list(shape_of(self.map.results))

    @property
    def symbols(self) -> set[str]:
        """The symbols in the new indices."""
        return self.map.symbols()

    def map_indices(self, indices: Sequence[Any]) -> list[Any]:
        """The new indices of an element; raises ValueError for another number of old ones."""
        return list(shape_of(self.map([dim_of(i) for i in indices])))

    def map_shape(self, shape: Sequence[Any]) -> list[Any]:
        """The shape that holds all elements of a shape; raises ValueError where it is not known."""
        return list(shape_of(self.map.shape(dims_of(shape))))

    def map_ndarray(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array with the elements at their new indices, and zeros where there are none."""
        result = np.zeros(self.map_shape(array.shape), array.dtype)
        for old in np.ndindex(array.shape):
            result[tuple(self.map_indices(old))] = array[old]
        return result

    def inverse(self, shape: Sequence[Any]) -> IndexMap:
        """The old indices by the new ones, for a shape whose elements fill the new shape.

        Raises ValueError where they do not, or old indices are not known from new ones.
        """
        dims = dims_of(shape)
        inverse = self.map.inverse(dims)
        if not self.map.is_onto(dims):
            new = ", ".join(str(d) for d in self.map.shape(dims))
            raise ValueError(f"expected {self.map} to leave no gaps in [{new}]")
        return IndexMap(inverse)

    def non_surjective_inverse(self, shape: Sequence[Any]) -> tuple[IndexMap, PrimExpr]:
        """The old indices by the new ones, and where the new shape has a gap.

        That is a condition on the `initial_indices` of the inverse, which maps gaps somewhere.
        Raises ValueError where old indices are not known from new ones, or the new shape is not.
        """
        dims = dims_of(shape)
        inverse = self.map.inverse(dims)
        if self.map.is_onto(dims):
            return IndexMap(inverse), const(False)
        ranges = ranges_of_dims(self.map.shape(dims))
        bounds = self.map.conditions(inverse, index_args(len(self.map.results)), dims)
        gaps = [
            binary("ge", index_expr(low), index_expr(high))
            if low.constant is None
            else binary("lt", index_expr(high - low), const(1))
            for low, high in bounds
            if not never_negative(simplify(high - low - 1, ranges), ranges)
        ]
        return IndexMap(inverse), reduce(logical_or, gaps) if gaps else const(False)

    def is_equivalent_to(self, other: IndexMap) -> bool:
        """Whether another map of as many indices gives the same new ones."""
        return len(self.map.names) == len(other.map.names) and self.map.results == other.map.results

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexMap) and self.is_equivalent_to(other)

    def __hash__(self) -> int:
        return hash((len(self.map.names), self.map.results))

    def __str__(self) -> str:
        return f"T.index_map({self.map})"

    __repr__ = __str__


def _parameters(function: Callable[..., Any], ndim: int | None) -> tuple[list[str], list[str]]:
    """A name for each index that a function takes, and which of them are keywords: the last."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    last = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    takes_any = len(names) < len(parameters)
    if takes_any and ndim is None:
        raise TypeError("expected ndim for a function of any number of indices, got none")
    if ndim is not None and (len(names) > ndim or (len(names) < ndim and not takes_any)):
        raise TypeError(f"expected a map of {ndim} indices, got one of {', '.join(names)}")
    first = names[: len(names) - len(last)]
    middle = [f"i{n}" for n in range(len(first), (ndim or 0) - len(last))]
    return [*first, *middle, *last], last

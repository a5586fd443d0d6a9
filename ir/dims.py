"""Dims as users see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..dialects.int_expr import IntExpr


class Shape(tuple[Any, ...]):
    """The dims of a tensor: ints where they are numbers, else expressions of symbols."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The dims."""
        return tuple(self)


def shape_of(dims: Iterable[IntExpr]) -> Shape:
    """Dims as users see them."""
    from ..te.arithmetic import index_value

    return Shape(index_value(d) for d in dims)

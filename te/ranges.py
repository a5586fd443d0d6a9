"""`Range`, and the facts about integers that `Analyzer` returns, under TVM's names."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dialects.bounds import Interval
from .arithmetic import dim_expr, index_value


class Range:
    """The integers from `min`, `extent` of them; ``Range(4)``, ``Range(begin, end)``."""

    def __init__(self, begin: Any, end: Any = None):
        first, last = (0, begin) if end is None else (begin, end)
        lower = dim_expr(first)
        self._interval = Interval.range(lower, dim_expr(last) - lower)

    @staticmethod
    def from_min_extent(min_value: Any, extent: Any) -> Range:
        """The range of a first integer and a number of integers."""
        return Range(min_value, min_value + extent)

    @property
    def interval(self) -> Interval:
        """The integers as an interval of the analysis."""
        return self._interval

    @property
    def min(self) -> Any:
        """The first integer."""
        return index_value(self._interval.lower)

    @property
    def extent(self) -> Any:
        """The number of integers."""
        return index_value(self._interval.extent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self._interval == other.interval

    def __hash__(self) -> int:
        return hash(self._interval)

    def __repr__(self) -> str:
        return f"Range({self.min}, {self.min + self.extent})"


class ConstIntBound(NamedTuple):
    """The least and the largest value of an expression; TVM's ``arith.ConstIntBound``."""

    min_value: int
    max_value: int

    NEG_INF = -(2**63)
    POS_INF = 2**63 - 1


class ModularSet(NamedTuple):
    """An expression is `base` plus a multiple of `coeff`; TVM's ``arith.ModularSet``."""

    coeff: int
    base: int

"""`Range`, and the facts about integers that `Analyzer` returns, under TVM's names."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from ..dialects.bounds import Interval
from ..dialects.constant_bounds import Bounds
from .arithmetic import Index, PrimExpr, dim_expr, index_expr, index_value


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

    def script(self, *, verbose_expr: bool = False) -> str:
        """The range as TVMScript; with `verbose_expr` below ``n = T.int64()`` lines."""
        ends = (self.min, self.min + self.extent)
        symbols = {s for e in ends for s in dim_expr(e).symbols()} if verbose_expr else ()
        text = f"I.Range({', '.join(map(str, ends))})"
        return "\n".join([*(f"{name} = T.int64()" for name in sorted(symbols)), text])

    def __repr__(self) -> str:
        return f"Range({self.min}, {self.min + self.extent})"


class ConstIntBound(NamedTuple):
    """The least and the largest value of an expression; TVM's ``arith.ConstIntBound``."""

    min_value: int
    max_value: int

    POS_INF = 2**63 - 1
    NEG_INF = -POS_INF

    @property
    def bounds(self) -> Bounds:
        """The bounds, infinite where they are `NEG_INF` or `POS_INF`."""
        return Bounds(
            -inf if self.min_value <= self.NEG_INF else self.min_value,
            inf if self.max_value >= self.POS_INF else self.max_value,
        )

    @staticmethod
    def of(bounds: Bounds) -> ConstIntBound:
        """Bounds with `NEG_INF` and `POS_INF` for what is larger or infinite."""
        low, high = ConstIntBound.NEG_INF, ConstIntBound.POS_INF
        return ConstIntBound(int(max(bounds.lower, low)), int(min(bounds.upper, high)))


class ModularSet(NamedTuple):
    """An expression is `base` plus a multiple of `coeff`; TVM's ``arith.ModularSet``."""

    coeff: int
    base: int


class IntervalSet:
    """The integers from `min_value` to `max_value`, expressions; TVM's ``arith.IntervalSet``."""

    def __init__(self, min_value: Any, max_value: Any):
        self._interval = Interval(dim_expr(min_value), dim_expr(max_value))

    @staticmethod
    def single_point(point: Any) -> IntervalSet:
        """The set of one integer."""
        return IntervalSet(point, point)

    @staticmethod
    def of(interval: Interval) -> IntervalSet:
        """The set of an interval of the analysis."""
        return IntervalSet(*(Index(e) for e in interval))

    @property
    def interval(self) -> Interval:
        """The integers as an interval of the analysis."""
        return self._interval

    @property
    def min_value(self) -> PrimExpr:
        """The least integer."""
        return index_expr(self._interval.lower)

    @property
    def max_value(self) -> PrimExpr:
        """The largest integer."""
        return index_expr(self._interval.upper)

    def __repr__(self) -> str:
        return f"IntervalSet({self.min_value}, {self.max_value})"

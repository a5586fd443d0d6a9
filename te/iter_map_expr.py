"""The parts of iteration maps under TVM's names; views of the analysis in `dialects`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from ..dialects.int_expr import IntExpr
from ..dialects.iteration_digits import Digit, Mark, Sum
from .arithmetic import PrimExpr, dim_expr, index_expr


class IterMapLevel(IntEnum):
    """What is asked of a map: that each value is taken once, or once or more, or nothing."""

    Bijective = 0
    Surjective = 1
    NoCheck = 3

    @staticmethod
    def of(level: Any) -> IterMapLevel:
        """The level of a name, in any case; raises ValueError for an unknown one."""
        if not isinstance(level, str):
            return IterMapLevel(level)
        names = {known.name.lower(): known for known in IterMapLevel}
        if level.lower() not in names:
            raise ValueError(f"expected a level ({', '.join(names)}), got '{level}'")
        return names[level.lower()]


class IterMapExpr:
    """A part of an iteration map; TVM's ``arith.IterMapExpr``."""

    def int_expr(self) -> IntExpr:
        """The part as an integer expression."""
        raise NotImplementedError


class IterMark:
    """Iterations numbered from 0, those of an expression or of an `IterSumExpr`."""

    def __init__(self, source: Any, extent: Any):
        inner = source.core if isinstance(source, IterSumExpr) else dim_expr(source)
        self.core = Mark(inner, dim_expr(extent))

    @staticmethod
    def of(mark: Mark) -> IterMark:
        """The view of a mark of the analysis."""
        view = IterMark.__new__(IterMark)
        view.core = mark
        return view

    @property
    def source(self) -> Any:
        """What is numbered."""
        source = self.core.source
        return IterSumExpr.of(source) if isinstance(source, Sum) else index_expr(source)

    @property
    def extent(self) -> PrimExpr:
        """The number of iterations."""
        return index_expr(self.core.extent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IterMark) and self.core == other.core

    def __hash__(self) -> int:
        return hash(self.core)


class IterSplitExpr(IterMapExpr):
    """``source // lower_factor % extent * scale``."""

    def __init__(self, source: IterMark, lower_factor: Any = 1, extent: Any = None, scale: Any = 1):
        mark, lower = source.core, dim_expr(lower_factor)
        size = mark.extent if extent is None else dim_expr(extent)
        value = mark.value // lower
        if lower * size != mark.extent:
            value = value % size
        self.core = Digit(mark, lower, size, dim_expr(scale), value)

    @staticmethod
    def of(digit: Digit) -> IterSplitExpr:
        """The view of a digit of the analysis."""
        view = IterSplitExpr.__new__(IterSplitExpr)
        view.core = digit
        return view

    @property
    def source(self) -> IterMark:
        """The iterations that it is a digit of."""
        return IterMark.of(self.core.mark)

    @property
    def lower_factor(self) -> PrimExpr:
        """The iterations with one value."""
        return index_expr(self.core.lower_factor)

    @property
    def extent(self) -> PrimExpr:
        """The number of values."""
        return index_expr(self.core.extent)

    @property
    def scale(self) -> PrimExpr:
        """The factor of the values."""
        return index_expr(self.core.scale)

    def int_expr(self) -> IntExpr:
        return self.core.value * self.core.scale

    @property
    def _key(self) -> tuple[Mark, IntExpr, IntExpr, IntExpr]:
        return self.core.mark, self.core.lower_factor, self.core.extent, self.core.scale

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IterSplitExpr) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class IterSumExpr(IterMapExpr):
    """The sum of `IterSplitExpr` and of a base."""

    def __init__(self, args: Sequence[IterSplitExpr], base: Any):
        self.core = Sum(tuple(a.core for a in args), dim_expr(base))

    @staticmethod
    def of(total: Sum) -> IterSumExpr:
        """The view of a sum of the analysis."""
        view = IterSumExpr.__new__(IterSumExpr)
        view.core = total
        return view

    @property
    def args(self) -> list[IterSplitExpr]:
        """What is added."""
        return [IterSplitExpr.of(d) for d in self.core.digits]

    @property
    def base(self) -> PrimExpr:
        """What no iterator is in."""
        return index_expr(self.core.base)

    def int_expr(self) -> IntExpr:
        return self.core.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IterSumExpr) and self.core == other.core

    def __hash__(self) -> int:
        return hash(self.core)

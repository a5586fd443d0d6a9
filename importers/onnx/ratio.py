"""`Ratio`: a float that is computed from sizes, such as half of a dim, held exactly."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any, TypeAlias

from ...dialects.int_expr import IntExpr, floordiv

MAX_FACTOR = 1 << 12
"""Factors up to here are exact in float32 for all sizes up to it."""

RatioLike: TypeAlias = "Ratio | IntExpr | int | float"


class Ratio:
    """``numerator / denominator`` with an integer expression over a positive number.

    Known values of a float dtype that depend on symbols are ratios, those of an integer dtype are
    integer expressions. Operations raise ValueError where floats would round differently.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: IntExpr, denominator: int = 1):
        common = gcd(denominator, *(coefficient for _, coefficient in numerator.terms))
        if common > 1:
            terms = {m: c // common for m, c in numerator.terms}
            numerator, denominator = IntExpr.from_terms(terms), denominator // common
        self.numerator, self.denominator = numerator, denominator

    @staticmethod
    def of(value: RatioLike) -> Ratio:
        """The ratio of a number; raises ValueError for a float that is no simple fraction."""
        if isinstance(value, Ratio):
            return value
        if isinstance(value, IntExpr):
            return Ratio(value)
        if not abs(value) < MAX_FACTOR:
            raise ValueError(f"expected a factor below {MAX_FACTOR}, got {value}")
        top, bottom = float(value).as_integer_ratio()
        if bottom > MAX_FACTOR:
            raise ValueError(f"expected a fraction of small numbers, got {value}")
        return Ratio(IntExpr.of(top), bottom)

    @property
    def number(self) -> float | None:
        """The value, if it does not depend on symbols."""
        value = self.numerator.constant
        return None if value is None else value / self.denominator

    @property
    def is_exact(self) -> bool:
        """Whether floats represent the value: the denominator is a power of two."""
        return self.denominator & (self.denominator - 1) == 0

    def combined(self, other: RatioLike, operation: Callable[[IntExpr, IntExpr], IntExpr]) -> Ratio:
        """An operation on numerators over a common denominator, such as the minimum."""
        right = Ratio.of(other)
        found = operation(self.numerator * right.denominator, right.numerator * self.denominator)
        return Ratio(found, self.denominator * right.denominator)

    def __add__(self, other: RatioLike) -> Ratio:
        return self._sum(Ratio.of(other))

    def __sub__(self, other: RatioLike) -> Ratio:
        return self._sum(-Ratio.of(other))

    def _sum(self, other: Ratio) -> Ratio:
        """The sum; that of a third and a half, or of two thirds, is rounded."""
        if not (self.is_exact and other.is_exact) and 1 not in (
            self.denominator,
            other.denominator,
        ):
            raise ValueError("expected a sum that floats represent")
        return self.combined(other, lambda a, b: a + b)

    def __mul__(self, other: RatioLike) -> Ratio:
        right = Ratio.of(other)
        factors = (self.numerator.is_constant, right.numerator.is_constant)
        if not any(factors) or not (self.is_exact and right.is_exact):
            raise ValueError("expected a product that floats represent")
        product = self.numerator * right.numerator
        return Ratio(product, self.denominator * right.denominator)

    def __truediv__(self, other: RatioLike) -> Ratio:
        right = Ratio.of(other)
        divisor = right.numerator.constant or 0
        if divisor <= 0 or not (self.is_exact and right.is_exact):
            raise ValueError("expected a quotient that floats represent")
        return Ratio(self.numerator * right.denominator, self.denominator * divisor)

    def __neg__(self) -> Ratio:
        return Ratio(-self.numerator, self.denominator)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ratio):
            return NotImplemented
        return (self.numerator, self.denominator) == (other.numerator, other.denominator)

    def __hash__(self) -> int:
        return hash((self.numerator, self.denominator))

    def floor(self) -> IntExpr:
        """The largest integer not above the value."""
        return floordiv(self.numerator, IntExpr.of(self.denominator))

    def ceil(self) -> IntExpr:
        """The smallest integer not below the value."""
        return floordiv(self.numerator + (self.denominator - 1), IntExpr.of(self.denominator))

    def __repr__(self) -> str:
        return f"Ratio({self.numerator}, {self.denominator})"


def as_element(value: Any) -> IntExpr | Ratio:
    """A known value as an element of symbolic values: a ratio for a float."""
    if isinstance(value, IntExpr | Ratio):
        return value
    item = value.item() if hasattr(value, "item") else value
    return Ratio.of(item) if isinstance(item, float) else IntExpr.of(int(item))


def constant_of(element: Any) -> int | float | None:
    """The number of an element, `None` if it depends on symbols."""
    return element.number if isinstance(element, Ratio) else IntExpr.of(element).constant

"""Marks, digits and sums: the terms of iteration maps; TVM's ``arith::IterMapExpr``.

A *mark* numbers iterations: an iterator, or a fused sum of other digits. A *digit* of a mark is
``value = mark // lower_factor % extent``. An expression is a *sum* of scaled digits and a base that
no iterator is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .int_expr import ZERO, IntExpr


class NoIterMapError(ValueError):
    """An expression is no sum of digits; the message says why."""


@dataclass(frozen=True)
class Mark:
    """Iterations, numbered from 0: those of an iterator, or of a sum of digits without base."""

    source: IntExpr | Sum
    extent: IntExpr

    @property
    def digits(self) -> tuple[Digit, ...]:
        """The digits that the mark is made of; none of an iterator."""
        return self.source.digits if isinstance(self.source, Sum) else ()

    @property
    def value(self) -> IntExpr:
        """The number of an iteration as an integer expression."""
        return self.source.value if isinstance(self.source, Sum) else self.source

    def roots(self) -> Iterator[Mark]:
        """The marks of iterators that this one depends on."""
        if not isinstance(self.source, Sum):
            yield self
        for digit in self.digits:
            yield from digit.mark.roots()


@dataclass(frozen=True)
class Digit:
    """``scale * value``, where value is ``mark // lower_factor % extent``.

    One that is `padded` has a value of ``(mark + offset) // lower_factor``, with or without a
    remainder by `extent`; the iterations are not numbered evenly by it. `is_remainder` says whether
    the extent is that of a remainder.
    """

    mark: Mark
    lower_factor: IntExpr
    extent: IntExpr
    scale: IntExpr
    value: IntExpr = field(compare=False)
    padded: bool = False
    is_remainder: bool = field(default=False, compare=False)

    @property
    def key(self) -> tuple[Mark, IntExpr, IntExpr, bool]:
        """What is the same of digits that differ in scale only."""
        return self.mark, self.lower_factor, self.extent, self.padded

    def scaled(self, scale: IntExpr) -> Digit:
        """The digit with another scale."""
        return replace(self, scale=scale)


@dataclass(frozen=True)
class Sum:
    """The sum of scaled digits, and of a base."""

    digits: tuple[Digit, ...]
    base: IntExpr

    @property
    def value(self) -> IntExpr:
        """The sum as an integer expression."""
        return sum((d.scale * d.value for d in self.digits), self.base)


@dataclass(frozen=True)
class Constraint:
    """The digits of a sum are in a range: the sum is `lower` plus the number of a mark."""

    digits: tuple[Digit, ...]
    lower: IntExpr
    digit: Digit


def marks_in_order(digits: Iterable[Digit]) -> list[Mark]:
    """The marks of digits, and those that they are made of, each before those it is made of."""
    found = dict[Mark, None]()

    def visit(mark: Mark) -> None:
        if mark not in found:
            for digit in mark.digits:
                visit(digit.mark)
            found[mark] = None

    for digit in digits:
        visit(digit.mark)
    return list(reversed(found))


def plus(a: Sum, b: Sum) -> Sum:
    """The sum of two; digits of one kind are joined, and so are neighbours of one mark."""
    digits = list(a.digits)
    for new in b.digits:
        same = next((d for d in digits if d.key == new.key and d.value == new.value), None)
        if same is not None:
            digits[digits.index(same)] = same.scaled(same.scale + new.scale)
        else:
            digits.append(new)
    digits = _joined([d for d in digits if d.scale != ZERO])
    return Sum(tuple(digits), a.base + b.base)


def _joined(digits: list[Digit]) -> list[Digit]:
    for low in digits:
        for high in digits:
            if (
                high.mark == low.mark
                and not (high.padded or low.padded)
                and high.lower_factor == low.lower_factor * low.extent
                and high.scale == low.scale * low.extent
            ):
                extent = low.extent * high.extent
                value = _even_value(low.mark, low.lower_factor, extent)
                new = replace(low, extent=extent, value=value, is_remainder=high.is_remainder)
                return _joined([new if d is low else d for d in digits if d is not high])
    return digits


def _even_value(mark: Mark, lower_factor: IntExpr, extent: IntExpr) -> IntExpr:
    quotient = mark.value // lower_factor
    return quotient if lower_factor * extent == mark.extent else quotient % extent


def times(total: Sum, factor: IntExpr) -> Sum:
    """A sum times an expression without iterators."""
    return Sum(tuple(d.scaled(d.scale * factor) for d in total.digits), total.base * factor)

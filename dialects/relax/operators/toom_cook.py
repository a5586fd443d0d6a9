"""The matrices of minimal filtering: m outputs of a filter with r taps, by m + r - 1 products.

``y = A^T [(G g) * (B^T d)]`` for a filter ``g`` and data ``d``, evaluated at points and at infinity
(Toom 1963, Cook 1966; Winograd 1980; for convolutions Lavin and Gray 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

POINTS = {
    2: ("0", "1", "-1"),
    4: ("0", "5/8", "-5/8", "3/2", "-3/2"),
}
"""The points for filters of three taps, by the number of outputs.

With 5/8 and 3/2 the rounding error is a third of that with 1 and 2, which need as many operations.
"""

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Filtering:
    """The matrices for results (`A^T`), filters (`G`) and data (`B^T`), and their points.

    The last row or column is that of infinity.
    """

    points: tuple[Fraction, ...]
    results: Matrix
    filters: Matrix
    data: Matrix

    @property
    def products(self) -> int:
        """The number of products."""
        return len(self.data)


@cache
def filtering(outputs: int, taps: int = 3) -> Filtering:
    """The matrices for a number of outputs that has `POINTS`."""
    points = tuple(map(Fraction, POINTS[outputs]))
    products = outputs + taps - 1
    filters: list[tuple[Fraction, ...]] = []
    data: list[tuple[Fraction, ...]] = []
    for point in points:
        others = [p for p in points if p != point]
        scale = reduce(lambda a, b: a * b, (point - other for other in others), Fraction(1))
        filters.append(tuple(point**k / scale for k in range(taps)))
        data.append(_polynomial(others, products))
    filters.append(tuple(Fraction(k == taps - 1) for k in range(taps)))
    data.append(_polynomial(points, products))
    results = tuple(
        (*(point**row for point in points), Fraction(row == outputs - 1)) for row in range(outputs)
    )
    return Filtering(points, results, tuple(filters), tuple(data))


def _polynomial(roots: Sequence[Fraction], size: int) -> tuple[Fraction, ...]:
    """The coefficients of the monic polynomial with these roots, the constant one first."""
    found = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *found]
        found = [s - root * c for s, c in zip(shifted, [*found, Fraction(0)], strict=True)]
    return (*found, *[Fraction(0)] * (size - len(found)))


def array(matrix: Matrix) -> NDArray[np.float64]:
    """A matrix of floats."""
    return np.array([[float(x) for x in row] for row in matrix])


def pick(te: Any, index: Any, values: Sequence[Any]) -> Any:
    """The value at an index, which unrolling the loop over it selects."""
    *others, found = values
    for position, value in reversed(list(enumerate(others))):
        found = te.if_then_else(index == position, value, found)
    return found


def transform(te: Any, row: Sequence[Fraction], values: Sequence[Any]) -> Any:
    """The product of a row of `B^T` with values, by multiply-adds.

    Rows of points that differ in sign share sums: over even positions, and over odd ones.
    """
    parts: list[tuple[Fraction, Any]] = []
    for parity in (0, 1):
        used = [k for k in range(parity, len(row), 2) if row[k]]
        if used:
            lead = row[used[-1]]
            parts.append((lead, _sum(te, [(row[k] / lead, values[k]) for k in used])))
    return _sum(te, parts)


def collect(te: Any, made: Filtering, row: Sequence[Fraction], values: Sequence[Any]) -> Any:
    """The product of a row of `A^T` with values, by multiply-adds.

    Rows share the sum and the difference of the values at points that differ in sign.
    """
    terms: list[tuple[Fraction, Any]] = []
    for position, factor in enumerate(row):
        point = made.points[position] if position < len(made.points) else Fraction(0)
        if point > 0:
            mate = made.points.index(-point)
            combine: Callable[[Any, Any], Any] = (
                (lambda a, b: a + b) if row[mate] == factor else (lambda a, b: a - b)
            )
            terms.append((factor, combine(values[position], values[mate])))
        elif point == 0 and factor:
            terms.append((factor, values[position]))
    return _sum(te, terms)


def _sum(te: Any, terms: Sequence[tuple[Fraction, Any]]) -> Any:
    """The sum of products with constants, those with 1 first."""
    first, *units = [v for factor, v in terms if factor == 1] or [None]
    total = reduce(lambda a, b: a + b, units, first)
    for factor, value in terms:
        if factor != 1:
            scale = te.const(float(factor), value.dtype)
            total = scale * value if total is None else te.fma(scale, value, total)
    return total

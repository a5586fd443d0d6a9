"""`arith.detect_iter_map` and its relatives: views of the analysis in `dialects`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects.bounds import is_less, simplify
from ..dialects.int_expr import ZERO, Atom, IntExpr
from ..dialects.iteration_cover import check_cover
from ..dialects.iteration_digits import (
    Digit,
    Mark,
    NoIterMapError,
    Sum,
    marks_in_order,
    plus,
)
from ..dialects.iteration_maps import Detector
from .analyzer import Analyzer
from .arithmetic import Imm, PrimExpr, as_int_expr, convert, dim_expr, index_expr
from .iter_map_expr import IterMapExpr, IterMapLevel, IterSumExpr
from .linear import differences
from .ranges import Range


@dataclass(frozen=True)
class IterMapResult:
    """The sums of indices, none if there is no map, and why not; TVM's ``IterMapResult``."""

    indices: list[IterSumExpr]
    errors: list[str]
    padding_predicate: bool = False


def detect_iter_map(
    indices: Sequence[Any],
    input_iters: Mapping[PrimExpr, Range],
    predicate: Any = True,
    check_level: Any = IterMapLevel.Surjective,
    simplify_trivial_iterators: bool = True,
    analyzer: Analyzer | None = None,
) -> IterMapResult:
    """Indices as sums of digits of iterators, each with one digit at most.

    Iterators of one value are constants, also without `simplify_trivial_iterators`. The predicate
    is comparisons of sums joined by ``&``. If the indices have no such form, or do not cover their
    values as `check_level` asks, the result has no sums, but the reason. TVM's
    ``arith.detect_iter_map``.
    """
    level = IterMapLevel.of(check_level)
    try:
        return IterMapResult(_detected(indices, input_iters, predicate, level, analyzer), [])
    except NoIterMapError as error:
        return IterMapResult([], [str(error)])


def iter_map_simplify(
    indices: Sequence[Any],
    input_iters: Mapping[PrimExpr, Range],
    predicate: Any = True,
    check_level: Any = IterMapLevel.Surjective,
    simplify_trivial_iterators: bool = True,
    analyzer: Analyzer | None = None,
) -> list[PrimExpr]:
    """The indices in the form of their iteration map, or simplified by ranges if there is none."""
    options = (input_iters, predicate, check_level, simplify_trivial_iterators, analyzer)
    found = detect_iter_map(indices, *options).indices
    if found:
        return [normalize_iter_map_to_expr(total) for total in found]
    ranges = {_atom(v): r.interval for v, r in input_iters.items()}
    return [index_expr(simplify(_number(i, analyzer), ranges)) for i in indices]


def normalize_iter_map_to_expr(expr: IterMapExpr) -> PrimExpr:
    """A part of an iteration map as an expression."""
    return index_expr(expr.int_expr())


def normalize_to_iter_sum(
    index: Any, input_iters: Mapping[PrimExpr, Range], analyzer: Analyzer | None = None
) -> IterSumExpr:
    """An index as a sum of digits, those with the largest scale first.

    The terms that have no such form are in the base. TVM's ``arith.normalize_to_iter_sum``.
    """
    detector = Detector({_atom(v): r.interval for v, r in input_iters.items()})
    digits, base = Sum((), ZERO), ZERO
    for monomial, coefficient in _number(index, analyzer).terms:
        term = IntExpr.from_terms({monomial: coefficient})
        try:
            digits = plus(digits, detector.sum_of(term))
        except NoIterMapError:
            base = base + term
    ordered = sorted(digits.digits, key=lambda d: _size(d.scale), reverse=True)
    return IterSumExpr.of(Sum(tuple(ordered), digits.base + base))


def inverse_affine_iter_map(
    iter_map: Sequence[IterSumExpr], outputs: Sequence[PrimExpr]
) -> dict[PrimExpr, PrimExpr]:
    """The iterators as expressions of the values of a bijective map.

    TVM's ``arith.inverse_affine_iter_map``. Raises ValueError for a sum of several digits.
    """
    values = dict[Mark, IntExpr]()
    for total, output in zip(iter_map, outputs, strict=True):
        if len(total.core.digits) > 1:
            raise ValueError(f"expected a sum of one digit, got {len(total.core.digits)}")
        for digit in total.core.digits:
            _add_digit(digit, (dim_expr(output) - total.core.base) // digit.scale, values)
    found = dict[PrimExpr, PrimExpr]()
    for mark in marks_in_order([d for total in iter_map for d in total.core.digits]):
        value = values[mark]
        for digit in mark.digits:
            part = value // digit.scale
            if digit is not mark.digits[0]:
                part = part % digit.extent
            _add_digit(digit, part, values)
        if not isinstance(mark.source, Sum):
            atom = mark.source - mark.source.offset
            found[index_expr(atom)] = index_expr(value - mark.source.offset)
    return found


def _add_digit(digit: Digit, part: IntExpr, values: dict[Mark, IntExpr]) -> None:
    values[digit.mark] = values.get(digit.mark, ZERO) + part * digit.lower_factor


def _detected(
    indices: Sequence[Any],
    input_iters: Mapping[PrimExpr, Range],
    predicate: Any,
    level: IterMapLevel,
    analyzer: Analyzer | None,
) -> list[IterSumExpr]:
    ranges = {_atom(v): r.interval for v, r in input_iters.items()}
    detector = Detector(ranges, overlapping=level != IterMapLevel.Bijective)
    _add_constraints(detector, predicate, analyzer)
    sums = [detector.fused(detector.sum_of(_number(i, analyzer))) for i in indices]
    if level != IterMapLevel.NoCheck:
        marks = [mark for mark, _ in detector.marks.values()]
        check_cover(sums, marks, detector.constraints, level == IterMapLevel.Bijective)
    return [IterSumExpr.of(total) for total in sums]


def _add_constraints(detector: Detector, predicate: Any, analyzer: Analyzer | None) -> None:
    """Tell the detector of comparisons, those of few iterators and operations first."""
    value = convert(predicate)
    if isinstance(value, Imm) and value.value:
        return
    found = differences(value, negated=False)
    if found is None:
        raise NoIterMapError(f"expected comparisons joined by &, got {predicate}")
    bounds = dict[IntExpr, list[IntExpr | None]]()
    for difference in found:
        if analyzer is not None:
            difference = analyzer.int_expr(index_expr(difference))
        if not detector.depends(difference):
            continue
        inner = [m for m, _ in difference.terms if detector.depends(IntExpr.from_terms({m: 1}))]
        terms = {m: c for m, c in difference.terms if m in inner}
        varying = IntExpr.from_terms(terms)
        rest = difference - varying
        if min(terms.values()) >= 0:
            ends = bounds.setdefault(varying, [None, None])
            ends[0] = -rest if ends[0] is None else _most(ends[0], -rest, 1)
        elif max(terms.values()) < 0:
            ends = bounds.setdefault(-varying, [None, None])
            ends[1] = rest if ends[1] is None else _most(ends[1], rest, -1)
        else:
            raise NoIterMapError(f"expected factors of one sign, got {varying}")
    for varying, (lower, upper) in sorted(bounds.items(), key=lambda item: _depth(item[0])):
        total = detector.sum_of(varying)
        low, high = (None if e is None else e - total.base for e in (lower, upper))
        if total.digits:
            detector.constrain(total, low, high)
        elif (low is not None and is_less(0, low)) or (high is not None and is_less(high, 0)):
            raise NoIterMapError(f"expected a predicate of {varying} that holds somewhere")


def _most(a: IntExpr, b: IntExpr, sign: int) -> IntExpr:
    difference = ((a - b) * sign).constant
    return b if difference is not None and difference < 0 else a


def _depth(expr: IntExpr) -> tuple[int, int]:
    return len(expr.leaves), len(expr.all_atoms)


def _size(scale: IntExpr) -> tuple[int, int]:
    degree = max((len(m) for m, _ in scale.terms), default=0)
    return degree, sum(c for _, c in scale.terms)


def _atom(var: PrimExpr) -> Atom:
    number = as_int_expr(var)
    atom = None if number is None else number.as_atom
    if atom is None:
        raise TypeError(f"expected a variable of integers, got {var}")
    return atom


def _number(expr: Any, analyzer: Analyzer | None) -> IntExpr:
    if analyzer is not None:
        return analyzer.int_expr(expr)
    number = as_int_expr(convert(expr))
    if number is None:
        raise NoIterMapError(f"expected an integer expression of symbols, got {expr}")
    return number

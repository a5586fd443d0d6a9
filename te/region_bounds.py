"""`arith.estimate_region_lower_bound` and others: boxes that regions over loops make up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dialects.bounds import Interval, interval_of, is_non_negative
from ..dialects.int_expr import IntExpr
from ..dialects.iteration_digits import Sum
from .analyzer import Analyzer
from .arithmetic import PrimExpr, dim_expr
from .iter_map import detect_iter_map
from .ranges import IntervalSet, Range


def estimate_region_lower_bound(
    region: Sequence[Range],
    var_dom: Mapping[PrimExpr, Range],
    predicate: Any = True,
    analyzer: Analyzer | None = None,
) -> list[IntervalSet] | None:
    """The box of elements that a region covers while variables take all values of their ranges.

    `None` where the first indices are no iteration map for which the predicate holds, or where a
    step is larger than the region. TVM's ``arith.estimate_region_lower_bound``; the box is exact,
    and so what ``estimate_region_strict_bound`` asks for, too.
    """
    firsts = [r.min for r in region]
    found = detect_iter_map(firsts, var_dom, predicate, analyzer=analyzer).indices
    if not found:
        return None
    boxes = [_covered(s.core, r.interval.extent) for s, r in zip(found, region, strict=True)]
    sets = [IntervalSet.of(box) for box in boxes if box is not None]
    return sets if len(sets) == len(boxes) else None


def estimate_region_upper_bound(
    region: Sequence[Range],
    var_dom: Mapping[PrimExpr, Range],
    predicate: Any = True,
    analyzer: Analyzer | None = None,
) -> list[IntervalSet]:
    """A box that has all elements of a region while variables take all values of their ranges.

    Where it is not what the region covers, its sides are estimated one by one, the last ones
    without the predicate. TVM's ``arith.estimate_region_upper_bound``. Raises ValueError where a
    side has no bounds.
    """
    whole = estimate_region_lower_bound(region, var_dom, predicate, analyzer)
    if whole is not None:
        return whole
    return [_side(span, var_dom, predicate, analyzer) for span in region]


def _side(
    span: Range, var_dom: Mapping[PrimExpr, Range], predicate: Any, analyzer: Analyzer | None
) -> IntervalSet:
    exact = estimate_region_lower_bound([span], var_dom, predicate, analyzer)
    if exact is not None:
        return exact[0]
    known = Analyzer() if analyzer is None else analyzer
    first = known.int_expr(span.min)
    ranges = {atom: r.interval for v, r in var_dom.items() if (atom := dim_expr(v).as_atom)}
    ends = interval_of(first, ranges)
    if ends is None:
        raise ValueError(f"expected a region with known bounds, got {span}")
    return IntervalSet.of(Interval(ends.lower, ends.upper + known.int_expr(span.extent) - 1))


def _covered(total: Sum, extent: IntExpr) -> Interval | None:
    """What boxes of an extent cover that start at each value of a sum of one digit at most."""
    if not total.digits:
        return Interval.range(total.base, extent)
    (digit,) = total.digits
    steps, scale = (digit.extent - 1) * digit.scale, digit.scale.constant
    if scale is not None and scale < 0:
        return Interval.range(total.base + steps, extent - steps)
    if not is_non_negative(extent - digit.scale):
        return None
    return Interval.range(total.base, extent + steps)

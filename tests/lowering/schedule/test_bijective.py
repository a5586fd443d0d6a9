"""Digits of numbers, against an enumeration."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xrelax.dialects.int_expr import Arg, IntExpr, arg
from xrelax.lowering.schedule.bijective import is_bijective

WEIGHTS = st.sampled_from([0, 1, 2, 3, 4, 6, 12])


@settings(deadline=None)
@given(st.lists(st.tuples(WEIGHTS, st.sampled_from([1, 2, 3, 4])), min_size=1, max_size=3))
def test_digits(digits):
    expr = sum((arg(n) * weight for n, (weight, _) in enumerate(digits)), IntExpr.of(5))
    extents = {Arg(n): IntExpr.of(extent) for n, (_, extent) in enumerate(digits)}
    terms = product(*([weight * at for at in range(extent)] for weight, extent in digits))
    values = sorted({sum(t) for t in terms})
    is_dense = values == list(range(len(values)))
    used = [extent for weight, extent in digits if weight]
    count = 1
    for extent in used:
        count *= extent
    assert is_bijective(expr, extents) == (is_dense and len(values) == count)


@pytest.mark.parametrize("weights, is_dense", [((4, 1), True), ((5, 1), False), ((3, 1), False)])
def test_gaps_and_repetitions(weights, is_dense):
    outer, inner = weights
    expr = arg(0) * outer + arg(1) * inner
    assert is_bijective(expr, {Arg(0): IntExpr.of(3), Arg(1): IntExpr.of(4)}) == is_dense

"""Boxes that regions over loops make up."""

import pytest

from xrelax import arith, tir
from xrelax.ir import Range

i, j, n = tir.Var("i"), tir.Var("j"), tir.Var("n")
LOOPS = {i: Range(0, 16), j: Range(0, 4)}


def box(first, extent=1):
    return Range.from_min_extent(first, extent)


@pytest.mark.parametrize(
    "region, predicate, lower, upper",
    [
        ([box(i * 4 + j, 2), box(7)], True, "[(0, 64), (7, 7)]", None),
        ([box(i * 4 + j)], i * 4 + j < 62, "[(0, 61)]", None),
        ([box(i * -2, 2)], True, "[(-30, 1)]", None),
        ([box(n + i // 4), box(i % 4)], True, "[(n, n + 3), (0, 3)]", None),
        ([box(i * 4, 2)], True, "None", "[(0, 61)]"),
        ([box(i), box(i + 1)], True, "None", "[(0, 15), (1, 16)]"),
        ([box(i * j)], True, "None", "[(0, 45)]"),
    ],
)
def test_regions_of_loops(region, predicate, lower, upper):
    def shown(sets):
        return None if sets is None else [(s.min_value, s.max_value) for s in sets]

    assert str(shown(arith.estimate_region_lower_bound(region, LOOPS, predicate))) == lower
    found = arith.estimate_region_upper_bound(region, LOOPS, predicate)
    assert str(shown(found)) == (upper or lower)


def test_what_is_known_of_symbols():
    known = arith.Analyzer()
    known.bind(n, tir.const(4))
    (found,) = arith.estimate_region_strict_bound([box(i % n)], LOOPS, analyzer=known)
    assert (str(found.min_value), str(found.max_value)) == ("0", "3")
    with pytest.raises(ValueError, match="expected a region with known bounds, got Range"):
        arith.estimate_region_upper_bound([box(i % n)], LOOPS)

"""Iterator maps, beside all values of small iterators."""

from collections.abc import Sequence
from itertools import product
from math import prod
from random import Random

import pytest

from xrelax.dialects.bounds import Interval
from xrelax.dialects.int_expr import Arg, IntExpr, arg, sym
from xrelax.lowering.analysis.iter_map import IterMap, is_bijective


def drawn_index(random: Random, rank: int) -> IntExpr:
    """An index as layouts have it, and others."""
    first, second, third = (arg(random.randrange(rank)) for _ in "abc")
    a, b, c = (random.choice((1, 2, 3, 4, 6)) for _ in "abc")
    return random.choice(
        (
            first,
            first * a + second + c,
            first * a * b + second * b + third,
            first * a - second,
            (first * a + second) // b,
            (first * a + second) % b,
            first // b,
            first % b,
            first // b % c,
            first // b * c + second % b,
            first * second,
        )
    )


def values_at(exprs: Sequence[IntExpr], at: Sequence[int]) -> tuple[int, ...]:
    return tuple(e.evaluate(lambda a: at[a.index] if isinstance(a, Arg) else 3) for e in exprs)


def test_what_is_known_is_so():
    random, told, injective = Random(0), 0, 0
    for _ in range(1500):
        rank = random.choice((1, 2, 2, 3))
        firsts = [random.choice((0, 0, 0, 1, -2)) for _ in range(rank)]
        sizes = [random.choice((1, 2, 3, 4, 6)) for _ in range(rank)]
        exprs = [drawn_index(random, rank) for _ in range(random.choice((1, 2, 2, 3)))]
        pairs = zip(firsts, sizes, strict=True)
        ranges = {Arg(n): Interval.range(*pair) for n, pair in enumerate(pairs)}
        found = IterMap(exprs, ranges, ranges)
        spans = [range(first, first + size) for first, size in zip(firsts, sizes, strict=True)]
        places = {at: values_at(exprs, at) for at in product(*spans)}
        for at, results in places.items():
            for expr, value in found.known.items():
                assert values_at([expr], at) == values_at([value], results)
        is_injective = len(set(places.values())) == len(places)
        several = [a for a, size in zip(ranges, sizes, strict=True) if size > 1]
        assert is_injective or not found.tells(several)
        told += is_injective and found.tells(several)
        injective += is_injective
    assert told >= 0.7 * injective > 300, f"{told} of {injective}"


@pytest.mark.parametrize("lower", [0, 1, -1])
def test_products_with_fixed_values(lower):
    """A loop around may be 0 in one iteration: then a product with it tells nothing."""
    ranges = {Arg(1): Interval.range(lower, 3)}
    assert IterMap([arg(0) * arg(1)], [Arg(0)], ranges).tells([Arg(0)]) == (lower == 1)
    assert IterMap([arg(0) * sym("n")], [Arg(0)], {}).tells([Arg(0)])


def test_digits_of_one_number():
    random, bijective = Random(1), 0
    for _ in range(1500):
        rank = random.choice((1, 2, 3))
        weights = [random.choice((0, 1, 2, 3, 4, 6, 12)) for _ in range(rank)]
        sizes = [random.choice((1, 2, 3, 4)) for _ in range(rank)]
        expr = sum((arg(n) * w for n, w in enumerate(weights)), IntExpr.of(5))
        values = [values_at([expr], at)[0] for at in product(*map(range, sizes))]
        used = prod(size for w, size in zip(weights, sizes, strict=True) if w)
        is_dense = len(set(values)) == used == max(values) - min(values) + 1
        extents = {Arg(n): IntExpr.of(size) for n, size in enumerate(sizes)}
        assert is_bijective(expr, extents) == is_dense
        bijective += is_dense
    assert bijective > 300


def test_digits_of_symbolic_numbers():
    i, j, k = map(arg, range(3))
    n, m = sym("n"), sym("m")
    extents = {Arg(0): n, Arg(1): m, Arg(2): IntExpr.of(4)}
    assert is_bijective(i * m * 4 + j * 4 + k, extents)
    assert is_bijective(i * m + j, extents)
    assert is_bijective(arg(3) * (n // 6) + i * m + j, extents)
    assert not is_bijective(i * m * 4 + j * 3 + k, extents)
    assert not is_bijective(i * n + j, extents)
    assert not is_bijective(i * m - j, extents)


def test_digits_with_gaps():
    """A digit is a part of what is left of the number, which its own weight need not divide."""
    sizes = (2, 4, 3)
    i, j, k = map(arg, range(3))
    ranges = {Arg(n): Interval.range(0, size) for n, size in enumerate(sizes)}
    found = IterMap([i * 13 + j * 3 + k], ranges, ranges)
    olds = [found.value_of(a) for a in ranges]
    for at in product(*map(range, sizes)):
        assert values_at(olds, values_at([i * 13 + j * 3 + k], at)) == at

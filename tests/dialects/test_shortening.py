"""Short forms of integer expressions: values stay, and sums that are equal become the same."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xrelax.dialects.int_expr import IntExpr, Sym, maximum, minimum, sym
from xrelax.dialects.shortening import shorten

x, y, z = map(sym, "xyz")
POINTS = [
    {Sym(n): v for n, v in zip("xyz", p, strict=True)} for p in product(range(-7, 8), repeat=3)
]

FORMS = [
    (x + 10 - minimum(x + 10, y + 10), "max(0, x - y)"),
    (minimum(x + 3, y + 1) - minimum(x, y - 2), "3"),
    (maximum(x, y - 4) + 4, "max(x + 4, y)"),
    (x - minimum(x + y, z), "max(-y, x - z)"),
    (minimum(x - y, x - z), "x - max(y, z)"),
    (maximum(x * 3, 9), "max(3, x) * 3"),
    (minimum(3 - x, 2), "-max(1, x) + 3"),
    (maximum(x, y * 2) + minimum(x, y * 2), "x + y * 2"),
    (maximum(x, y) * minimum(x, y) * z, "x * y * z"),
    (maximum(x, y) * 2 - minimum(-y, -x) * -2, "0"),
    (minimum(x // 5, y // 5), "(min(x, y)) floordiv 5"),
    (maximum(x // -5, y // -5), "(min(x, y)) floordiv (-5)"),
    (x - x // 3 * 3, "x mod 3"),
    (x * 2 - (x + y) // 3 * 6, "-y * 2 + ((x + y) mod 3) * 2"),
    (x - (x - 6) // 5 * 5, "(x + 4) mod 5 + 6"),
    (x - x // -3 * -3, "x mod (-3)"),
    ((x + 2) // 3 - x // 3, "(x mod 3 + 2) floordiv 3"),
    ((x + 1) // 2 - x // 2, "x mod 2"),
    (x // 2 + x % 2, "(x + 1) floordiv 2"),
    ((x + 1) // 2 - x % 2, "x floordiv 2"),
    (x % 2 + (x + 1) % 2, "1"),
    ((x % 2 + 1) // 2 + x // 2, "(x + 1) floordiv 2"),
    ((x - x % 6) // 6, "x floordiv 6"),
    ((x - x % 6 + 1) // 3, "(x floordiv 6) * 2"),
    (minimum(x - x // 4 * 4, y), "min(x mod 4, y)"),
    ((x + x % -9 * 8) % 9, "0"),
    (x // 3 * 3, "(x floordiv 3) * 3"),
    (minimum(x + 1, y * 4), "min(x + 1, y * 4)"),
]


def assert_equal_everywhere(expr: IntExpr, other: IntExpr) -> None:
    for point in POINTS:
        assert expr.evaluate(point.__getitem__) == other.evaluate(point.__getitem__), point


@pytest.mark.parametrize(("expr", "short"), FORMS, ids=[str(e) for e, _ in FORMS])
def test_forms(expr: IntExpr, short: str):
    assert str(shorten(expr)) == short
    assert_equal_everywhere(expr, shorten(expr))


BINARY = [
    minimum,
    maximum,
    lambda a, b: a * b,
    *(lambda a, b, c=c: (a + b) // c for c in (2, 3, -2, 6)),
    *(lambda a, b, c=c: (a - b) % c for c in (2, 3, -3, 6)),
]
linear = st.tuples(*[st.integers(-2, 2)] * 3, st.integers(-3, 3)).map(
    lambda t: x * t[0] + y * t[1] + z * t[2] + t[3]
)
terms = st.recursive(
    linear,
    lambda inner: st.tuples(st.sampled_from(BINARY), inner, inner).map(lambda t: t[0](*t[1:])),
    max_leaves=4,
)
factors = st.integers(-3, 3)


@settings(deadline=None)
@given(st.lists(st.tuples(terms, factors), min_size=2, max_size=2), linear, factors)
def test_values_stay(parts: list[tuple[IntExpr, int]], rest: IntExpr, factor: int):
    (first, second) = parts
    for total in (
        first[0] * first[1] + second[0] * second[1] + rest,
        (first[0] + rest) // 3 * factor - (first[0] + rest + 1) // 3 * factor + second[0],
        minimum(first[0], rest) * factor + maximum(first[0] + 2, rest + second[1]),
    ):
        assert_equal_everywhere(total, shorten(total))

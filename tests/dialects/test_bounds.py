"""Intervals hold every value, and simplification within ranges keeps them."""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from xrelax.dialects.bounds import (
    Interval,
    Ranges,
    constant_limit,
    interval_of,
    is_less,
    is_non_negative,
    simplify,
)
from xrelax.dialects.int_expr import ZERO, Arg, Atom, IntExpr, Sym, arg, maximum, minimum, sym

VARIABLES = [Arg(0), Arg(1), Arg(2)]
SYMBOLS = [Sym("n"), Sym("m")]
BUILD = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": minimum,
    "max": maximum,
}
leaves = st.one_of(st.integers(-9, 9), st.sampled_from([*VARIABLES, *SYMBOLS])).map(IntExpr.of)
expressions = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(list(BUILD)), inner, inner).map(
        lambda t: BUILD[t[0]](t[1], t[2])
    ),
    max_leaves=8,
)


@st.composite
def iterations(draw: st.DrawFn) -> tuple[Ranges, dict[Atom, int]]:
    """Ranges of the variables, some over symbols, and a point inside of them."""
    values: dict[Atom, int] = {s: draw(st.integers(0, 20)) for s in SYMBOLS}
    ranges: dict[Atom, Interval] = {}
    for variable in VARIABLES:
        start = IntExpr.of(draw(st.sampled_from([-5, 0, 2, Sym("m")])))
        extent = IntExpr.of(draw(st.sampled_from([1, 4, 16, Sym("n")])))
        first, size = (e.evaluate(values.__getitem__) for e in (start, extent))
        assume(size > 0)
        ranges[variable] = Interval.range(start, extent)
        values[variable] = draw(st.integers(first, first + size - 1))
    return ranges, values


def value_at(expr: IntExpr, values: dict[Atom, int]) -> int | None:
    try:
        return expr.evaluate(values.__getitem__)
    except ZeroDivisionError:
        return None


@settings(deadline=None)
@given(expressions, iterations())
def test_every_value_is_in_the_interval(expr: IntExpr, at: tuple[Ranges, dict[Atom, int]]):
    ranges, values = at
    interval, value = interval_of(expr, ranges), value_at(expr, values)
    if interval is None or value is None:
        return
    lower, upper = value_at(interval.lower, values), value_at(interval.upper, values)
    assert lower is not None and lower <= value
    assert upper is not None and value <= upper


@settings(deadline=None)
@given(expressions, iterations())
def test_simplification_keeps_values(expr: IntExpr, at: tuple[Ranges, dict[Atom, int]]):
    ranges, values = at
    value = value_at(expr, values)
    assert value is None or value_at(simplify(expr, ranges), values) == value


@settings(deadline=None)
@given(expressions, st.fixed_dictionaries({s: st.integers(0, 20) for s in SYMBOLS}))
def test_proofs_are_sound(expr: IntExpr, symbols: dict[Any, int]):
    for others in (-7, 0, 5):
        value = value_at(expr, {**symbols, **dict.fromkeys(VARIABLES, others)})
        if value is not None:
            assert value >= 0 or not is_non_negative(expr)
            assert value < 4 or not is_less(expr, 4)


def test_what_is_proven():
    n, m = sym("n"), sym("m")
    assert is_non_negative(n * m + 3) and is_non_negative(maximum(n - 5, 0))
    assert is_non_negative(minimum(n, m)) and is_non_negative((n - 9) % 4)
    assert is_non_negative(n - n // 16 * 16) and is_non_negative((n + 3) // 4 * 4 - n)
    assert is_non_negative(n - n // 16 * 16 - n % 16) and not is_non_negative(n // 4 * 4 - n)
    assert is_non_negative((n + 3) // 4 + 6 - (n + 27) // 28 * 7)
    assert not is_non_negative((n + 3) // 4 + 5 - (n + 27) // 28 * 7)
    assert constant_limit(minimum(n + 8, m) - n) == 8
    assert not is_non_negative(n - 1) and not is_non_negative(arg(0))
    assert is_less(n, n + 1) and not is_less(n, n)


def test_what_is_simplified():
    i, j, n = arg(0), arg(1), sym("n")
    ranges: Ranges = {Arg(0): Interval.range(0, n), Arg(1): Interval.range(0, 8)}
    assert simplify((i * 8 + j) // 8, ranges) == i
    for expr in (i, i * 33, i * 33 + n, i * 8 * n + 5 * i):
        assert simplify(expr // 8 * 8 + expr % 8, {}) == expr
        assert simplify(expr // 8 * 8 * n + expr % 8 * n + j, {}) == expr * n + j
        assert simplify(expr // 8 * 8 + (expr + 1) % 8, {}) != expr
    assert simplify((i * 8 + j) % 8, ranges) == j
    assert simplify((i * 8 + j) // 32, ranges) == i // 4
    assert simplify((i * 8 + j) % 32, ranges) == i % 4 * 8 + j
    assert simplify((i * 8 + j + 40) % 24, ranges) == (i + 5) % 3 * 8 + j
    for expr in ((i * 8 + j + 1) // 32, (i * 4 + j) % 32, (i * 8 + j) // 12, (i * 8 + j) // n):
        assert simplify(expr, ranges) == expr
    assert simplify(minimum(j, 8), ranges) == j and simplify(maximum(j, 0), ranges) == j
    assert simplify(minimum(i, n), ranges) == i
    assert simplify((i * 8 + j + 1) // 8, ranges) == i + (j + 1) // 8
    for rest in (j - 3, -j):  # less than the divisor, and less than 0
        assert simplify((i * 8 + rest) // 8, ranges) == i + rest // 8
        assert simplify((i * 8 + rest) % 8, ranges) == rest % 8


def test_intervals_of_products_and_quotients():
    i, n = arg(0), sym("n")
    ranges: Ranges = {Arg(0): Interval.range(2, 5)}
    assert interval_of(i * n, ranges) == Interval(n * 2, n * 6)
    assert interval_of(-i, ranges) == Interval(IntExpr.of(-6), IntExpr.of(-2))
    assert interval_of(i * -2, ranges) == Interval(IntExpr.of(-12), IntExpr.of(-4))
    below = {**ranges, Arg(1): Interval.point(-3)}
    assert interval_of(i * arg(1), below) == Interval(IntExpr.of(-18), IntExpr.of(-6))
    assert interval_of(i // 4, ranges) == Interval(ZERO, IntExpr.of(1))
    assert interval_of(i % 4, ranges) == Interval(ZERO, IntExpr.of(3))
    assert interval_of(i * arg(1), {**ranges, Arg(1): Interval.range(-1, 3)}) is None
    assert Interval.range(0, n).extent == n and Interval.point(3).extent == IntExpr.of(1)


def test_intervals_of_remainders():
    i, n, m = arg(0), sym("n"), sym("m")

    def span(expr: IntExpr, first: Any, last: Any) -> Interval | None:
        return interval_of(expr, {Arg(0): Interval(IntExpr.of(first), IntExpr.of(last))})

    for first, last, least, most in ((3, 5, 3, 5), (13, 15, 3, 5), (-4, -2, 6, 8), (3, 15, 0, 9)):
        assert span(i % 10, first, last) == Interval(IntExpr.of(least), IntExpr.of(most))
    assert span(i % 8, n * 8, n * 8 + 5) == Interval(ZERO, IntExpr.of(5))
    assert span(i % 8, n * 4, n * 4 + 3) == Interval(*(n * 4 - n // 2 * 8 + k for k in (0, 3)))
    assert span(i % 8, n * 4, n * 4 + 5) == Interval(ZERO, IntExpr.of(7))
    assert span(i % n, 0, n - 1) == Interval(ZERO, n - 1)
    for expr, least, most in ((i * 16 + m * 4, 0, 28), (i * 6 + 5, 1, 31), (i * 8 + 13, 5, 29)):
        assert span(expr % 32, 0, n) == Interval(IntExpr.of(least), IntExpr.of(most))


def test_quotients_join_their_remainders():
    n = sym("n")
    for expr, divisor in ((n * 2, 8), (n * 9, 8), (n * 6 + 5, 8), (n * 33, 8)):
        assert simplify((expr // divisor) * divisor + expr % divisor, {}) == expr
        other = (expr // divisor) * (divisor + 1) + expr % divisor
        assert simplify(other, {}) == other
    assert simplify((n % 21) // 3 * 3 + n // 21 * 21 + n % 3, {}) == n
    i, ranges = IntExpr.of(arg(0)), {Arg(0): Interval.range(0, 2)}
    assert simplify(i * 45 // 2, ranges) == i * 22 and simplify(i * 45 % 2, ranges) == i
    kept = (n % 20) // 3 * 3 + n % 3  # 20 is no multiple of 3
    assert simplify(kept, {}) == kept

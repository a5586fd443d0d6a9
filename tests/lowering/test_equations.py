"""Equations between dims: what is provably different, and what a symbol must be."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from xrelax.dialects.int_expr import IntExpr, Sym, sym
from xrelax.lowering.equations import always_differ, solve

n, m = sym("n"), sym("m")
SYMBOLS = ("n", "m")


def constant(value: int) -> IntExpr:
    return IntExpr.of(value)


@st.composite
def dims(draw: st.DrawFn) -> IntExpr:
    """A dim as it occurs in shapes: linear, a product, or a quotient."""
    a, b, c = (draw(st.integers(0, 4)) for _ in range(3))
    linear = n * a + m * b + c
    return draw(st.sampled_from([linear, n * m * a + c, (linear + 3) // 4, constant(c)]))


def test_numbers_differ():
    assert always_differ(constant(4), constant(5))
    assert not always_differ(constant(4), constant(4))


def test_a_symbol_may_be_a_number():
    assert not always_differ(n, constant(4))


def test_multiples_of_four_are_never_130():
    assert always_differ(n * 4, constant(130))
    assert not always_differ(n * 4, constant(128))


def test_a_successor_is_never_zero():
    assert always_differ(n + m + 1, constant(0))
    assert always_differ(n, n + 1)


@given(dims(), dims())
def test_what_always_differs_has_no_common_value(lhs: IntExpr, rhs: IntExpr):
    if always_differ(lhs, rhs):
        for i, j in itertools.product(range(6), repeat=2):
            values = {"n": i, "m": j}
            assert lhs.evaluate(lambda s: values[s.name]) != rhs.evaluate(lambda s: values[s.name])


def test_the_last_symbol_is_solved_for():
    assert solve(n, m, ("n", "m")) == ("m", n)
    assert solve(n, m, ("m", "n")) == ("n", m)


def test_a_number_is_preferred():
    assert solve(n * 4, constant(128), SYMBOLS) == ("n", constant(32))


def test_a_value_that_is_never_negative_is_preferred():
    assert solve(n, m + 2, SYMBOLS) == ("n", m + 2)


def test_what_has_no_solution():
    assert solve(n * 4, constant(130), SYMBOLS) is None
    assert solve(n * m, constant(128), SYMBOLS) is None
    assert solve(n + 4, constant(0), SYMBOLS) is None
    assert solve(n, m, ()) is None


@given(dims(), dims())
def test_a_solution_makes_both_sides_equal(lhs: IntExpr, rhs: IntExpr):
    solution = solve(lhs, rhs, SYMBOLS)
    if solution is not None:
        name, value = solution
        assert lhs.substitute({Sym(name): value}) == rhs.substitute({Sym(name): value})

"""Integer expressions: canonical forms keep values, laws hold, and text parses back."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.dialects.int_expr import (
    ONE,
    ZERO,
    Arg,
    Atom,
    IntExpr,
    Sym,
    arg,
    compound,
    maximum,
    minimum,
    render,
    sym,
)
from xrelax.dialects.sym import ExprAttr

ATOMS: list[Atom] = [Sym("n"), Sym("m"), Sym("k"), Arg(0), Arg(1)]
BUILD = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": minimum,
    "max": maximum,
}
PYTHON = {**BUILD, "min": min, "max": max}

leaves = st.one_of(st.integers(-9, 9), st.sampled_from(ATOMS))
trees = st.recursive(
    leaves, lambda inner: st.tuples(st.sampled_from(list(BUILD)), inner, inner), max_leaves=10
)
environments = st.fixed_dictionaries({atom: st.integers(-30, 30) for atom in ATOMS})


def build(tree: Any) -> IntExpr:
    if not isinstance(tree, Sym | Arg | int):
        operator, lhs, rhs = tree
        return BUILD[operator](build(lhs), build(rhs))
    return IntExpr.of(tree)


def calculate(tree: Any, values: dict[Atom, int]) -> int:
    """The value without any simplification."""
    if not isinstance(tree, Sym | Arg | int):
        operator, lhs, rhs = tree
        return PYTHON[operator](calculate(lhs, values), calculate(rhs, values))
    return tree if isinstance(tree, int) else values[tree]


def parse(text: str) -> IntExpr:
    attribute = Parser(get_context(), f"#sym.expr<{text}>").parse_attribute()
    assert isinstance(attribute, ExprAttr)
    return attribute.data


@settings(deadline=None)
@given(trees, environments)
def test_construction_keeps_the_value(tree: Any, values: dict[Atom, int]):
    try:
        expected = calculate(tree, values)
    except ZeroDivisionError:
        return
    assert build(tree).evaluate(values.__getitem__) == expected


@settings(deadline=None)
@given(trees)
def test_text_parses_back(tree: Any):
    expr = build(tree)
    assert parse(str(expr)) == expr
    assert repr(expr) == f"IntExpr({expr})"


@settings(deadline=None)
@given(trees, environments)
def test_text_in_python_is_the_same_expression(tree: Any, values: dict[Atom, int]):
    names = {atom: f"v{i}" for i, atom in enumerate(ATOMS)}
    spelling = {"floordiv": "{0} // {1}", "mod": "{0} % {1}", "min": "min({2}, {3})"}
    text = render(build(tree), names.__getitem__, {**spelling, "max": "max({2}, {3})"})
    try:
        expected = calculate(tree, values)
    except ZeroDivisionError:
        return
    assert eval(text, {names[a]: v for a, v in values.items()}) == expected


@settings(deadline=None)
@given(trees, trees, st.sampled_from(ATOMS), environments)
def test_substitution_is_evaluation_in_another_environment(
    tree: Any, inner: Any, atom: Atom, values: dict[Atom, int]
):
    expr, replacement = build(tree), build(inner)
    try:
        value = calculate(inner, values)
        expected = calculate(tree, {**values, atom: value})
    except ZeroDivisionError:
        return
    assert expr.substitute({atom: replacement}).evaluate(values.__getitem__) == expected


@settings(deadline=None)
@given(trees, st.sampled_from(ATOMS), environments)
def test_split_on(tree: Any, atom: Atom, values: dict[Atom, int]):
    expr = build(tree)
    split = expr.split_on(atom)
    if split is None:
        assert atom in set(expr.atoms())
        assert expr.coefficient_of(atom) is None
        return
    coefficient, rest = split
    assert coefficient * atom + rest == expr
    assert expr.coefficient_of(atom) == coefficient
    assert atom not in {*coefficient.atoms(), *rest.atoms()}


@settings(deadline=None)
@given(trees, trees, trees)
def test_ring_laws(first: Any, second: Any, third: Any):
    a, b, c = build(first), build(second), build(third)
    assert a + b == b + a and a * b == b * a
    assert (a + b) + c == a + (b + c) and (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == ZERO and a * ONE == a and a * 0 == ZERO and 1 - a == -(a - 1)
    assert hash(a + b) == hash(b + a)


@settings(deadline=None)
@given(trees, st.integers(-9, 9).filter(bool), environments)
def test_quotient_and_remainder(tree: Any, divisor: int, values: dict[Atom, int]):
    expr = build(tree)
    try:
        value = calculate(tree, values)
    except ZeroDivisionError:
        return
    quotient = (expr // divisor).evaluate(values.__getitem__)
    remainder = (expr % divisor).evaluate(values.__getitem__)
    assert (quotient, remainder) == divmod(value, divisor)
    assert (expr * divisor) // divisor == expr
    if divisor > 0:
        assert (expr * divisor) % divisor == ZERO


def test_division_by_symbols():
    n, m = sym("n"), sym("m")
    assert (n * m * 6) // (n * 3) == m * 2
    assert n // n == ONE
    assert (n * m + m * 2 + 5) // m == n + 2 + 5 // m
    assert str((n + 1) // m) == "(n + 1) floordiv m"
    assert 7 // IntExpr.of(2) == IntExpr.of(3) and -7 % IntExpr.of(4) == ONE
    with pytest.raises(ZeroDivisionError):
        (n // 0).evaluate(lambda _: 1)


def test_division_by_sums_of_symbols():
    n, m, k = sym("n"), sym("m"), sym("k")
    assert ((n + m) * k) // (n + m) == k
    assert ((n + m) * (n - m + 3)) // (n - m + 3) == n + m
    assert (n * 4 + 4) // (n * 2 + 2) == IntExpr.of(2)
    for lhs, rhs in ((n * m + 1, n + 1), (n * 3, n * 2), (n + m, n * m), (IntExpr.of(4), n)):
        assert (lhs // rhs).as_atom is not None, "only exact quotients go"


def test_extremes_that_are_decided():
    n = sym("n")
    assert minimum(n, n + 3) == n and maximum(n, n + 3) == n + 3
    assert minimum(n, sym("m")) == minimum(sym("m"), n)
    assert compound("min", n, n) == n


def test_parts():
    n = sym("n")
    expr = n * 4 + minimum(n, arg(2)) + 7
    assert expr.symbols() == {"n"} and expr.args() == {2} and expr.offset == 7
    assert IntExpr.of(5).constant == 5 and expr.constant is None and ZERO.constant == 0
    assert IntExpr.of(5).is_constant and not expr.is_constant
    assert n.as_atom == Sym("n") and (n * 2).as_atom is None and (n + 1).as_atom is None


def test_only_integers_are_expressions():
    with pytest.raises(TypeError, match="float"):
        IntExpr.of(1.5)  # pyright: ignore


def test_quotients_have_no_common_factor():
    n = sym("n")
    assert (n * 6 + 5) // 8 == (n * 3 + 2) // 4
    assert (n * 54 + 5) // 48 == (n * 9) // 8
    assert (n * 6 + 5) // -8 != (n * 3 + 2) // -4


def test_the_larger_of_three():
    a, b = sym("a"), sym("b")
    assert maximum(maximum(a, b), a + 1) == maximum(a + 1, b)
    assert minimum(minimum(a, b), b - 2) == minimum(a, b - 2)


def test_quotients_of_quotients():
    n, m = sym("n"), sym("m")
    assert (n // 8) // 4 == n // 32
    assert (m * 32 + (n + 1) // 2 + 31) // 96 == (m * 64 + n + 63) // 192
    assert str((n // 8 + m // 8) // 4) == "(m floordiv 8 + n floordiv 8) floordiv 4"
    assert (n // 8 * 2 + 1) // 4 != (n * 2 + 8) // 32, "the quotient would be counted twice"


def test_multiples_of_extremes():
    a, b, c = sym("a"), sym("b"), sym("c")
    assert maximum(minimum(a, b) * 2, minimum(a * 2, b * 2)) == minimum(a * 2, b * 2)
    assert maximum(minimum(a, b) * 2 - 1, minimum(a * 2, b * 2)) == minimum(a * 2, b * 2)
    shared = minimum(b * 2, maximum(a * 2, c))
    assert maximum(minimum(a, b) * 2, minimum(b * 2, c)) == shared


def test_the_least_of_what_is_at_most_another():
    a, b, c = sym("a"), sym("b"), sym("c")
    assert minimum(minimum(a, maximum(b, c)), c) == minimum(a, c)


def test_remainders_of_remainders():
    i, j, n = (IntExpr.of(a) for a in (Sym("i"), Sym("j"), Sym("n")))
    assert (i % 32 + j) % 8 == (i + j) % 8
    assert (i % 12 * 2 + j) % 8 == (i * 2 + j) % 8
    assert (i % 12) % 8 != i % 8
    assert (i % -16 + j) % 8 == (i + j) % 8 and (i % -12) % 8 != i % 8
    assert (i * n + j) % n == j % n and ((i * n * n * 32) % n).constant == 0
    assert (i * 2 + j) % (n * 2) != j % (n * 2)
    assert str((i * 6 + 5) % 8) == "((i * 3 + 2) mod 4) * 2 + 1"
    assert (i * 4 + j * 6) % 16 == (i * 2 + j * 3) % 8 * 2

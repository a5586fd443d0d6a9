"""`arith.Analyzer`: what it proves holds for all values, and what it should prove."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xrelax as tvm
from xrelax import tir
from xrelax.arith import Analyzer, ConstIntBound, ModularSet
from xrelax.ir import Range
from xrelax.te.arithmetic import as_int_expr

i, j, n = (tir.Var(name, "int64") for name in "ijn")


@pytest.fixture
def analyzer():
    made = Analyzer()
    made.bind(i, Range(0, 8))
    made.bind(j, Range.from_min_extent(1, 3))
    return made


def test_simplify(analyzer):
    assert str(analyzer.simplify((n * 8 + i) // 8)) == "n"
    assert str(analyzer.simplify(i // 8 + i % 8 + n - n)) == "i"
    assert analyzer.simplify(tir.max(i, 8) + 1).value == 9
    assert analyzer.simplify(i + j < 11).value is True
    assert str(analyzer.simplify(i + (n - n) < j)) == "(i < j)"
    assert str(analyzer.simplify(tir.Var("x", "float32") + 0.0)) == "(x + 0.0)"


@pytest.mark.parametrize(
    ("cond", "known"),
    [
        (i < 8, True),
        (i < 7, False),
        (i - j >= -3, True),
        (i != j + 8, True),
        (i == j, False),
        (tir.all(i >= 0, n + 1 > n), True),
        (tir.all(i >= 0, n > i), False),
        (n * 2 - n == n, True),
    ],
)
def test_can_prove(analyzer, cond, known):
    assert analyzer.can_prove(cond) is known


def test_bounds_and_multiples(analyzer):
    assert analyzer.const_int_bound(3 * j - i) == (-4, 9)
    assert analyzer.const_int_bound(n + 1) == (1, ConstIntBound.POS_INF)
    assert analyzer.const_int_bound(-n) == (ConstIntBound.NEG_INF, 0)
    assert analyzer.const_int_bound(n % 5) == (0, 4)
    assert analyzer.modular_set(n * 6 + i * 4 + 7) == ModularSet(2, 1)
    assert analyzer.modular_set(n - n + 5) == ModularSet(0, 5)
    analyzer.update(n, ConstIntBound(-2, 2))
    assert analyzer.const_int_bound(n * 2).min_value == -4
    assert analyzer.can_prove_less(n, 3) and not analyzer.can_prove_greater_equal(n, -1)


def test_values_and_constraints(analyzer):
    with analyzer.constraint_scope(tir.all(n >= 2, 10 > n)):
        assert analyzer.const_int_bound(n) == (2, 9)
        with analyzer.constraint_scope(n == 4):
            assert analyzer.can_prove_equal(n * n, 16) or analyzer.const_int_bound(n) == (4, 4)
    assert analyzer.const_int_bound(n).min_value == 0
    analyzer.bind(n, i * 4)
    assert analyzer.simplify(n % 4).value == 0 and analyzer.modular_set(n + 1) == (4, 1)


def test_what_is_refused(analyzer):
    with pytest.raises(TypeError, match=r"expected a variable of integers, got i \+ 1"):
        analyzer.bind(i + 1, 4)
    with pytest.raises(TypeError, match="expected an integer expression of symbols, got x"):
        analyzer.const_int_bound(tir.Var("x", "float32"))


def test_ranges():
    assert (Range(3).min, Range(3).extent) == (0, 3)
    assert repr(Range(1, n)) == "Range(1, n)" and str(Range(1, n).extent) == "n - 1"
    assert Range(1, 4) == Range.from_min_extent(1, 3) and tvm.ir.Range is Range


numbers = st.integers(-3, 9)
operations = st.sampled_from(["add", "sub", "mul", "min", "max", "floordiv", "mod"])
FUNCTIONS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
             "min": tir.min, "max": tir.max}  # fmt: skip


def made(steps):
    """An expression over i and j from steps: an operation and a number, or the other variable."""
    expr = i
    for op, number, takes_j in steps:
        other = j if takes_j else number
        if op == "floordiv":
            expr = expr // (abs(number) + 1)
        elif op == "mod":
            expr = expr % (abs(number) + 1)
        else:
            expr = FUNCTIONS[op](expr, other)
    return expr


@given(st.lists(st.tuples(operations, numbers, st.booleans()), min_size=1, max_size=5), numbers)
def test_what_is_known_holds_for_all_values(steps, limit):
    analyzer = Analyzer()
    analyzer.bind(i, Range(-2, 4))
    analyzer.bind(j, Range(1, 4))
    expr = made(steps)
    low, high = analyzer.const_int_bound(expr)
    coeff, base = analyzer.modular_set(expr)
    simple, proved = analyzer.simplify(expr), analyzer.can_prove(tir.all(expr < limit))
    for x in range(-2, 4):
        for y in range(1, 4):
            values = {"i": x, "j": y}
            value, other = (
                as_int_expr(e).evaluate(lambda a: values[a.name]) for e in (expr, simple)
            )
            assert value == other and low <= value <= high
            assert (value - base) % coeff == 0 if coeff else value == base
            assert not proved or value < limit

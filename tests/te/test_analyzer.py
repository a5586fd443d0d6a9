"""`arith.Analyzer`: what it proves holds for all values, and what it should prove."""

import pytest
from exact import EXACT
from hypothesis import given
from hypothesis import strategies as st

import xrelax as tvm
from xrelax import tir
from xrelax.arith import Analyzer, ConstIntBound, IntervalSet, ModularSet
from xrelax.ir import Range
from xrelax.te.arithmetic import as_int_expr, binary

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
    assert str(analyzer.simplify(i + (n - n) < j)) == "i < j"
    assert str(analyzer.simplify(tir.Var("x", "float32") + 0.0)) == "x + T.float32(0.0)"


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
    assert analyzer.const_int_bound(n + 1) == (ConstIntBound.NEG_INF, ConstIntBound.POS_INF)
    analyzer.update(n, ConstIntBound(0, ConstIntBound.POS_INF))
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
    assert analyzer.const_int_bound(n).min_value == ConstIntBound.NEG_INF
    with analyzer.constraint_scope(tir.all(n % 4 == 1, n % 3 == 2, 1 <= j % 7)):
        assert analyzer.modular_set(n) == (12, 5)
        assert analyzer.const_int_bound(j % 7 - 1).min_value == 0
    assert analyzer.modular_set(n) == (1, 0)
    analyzer.bind(n, i * 4)
    assert analyzer.simplify(n % 4).value == 0 and analyzer.modular_set(n + 1) == (4, 1)
    assert analyzer.const_int_bound(tir.truncmod(n, 40)) == (0, 28)


def test_what_is_refused(analyzer):
    with pytest.raises(TypeError, match=r"expected a variable of integers, got i \+ 1"):
        analyzer.bind(i + 1, 4)
    with pytest.raises(TypeError, match="expected an integer expression of symbols, got x"):
        analyzer.int_set(tir.Var("x", "float32"))
    with pytest.raises(TypeError, match="expected a ConstIntBound, ModularSet or IntervalSet"):
        analyzer.update(i, 4)
    with pytest.raises(ValueError, match="expected an expression with known bounds, got n % i"):
        analyzer.int_set(n % i)


def test_bounds_of_scalars(analyzer):
    x, y = tir.Var("x", "int8"), tir.Var("y", "uint8")
    assert analyzer.const_int_bound(x) == (-128, 127)
    assert analyzer.const_int_bound(y.astype("float32").astype("int32")) == (0, 255)
    assert analyzer.const_int_bound(tir.truncmod(x, 3)) == (-2, 2)
    assert analyzer.const_int_bound(tir.Select(x > 0, i, j + 10)) == (0, 13)
    assert analyzer.const_int_bound((i < j).astype("int32")) == (0, 1)
    assert analyzer.const_int_bound(tir.Let(n, i * 4 + 1, n + 1)) == (2, 30)
    assert analyzer.modular_set(tir.Let(n, i * 4 + 1, n + 1)) == (4, 2)
    assert analyzer.const_int_bound(tir.truncdiv(i - 4, j)) == (-4, 3)
    assert analyzer.const_int_bound((n * 64 + 3) % 256) == (3, 195)
    assert analyzer.const_int_bound(tir.truncmod(n * 64 + 3, 256)) == (-253, 195)
    assert analyzer.modular_set((n * 16 + i * 4) & 31) == (4, 0)
    assert analyzer.modular_set(tir.truncdiv(n * 4 + 2, 2)) == (1, 0)
    analyzer.update(x, ConstIntBound(2, 5))
    assert analyzer.const_int_bound(x + 1) == (3, 6) and analyzer.const_int_bound_is_bound(x)
    assert analyzer.can_prove(x < 6) and not analyzer.can_prove(x < 5)


def test_integers_that_wrap(analyzer):
    x, y = tir.Var("x", "int8"), tir.Var("y", "uint8")
    assert analyzer.const_int_bound(y + 1) == (0, 255)
    assert analyzer.const_int_bound(x * 2) == (-128, 127)
    assert analyzer.modular_set(y * 12) == (4, 0) and analyzer.modular_set(x * 3) == (1, 0)
    assert analyzer.modular_set((n * 12 + 7).astype("uint8")) == (4, 3)
    assert analyzer.const_int_bound((i - 1).astype("uint8")) == (0, 255)
    assert analyzer.const_int_bound((i + 1).astype("uint8")) == (1, 8)
    assert analyzer.modular_set((n * 2).astype("bool")) == (1, 0)
    unsigned = (i - 4).astype("uint32")
    assert analyzer.const_int_bound(unsigned.astype("int32")) == (-(2**31), 2**31 - 1)
    assert analyzer.const_int_bound(unsigned.astype("int64")) == (0, 2**32 - 1)
    analyzer.update(y, ConstIntBound(2, 5))
    assert analyzer.const_int_bound(y + 1) == (3, 6)


def test_integers_that_floats_round(analyzer):
    analyzer.update(n, ConstIntBound(2**24 + 1, 2**24 + 1))
    assert not analyzer.can_prove(n.astype("float32") > 2.0**24)
    assert analyzer.can_prove(n.astype("float64") > 2.0**24)
    half = tir.Select(i > 3, tir.const(0.5, "float32"), tir.const(2.5, "float32"))
    assert analyzer.const_int_bound(half.astype("int32")) == (0, 3)


def test_sets(analyzer):
    found = analyzer.int_set(i + n, {i: IntervalSet(n, n + 3)})
    assert (str(found.min_value), str(found.max_value)) == ("n * 2", "n * 2 + 3")
    assert repr(analyzer.int_set(i + 1)) == "IntervalSet(1, 8)"


def test_sets_of_choices_and_of_variables_over_others():
    analyzer, k = Analyzer(), tir.Var("k", "int64")
    sets = {i: IntervalSet(j - 1, j + 1), j: IntervalSet(k, k + 2), k: IntervalSet(0, n)}
    assert repr(analyzer.int_set(i * 2, sets)) == "IntervalSet(-2, n * 2 + 6)"
    assert repr(analyzer.int_set(i, {i: IntervalSet(j, j), j: IntervalSet(i, i)})) in (
        "IntervalSet(i, i)",
        "IntervalSet(j, j)",
    )
    choice = tir.Select(i > 0, i - 1, i + 1)
    assert repr(analyzer.int_set(choice, {i: IntervalSet(0, 10)})) == "IntervalSet(-1, 11)"
    with pytest.raises(ValueError, match="an expression with known bounds, got k % j"):
        analyzer.int_set(tir.Select(i > 0, i, k % j), {i: IntervalSet(0, 1), k: IntervalSet(0, 9)})
    rounded = tir.truncdiv(i, 4)
    assert repr(analyzer.int_set(rounded, {i: IntervalSet(0, 9)})) == "IntervalSet(0, 2)"
    with pytest.raises(TypeError, match=r"an integer expression of symbols, got T\.truncdiv"):
        analyzer.int_set(rounded, {i: IntervalSet(-1, 9)})
    assert IntervalSet.single_point(3).max_value.value == 3
    analyzer.update(n, IntervalSet(2, 9))
    assert analyzer.const_int_bound(n) == (2, 9)


def test_clones_learn_by_themselves(analyzer):
    clone = analyzer.clone()
    clone.bind(n, Range(0, 4))
    assert clone.can_prove(tir.all(n < 4, i < 8)) and not analyzer.can_prove(n < 4)


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


SCALARS = ["add", "sub", "mul", "min", "max", "floordiv", "floormod", "truncdiv", "truncmod",
           "bitwise_and", "shift_right"]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(SCALARS), st.booleans()), min_size=1, max_size=4))
def test_bounds_and_residues_of_scalars_hold_for_all_values(steps):
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    analyzer = Analyzer()
    analyzer.update(x, ConstIntBound(-5, 6))
    analyzer.update(y, ConstIntBound(1, 4))
    expr = x * 4 + 2
    for op, takes_y in steps:
        expr = binary(op, expr, y if takes_y else 3)
    low, high = analyzer.const_int_bound(expr)
    coeff, base = analyzer.modular_set(expr)
    for a in range(-5, 7):
        for b in range(1, 5):
            value = a * 4 + 2
            for op, takes_y in steps:
                value = EXACT[op](value, b if takes_y else 3)
            assert low <= value <= high
            assert (value - base) % coeff == 0 if coeff else value == base

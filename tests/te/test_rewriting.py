"""Trees of scalars: simplification keeps their values, and folds what conditions decide."""

from itertools import product

import pytest
from exact import EXACT
from hypothesis import given, settings
from hypothesis import strategies as st

from xrelax import tir
from xrelax.arith import Analyzer, ConstIntBound
from xrelax.te.arithmetic import Binary, Call, Cast, Imm, Index, binary, cast
from xrelax.te.expr import Var
from xrelax.te.intrinsics import if_then_else, logical_and, logical_not, logical_or, select

x, y, z = (tir.Var(name, "int32") for name in "xyz")
b, w = Var("b", "uint8"), Var("w", "int8")
VALUES = range(-4, 6)

WIDTHS = {"uint8": (0, 256), "int8": (-128, 256)}


def value_of(expr, values):
    match expr:
        case Imm():
            return expr.value
        case Index():
            return expr.expr.evaluate(lambda atom: values[atom.name])
        case Var():
            return values[expr.name]
        case Binary():
            found = EXACT[expr.op](*(value_of(e, values) for e in (expr.lhs, expr.rhs)))
        case Call():
            test, on_true, on_false = expr.args
            found = value_of(on_true if value_of(test, values) else on_false, values)
        case Cast():
            found = value_of(expr.value, values)
    low, size = WIDTHS.get(expr.dtype, (found, 1 << 64))
    return (found - low) % size + low


def assert_equal_everywhere(expr, other, values=VALUES, holds=lambda point: True):
    for point in product(values, repeat=3):
        at = dict(zip("xyz", point, strict=True))
        at |= {"b": point[0] * 37 % 256, "w": point[1] * 31 % 256 - 128}
        if holds(at):
            assert value_of(expr, at) == value_of(other, at), at


FORMS = [
    (logical_and(x == y, x != y), "T.bool(False)"),
    (logical_and(x != y, x == y), "T.bool(False)"),
    (logical_and(x <= y, y < x), "T.bool(False)"),
    (logical_and(x < y, y < z, z > x), "x < y and y < z"),
    (logical_and(x == 1, x != 2), "x == 1"),
    (logical_and(x >= 2, x <= 1), "T.bool(False)"),
    (logical_and(x > 1, logical_not(x > 1)), "T.bool(False)"),
    (logical_or(x < 1, x > 0), "T.bool(True)"),
    (logical_or(x > y, logical_not(x > y)), "T.bool(True)"),
    (logical_or(x != 1, x == 2), "x != 1"),
    (logical_or(x < y, logical_or(y == z, x >= y)), "T.bool(True)"),
    (logical_or(x == 1, logical_or(y == 1, z == 1)), "x == 1 or y == 1 or z == 1"),
    (logical_not(x < y), "x >= y"),
    (logical_not(logical_and(x < 4, y == z)), "x >= 4 or y != z"),
    (select(x < 0, y, 0) + select(x < 0, 1, z), "T.Select(x < 0, y + 1, z)"),
    (select(x < 0, y, z) - z, "T.Select(x < 0, y - z, 0)"),
    (select(x < 0, y, z) + z, "T.Select(x < 0, y, z) + z"),
    (select(x * 3 + 1 == 0, y, z), "z"),
    (select(x > 0, y + 1, y + 1), "y + 1"),
    (select(x < 2, tir.max(x, 1), y), "T.Select(x < 2, 1, y)"),
    (if_then_else(x < 5, if_then_else(y > 1, 1, z), z), "T.if_then_else(x < 5 and y > 1, 1, z)"),
    (if_then_else(x > 2, if_then_else(x > 1, 1, 0), 0), "T.if_then_else(x > 2, 1, 0)"),
    (b - b, "T.uint8(0)"),
    (binary("eq", w + 1, w + 1), "T.bool(True)"),
    (binary("floormod", b * 8, 4), "T.uint8(0)"),
    (binary("floormod", b * 12, 12), "b * T.uint8(12) % T.uint8(12)"),
    (binary("floormod", cast("uint8", x * 4), 4), "T.uint8(0)"),
    (b + 1 > 0, "b + T.uint8(1) > T.uint8(0)"),
    (tir.truncmod(x, 2) + 10 > 8, "T.bool(True)"),
    (tir.truncdiv(x, 8) * 8 + tir.truncmod(x, 8), "x"),
    (x - tir.truncdiv(x, 3) * 3, "T.truncmod(x, 3)"),
    (y - tir.truncdiv(y, -5) * -5, "T.truncmod(y, 5)"),
    (y - tir.truncdiv(y - 6, 5) * 5, "T.truncmod(y - 6, 5) + 6"),
    (tir.truncdiv(y - 6, 5) * 5 - y, "-6 - T.truncmod(y - 6, 5)"),
    (y * 5 - tir.truncdiv(y + z, 2) * 10, "(T.truncmod(y + z, 2) - z) * 5"),
    (tir.truncdiv(y, 3) * 6 - y * 2, "T.truncmod(y, 3) * -2"),
    (x // 3 * 3 + tir.truncmod(y, 3) - y, "(x // 3) * 3 + T.truncmod(y, 3) - y"),
    (tir.truncdiv(tir.truncdiv(x, 2), -3), "T.truncdiv(x, -6)"),
    (tir.truncdiv(x * 6, -4), "T.truncdiv(x * 3, -2)"),
    (tir.truncmod(x * 6, -4), "T.truncmod(x * 3, 2) * 2"),
    (tir.truncdiv(x * -4, 2), "-x * 2"),
    (tir.min(tir.truncmod(x, 2), tir.truncmod(y, 2) + 10), "T.truncmod(x, 2)"),
    (tir.truncdiv(x, 2) * y - y * tir.truncdiv(x, 2), "0"),
    ((tir.truncdiv(x, 2) * 6 + 1) // 3, "T.truncdiv(x, 2) * 2"),
]


@pytest.mark.parametrize(("expr", "short"), FORMS, ids=[str(e) for e, _ in FORMS])
def test_forms(expr, short):
    found = Analyzer().simplify(expr)
    assert str(found) == short
    assert_equal_everywhere(expr, found)


def test_an_access_that_is_guarded_stays_guarded():
    buffer = tir.decl_buffer((4,), "int32")
    inner = if_then_else(tir.BufferLoad(buffer, [x]) > 1, 1, 0)
    found = Analyzer().simplify(if_then_else(x < 4, inner, 0))
    assert isinstance(found.args[1], Call)


def test_calls_with_effects_stay():
    call = tir.call_extern("int32", "next_number")
    assert str(Analyzer().simplify(call - call)) == str(call - call)
    assert str(Analyzer().simplify(call * 2 - call)) == str(call * 2 - call)
    for expr in (call * 0, call % 1, binary("bitwise_and", call, 0), call <= 2147483647):
        assert str(Analyzer().simplify(expr)) == str(expr)
    chosen = if_then_else(x < 4, if_then_else(call > 1, 1, 0), 0)
    assert str(Analyzer().simplify(chosen)) == str(chosen)


def test_a_divisor_stays_in_its_dtype():
    u = Var("u", "int32")
    quotient = tir.truncdiv(tir.truncdiv(u, 1 << 16), 1 << 15)
    assert str(Analyzer().simplify(quotient)) == str(quotient)


def test_variables_of_one_name_are_others():
    expr = Var("u", "int8") - Var("u", "int8")
    assert str(Analyzer().simplify(expr)) == "u - u"


def test_floats_may_be_no_numbers():
    u = tir.Var("u", "float32")
    limited = binary("min", u, 1.0) < 2.0
    for expr in (u - u, binary("eq", u, u), logical_not(u < 1.0), u * 0.0 < 1.0, limited):
        assert str(Analyzer().simplify(expr)) == str(expr)
    assert Analyzer().simplify(tir.Cast("bool", tir.const(0.5, "float32"))).value is True


@pytest.mark.parametrize(
    ("limits", "known"),
    [((4, 4), True), ((4, None), False), ((2, None), True), ((2, 2), True), ((5, 5), False)],
)
def test_a_product_is_less_than_a_sum(limits, known):
    analyzer = Analyzer()
    for variable, limit in zip((x, y), limits, strict=True):
        upper = ConstIntBound.POS_INF if limit is None else limit - 1
        analyzer.update(variable, ConstIntBound(1, upper))
    assert analyzer.can_prove(x * y < (x + y) * 2) is known


def test_constraints_hold_inside_only():
    analyzer = Analyzer()
    with analyzer.constraint_scope(tir.all(x < y, y <= z, x != 3)):
        assert analyzer.can_prove(x + 1 <= y) and analyzer.can_prove(3 != x)
        assert not analyzer.can_prove(x + 2 <= y)
    with analyzer.constraint_scope(b < 7):
        assert analyzer.simplify(binary("floordiv", b, 7)).value == 0
    assert str(analyzer.simplify(binary("floordiv", b, 7))) == "b // T.uint8(7)"
    assert not analyzer.can_prove(x < y)


numbers = st.integers(-3, 4).map(lambda n: tir.const(n, "int32"))
leaves = st.one_of(numbers, st.sampled_from([x, y, z]))
ARITHMETIC = ["add", "sub", "mul", "min", "max"]
ROUNDED = ["floordiv", "floormod", "truncdiv", "truncmod"]
LOGICAL = [logical_and, logical_or, lambda a, b: logical_not(a)]


def made(inner):
    tests = st.recursive(
        st.tuples(st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]), inner, inner).map(
            lambda t: binary(*t)
        ),
        lambda deep: st.tuples(st.sampled_from(LOGICAL), deep, deep).map(lambda t: t[0](*t[1:])),
        max_leaves=4,
    )
    return st.one_of(
        st.tuples(st.sampled_from(ARITHMETIC), inner, inner).map(lambda t: binary(*t)),
        st.tuples(st.sampled_from(ROUNDED), inner, st.sampled_from([2, 3, 4, -2, -3])).map(
            lambda t: binary(*t)
        ),
        st.tuples(st.sampled_from([select, if_then_else]), tests, inner, inner).map(
            lambda t: t[0](*t[1:])
        ),
    )


trees = st.recursive(leaves, made, max_leaves=7)


@settings(deadline=None)
@given(trees, trees, st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]))
def test_values_stay(expr, other, op):
    analyzer = Analyzer()
    assert_equal_everywhere(expr, analyzer.simplify(expr), range(-3, 4))
    condition = binary(op, x, other)
    with analyzer.constraint_scope(condition):
        found = analyzer.simplify(expr)
    assert_equal_everywhere(expr, found, range(-3, 4), lambda at: value_of(condition, at))

"""Expressions and conditions as sums over variables."""

import pytest

from xrelax import tir
from xrelax.arith import detect_clip_bound, detect_linear_equation

a, b, c = (tir.Var(name, "int64") for name in "abc")


@pytest.mark.parametrize(
    ("expr", "variables", "found"),
    [
        (a * 4 + b * 6 + 7, [a], ["4", "b * 6 + 7"]),
        (a * (b + 4) + a + c * 8, [a, c], ["b + 5", "8", "0"]),
        (b * 7, [a], ["0", "b * 7"]),
        (b * 7, [], ["b * 7"]),
        (a * a + b, [a], []),
        (a * b, [a, b], []),
        (a // 2, [a], []),
        (tir.Var("x", "float32"), [a], []),
    ],
)
def test_linear_equations(expr, variables, found):
    assert [str(e) for e in detect_linear_equation(expr, variables)] == found


@pytest.mark.parametrize(
    ("condition", "variables", "found"),
    [
        (tir.all(a < b * 6, a - 1 > 0), [a], ["2", "b * 6 - 1"]),
        (tir.all(a >= 3, a >= c, a <= 9), [a], ["T.max(3, c)", "9"]),
        (tir.all(a == 4, b <= 3), [a, b], ["4", "4", "None", "3"]),
        (tir.all(tir.Not(a > b), a > 0), [a], ["1", "b"]),
        (
            tir.all(tir.min(a, b) > 3, tir.max(a, c) < 10),
            [a, b, c],
            ["4", "9", "4", "None", "None", "9"],
        ),
        (a < b, [a, b], []),
        (a * 2 < c, [a], []),
        (tir.any(a < 4, a > 8), [a], []),
        (a != 4, [a], []),
    ],
)
def test_clip_bounds(condition, variables, found):
    assert [str(e) for e in detect_clip_bound(condition, variables)] == found

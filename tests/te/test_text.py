"""Scalar expressions as TVMScript."""

import pytest

from xrelax import ir, te, tir

N = tir.Var("n", "int64")
X, P = tir.Var("x", "float32"), tir.Var("p", "bool")
A = te.placeholder((4, 4), name="A")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (N // 2 % 3, "(n // 2) % 3"),
        (tir.max(N, 1) - 1, "T.max(1, n) - 1"),
        ((X + 1.0) * X - (X - X), "(x + T.float32(1.0)) * x - (x - x)"),
        (X / (X * X), "x / (x * x)"),
        (-(X + X), "-(x + x)"),
        (tir.exp(X) + tir.infinity("float32"), 'T.exp(x) + T.float32("inf")'),
        (A[N, 0] < A[0, 0] * 2.0, "A[n, 0] < A[0, 0] * T.float32(2.0)"),
        (tir.Not(tir.And(P, N < 3)), "not (p and n < 3)"),
        (tir.Or(tir.Not(P), tir.And(P, P)), "not p or p and p"),
        ((N < 3) == P, "(n < 3) == p"),
        (tir.Select(P, 0, 2), "T.Select(p, 0, 2)"),
        (tir.Cast("int8", X), 'T.Cast("int8", x)'),
        (tir.const(3, "uint8"), "T.uint8(3)"),
        (tir.const(True, "bool"), "T.bool(True)"),
    ],
)
def test_texts(expr, text):
    assert str(expr) == repr(expr) == text


def test_declarations():
    expr = tir.if_then_else(P, X + X, tir.Cast("float32", N))
    assert expr.script(verbose_expr=True).splitlines() == [
        "p = T.bool()",
        "x = T.float32()",
        "n = T.int64()",
        'T.if_then_else(p, x + x, T.Cast("float32", n))',
    ]
    let = tir.Let(X, 1.5, X + 1)
    text = "T.Let(x + T.float32(1.0), where={x: T.float32(1.5)})"
    assert let.script(verbose_expr=True) == f"x = T.float32()\n{text}"
    assert tir.Cast("int8", X).script() == 'T.Cast("int8", x)'


def test_declarations_of_buffers():
    rows = tir.decl_buffer((N, 4), "int8", name="rows", scope="local")
    declared = 'n = T.int64()\nrows = T.Buffer((n, 4), "int8", scope="local")\n'
    assert rows.script() == "rows" and rows.script(verbose_expr=True) == declared + "rows"
    load = tir.BufferLoad(rows, [N - 1, 0]) + tir.const(1, "int8")
    assert load.script(verbose_expr=True) == f"{declared}rows[n - 1, 0] + T.int8(1)"
    region = tir.BufferRegion(rows, [ir.Range(0, N), ir.Range(2, 4)])
    assert region.script(verbose_expr=True) == f"{declared}rows[0:n, 2:4]"
    assert tir.StringImm('"a"').script() == '"\\"a\\""'

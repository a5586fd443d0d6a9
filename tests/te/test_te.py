"""Tensor expressions: what they compute, their dtypes and tags, and what is refused."""

import numpy as np
import pytest
from evaluating import array, run

from xrelax import build, te, tir, topi
from xrelax.te import arithmetic


def test_placeholders():
    a = te.placeholder((128, te.var("n")), name="A", dtype="int8")
    assert (a.name, a.shape[0], str(a.shape[1]), a.dtype, a.ndim) == ("A", 128, "n", "int8", 2)
    assert type(a).__name__ == "Tensor"
    b = te.placeholder((te.var("n"), 3))
    assert a.shape[1] == b.shape[0]
    assert bool(a.shape[1] * 2 != b.shape[0] + b.shape[0]) is False
    with pytest.raises(ValueError, match=r"only known at run time"):
        bool(a.shape[1] > b.shape[0] * 2)


def test_lambdas_of_every_kind():
    a = te.placeholder((3, 4), name="A")
    x = array(3, 4)
    for function in (
        lambda i, j: a[i, j] + 1,
        lambda *i: a(*i) + 1,
        lambda i, *rest: 1 + a(i, *rest),
        lambda i, j, scale=1: a[i, j] + scale,
    ):
        np.testing.assert_array_equal(run([a, te.compute((3, 4), function)], x), x + 1)
    np.testing.assert_array_equal(run([te.compute((), lambda: 3.0)]), np.float32(3))
    assert te.compute((3,), lambda i: 0).dtype == "int32"
    assert te.compute((3,), lambda i: i > 1).dtype == "bool"
    relu = te.compute(a.shape, lambda *i: te.max(a(*i), 0), name="relu")
    assert relu.dtype == "float32"
    np.testing.assert_array_equal(run([a, relu], x), np.maximum(x, 0))


def test_several_outputs():
    a = te.placeholder((5,), name="A")
    low, high = te.compute((5,), lambda i: (a[i] - 1, a[4 - i] * np.float32(2)), name="both")
    x = array(5)
    got = run([a, low, high], x)
    np.testing.assert_array_equal(got[0], x - 1)
    np.testing.assert_array_equal(got[1], x[::-1] * 2)
    assert (low.name, high.name) == ("both.v0", "both.v1")


def test_tags_of_scopes():
    @te.tag_scope("conv")
    def one():
        return te.compute((4,), lambda i: te.const(1.0), name="one")

    with te.tag_scope(tag="gemm"):
        assert te.compute((4,), lambda i: te.const(1.0)).op.tag == "gemm"
        with pytest.raises(ValueError, match="no tag in the scope of tag 'gemm', got 'conv'"):
            one()
    assert one().op.tag == "conv" and te.compute((4,), lambda i: te.const(1.0)).op.tag == ""


def test_symbolic_shapes():
    n, m = te.var("n"), te.var("m")
    a, b = te.placeholder((n, m), name="A"), te.placeholder((m, 3), name="B")
    k = te.reduce_axis((0, m), name="k")
    c = te.compute((n, 3), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k) if True else 0, name="C")
    d = te.compute((n, 3), lambda i, j: c[i, j] + te.cast("float32", n * 10 + i), name="D")
    x, y = array(2, 5), array(5, 3, seed=2)
    expected = x @ y + 20 + np.arange(2, dtype="float32")[:, None]
    np.testing.assert_allclose(run([a, b, d], x, y, shapes=[(2, 3)]), expected, rtol=1e-5)


def test_shared_parts_of_expressions_are_walked_once():
    def doubled(i):
        x = te.cast("float32", i)
        for _ in range(60):
            x = x + x
        return x

    te.compute((4,), doubled)


def one(shape=(4,), dtype="float32"):
    return te.placeholder(shape, dtype, name="A")


K = te.reduce_axis((0, 4), name="k")
ERRORS = [
    (lambda: te.placeholder((4,), "float33"), r"expected a dtype \(.*\), got 'float33'"),
    (
        lambda: te.placeholder((4.5,)),
        r"expected a dim to be an int or an expression of symbols, got 4.5",
    ),
    (lambda: one()[0, 1], r"expected 1 indices for 'A', got 2"),
    (
        lambda: te.compute((2, 3), lambda i: i),
        r"expected a function of 2 indices for 2 dims, got 1",
    ),
    (lambda: te.compute((2,), lambda i: "text"), r"expected an expression or a number, got str"),
    (lambda: te.reduce_axis((4,)), r"expected a range \(start, stop\) for 'rv', got 1 numbers"),
    (
        lambda: te.create_prim_func([te.compute((4,), lambda i, a=one(): a[i])]),
        r"expected input 'A' among the arguments of create_prim_func",
    ),
    (
        lambda: te.create_prim_func([one(), te.compute((4,), lambda i: te.sum(one()[K], axis=K))]),
        r"among the arguments",
    ),
    (
        lambda: te.create_prim_func([te.var("n"), one(), te.var("n")]),
        r"expected distinct arguments, got 'n' twice",
    ),
    (
        lambda: te.create_prim_func([one()], "int16"),
        r"index_dtype_override to be int32, int64 or None, got 'int16'",
    ),
    (
        lambda: te.var("n", "float12"),
        r"expected a dtype .*, got 'float12'",
    ),
    (lambda: te.const(300, "uint8"), r"expected a number of uint8 in \[0, 255\], got 300"),
    (lambda: one()[0] << 1, r"expected integers for 'shift_left', got float32"),
    (lambda: ~one()[0], r"expected an integer or bool for '~', got float32"),
    (lambda: te.const(1, "int32") / 2, r"expected floats on both sides of '/', got int32"),
    (lambda: topi.add(one((3,)), one((4,))), r"\(3,\) and \(4,\) do not broadcast"),
    (
        lambda: topi.matmul(one((3, 4)), one((3, 4))),
        r"shapes of 'relax.matmul' to be compatible, got \[3, 4\] and \[3, 4\]",
    ),
    (
        lambda: te.topi.linear(one((3, 4)), one((3, 5))),
        r"shapes of 'relax.linear' to be compatible, got \[3, 4\] and \[3, 5\]",
    ),
    (
        lambda: te.topi.transpose(one((3, 4)), (0, 0)),
        r"expected axes of 'relax.permute_dims' to permute 2 dims, got \(0, 0\)",
    ),
]


@pytest.mark.parametrize(("make", "message"), ERRORS)
def test_errors(make, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_numpy_scalars_and_weak_literals():
    a = one(dtype="float64")
    for value in (np.float64(2) * a[0], a[0] * np.float32(2), 2 * a[0], a[0] + True):
        assert value.dtype == "float64"
    assert (one(dtype="int8")[0] + 1).dtype == "int8"
    assert (one(dtype="int8")[0] * 0.5).dtype == "float32"
    assert te.const(0.1, "float32").value == np.float32(0.1)
    assert arithmetic.convert(1 << 40).dtype == "int64"
    assert (te.const(100, "int8") + te.const(100, "int8")).value == -56
    assert (-te.const(1, "uint8")).value == 255
    assert str(1 - a[0]) == "T.float64(1.0) - A[0]" and str(5 >> te.const(1)) == "5 >> 1"


def test_a_let_of_a_symbol():
    x, n = tir.Var("x", "int32"), te.var("n")
    a = te.placeholder((n,), "int64", name="a")
    data = np.arange(4)
    for element, wanted in (
        (lambda i: tir.Let(x, a[i] * 2, x + 1), data * 2 + 1),
        (lambda i: tir.Let(x, i * 2, a[i] + x % 3), data + data * 2 % 3),
        (lambda i: tir.Let(n, i + 1, n * n) + n, (data + 1) ** 2 + 4),
        (lambda i: tir.Let(x, i, tir.Let(x, x + 1, x * 10) + x), data * 11 + 10),
    ):
        b = te.compute((n,), element, name="b")
        found = np.empty(4, b.dtype)
        build(te.create_prim_func([a, b]))["main"](data, found)
        np.testing.assert_array_equal(found, wanted)

"""Reductions in tensor expressions: kinds, ranges, conditions, reducers of tuples, refusals."""

import numpy as np
import pytest
from evaluating import array, run

from xrelax import te
from xrelax.te import expr


@pytest.mark.parametrize(
    ("reduce", "function"),
    [(te.sum, np.sum), (te.prod, np.prod), (te.max, np.max), (te.min, np.min)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "int8"])
def test_reductions(reduce, function, dtype):
    a = te.placeholder((3, 4, 2), dtype, name="A")
    j, k = te.reduce_axis((0, 4), name="j"), te.reduce_axis((0, 2), "k")
    x = array(3, 4, 2, dtype=dtype)
    b = te.compute((3,), lambda i: reduce(a[i, j, k], axis=[j, k]))
    assert b.dtype == dtype
    got = run([a, b], x)
    expected = function(
        x, axis=(1, 2), **({"dtype": dtype} if function in (np.sum, np.prod) else {})
    )
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_sums_and_products_of_bools_are_numbers():
    a = te.placeholder((3, 4), "bool", name="A")
    k = te.reduce_axis((0, 4), name="k")
    x = array(3, 4, dtype="bool")
    total = te.compute((3,), lambda i: te.sum(a[i, k], axis=k))
    assert total.dtype == "int32"
    np.testing.assert_array_equal(run([a, total], x), x.sum(axis=1))
    largest = te.compute((3,), lambda i: te.max(a[i, k], axis=k))
    assert largest.dtype == "bool"
    np.testing.assert_array_equal(run([a, largest], x), x.any(axis=1))


@pytest.mark.parametrize(
    ("reduce", "identity"), [(te.max, -np.inf), (te.min, np.inf), (te.sum, 0), (te.prod, 1)]
)
def test_identities_of_empty_reductions(reduce, identity):
    a = te.placeholder((2, 0), name="A")
    k = te.reduce_axis((0, 0), name="k")
    b = te.compute((2,), lambda i: reduce(a[i, k], axis=k))
    assert f"T.float32({identity})" in te.create_prim_func([a, b]).script().replace('"', "")


def test_ranges_that_do_not_start_at_zero_and_conditions():
    a = te.placeholder((8,), name="A")
    k = te.reduce_axis((2, 7), name="k")
    x = array(8)
    b = te.compute((1,), lambda i: te.sum(a[k], axis=k))
    np.testing.assert_allclose(run([a, b], x), [x[2:7].sum()], rtol=1e-6)
    odd = te.compute((1,), lambda i: te.sum(a[k], axis=k, where=k % 2 == 1))
    np.testing.assert_allclose(run([a, odd], x), [x[3:7:2].sum()], rtol=1e-6)
    positive = te.compute((1,), lambda i: te.max(a[k], axis=k, where=a[k] < 0))
    np.testing.assert_allclose(run([a, positive], x), [max(v for v in x[2:7] if v < 0)])


def argmax_of(a, count):
    def larger(lhs, rhs):
        better = expr.PrimExpr.__ge__(lhs[1], rhs[1])
        return (te.if_then_else(better, lhs[0], rhs[0]), te.if_then_else(better, lhs[1], rhs[1]))

    argmax = te.comm_reducer(
        larger, lambda index, value: (te.const(-1, index), te.const(float("-inf"), value)), "argmax"
    )
    k = te.reduce_axis((0, count), name="k")
    return te.compute((a.shape[0],), lambda i: argmax((k, a[i, k]), axis=k), name="argmax")


def test_a_reducer_of_tuples():
    a = te.placeholder((4, 9), name="A")
    index, value = argmax_of(a, 9)
    x = array(4, 9)
    got = run([a, index, value], x)
    np.testing.assert_array_equal(got[0], x.argmax(axis=1))
    np.testing.assert_array_equal(got[1], x.max(axis=1))


def test_wrong_reductions():
    a = te.placeholder((2, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")
    for name, element, message in (
        ("in", lambda s, m: s + 1, "expected a reduction to be the whole body of 'in'"),
        ("mixed", lambda s, m: (s, a[0, 0]), "expected every output of 'mixed' to be a reduction"),
        ("two", lambda s, m: (s, m), "expected the outputs of 'two' to be one reduction"),
    ):
        with pytest.raises(RuntimeError, match=message):
            te.compute(
                (2,),
                lambda i, f=element: f(te.sum(a[i, k], axis=k), te.max(a[i, k], axis=k)),
                name=name,
            )
    index, _ = argmax_of(a, 4)
    with pytest.raises(ValueError, match="expected distinct arguments, got 'A' twice"):
        te.create_prim_func([a, index, a])
    with pytest.raises(ValueError, match=r"expected axes of te.reduce_axis, got i"):
        te.compute((2,), lambda i: te.sum(a[i, 0], axis=i))
    assert "argmax_v1 = T.alloc_buffer((2,))" in te.create_prim_func([a, index]).script()

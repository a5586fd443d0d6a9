"""Common operators as tensor expressions, against NumPy."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax import te
from xrelax.reference.evaluate import evaluate
from xrelax.te import topi


def run(function, *given, **options):
    arrays = [np.asarray(a) for a in given]
    tensors = [te.placeholder(a.shape, str(a.dtype), name=f"x{i}") for i, a in enumerate(arrays)]
    result = function(*tensors, **options)
    kernel = te.create_prim_func([*tensors, result])
    out = np.zeros(result.shape, result.dtype)
    return evaluate(ModuleOp([kernel.op.clone()]), "main", [*arrays, out])[-1]


def array(*shape, dtype="float32", seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 4).astype(dtype)


SHAPES = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((2, 1, 4), (3, 1)),
    ((), (2, 2)),
    ((1,), (5,)),
    ((0, 3), (3,)),
]


def test_operators_of_python():
    x, y = array(3, 4), array(4, seed=1)
    result = run(lambda a, b: -(2 - a * b) / (1 + a - b) * 3 + 1.5, x, y)
    np.testing.assert_allclose(result, -(2 - x * y) / (1 + x - y) * 3 + 1.5, rtol=1e-4)
    assert str(te.create_prim_func([t := te.placeholder((4,), name="t"), 1 / t])).count("T.block")


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
@pytest.mark.parametrize(("lhs", "rhs"), SHAPES)
def test_elementwise(name, lhs, rhs):
    x, y = array(*lhs), array(*rhs, seed=1)
    np.testing.assert_allclose(run(getattr(topi, name), x, y), getattr(np, name)(x, y), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "float64", "float16"])
def test_elementwise_dtypes(dtype):
    x, y = np.abs(array(6, dtype=dtype)), np.abs(array(6, dtype=dtype, seed=1))
    np.testing.assert_array_equal(run(topi.add, x, y), x + y)
    np.testing.assert_array_equal(run(topi.maximum, x, y), np.maximum(x, y))


def test_elementwise_with_numbers():
    x = array(2, 3)
    np.testing.assert_allclose(run(lambda a: topi.add(a, 1.5), x), x + 1.5)
    np.testing.assert_allclose(run(lambda a: topi.subtract(2, a), x), 2 - x)


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((3, 0), (0, 2)),
    ],
)
def test_matmul(lhs, rhs):
    x, y = array(*lhs), array(*rhs, seed=1)
    np.testing.assert_allclose(run(topi.matmul, x, y), x @ y, rtol=1e-5, atol=1e-5)


def test_linear():
    x, w, b = array(2, 3, 4), array(5, 4, seed=1), array(5, seed=2)
    np.testing.assert_allclose(run(topi.linear, x, w), x @ w.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(run(topi.linear, x, w, b), x @ w.T + b, rtol=1e-5, atol=1e-5)


def test_relu():
    x = array(3, 4)
    x[0, 0] = np.nan
    np.testing.assert_array_equal(run(topi.relu, x), np.maximum(x, 0))
    i = array(8, dtype="int8")
    np.testing.assert_array_equal(run(topi.relu, i), np.maximum(i, 0))


@pytest.mark.parametrize("axes", [None, (0, 2, 1), (2, 0, 1), (-1, 0, 1)])
def test_transpose(axes):
    x = array(2, 3, 4)
    got = run(lambda a: topi.transpose(a, axes), x)
    np.testing.assert_array_equal(got, np.transpose(x, axes))


def test_broadcast_shape_of_symbols():
    n = te.var("n")
    assert str(te.broadcast_shape((n, 1), (1, 4))) == "(n, 4)"
    with pytest.raises(ValueError, match="do not broadcast"):
        te.broadcast_shape((n,), (4,))


def test_pools_as_in_tvm():
    x = te.placeholder((1, 2, 4, 4), name="x")
    y = topi.nn.adaptive_pool(x, [2, 2], "max")
    assert y.shape == (1, 2, 2, 2) and topi.nn.global_pool(x, "avg").shape == (1, 2, 1, 1)
    with pytest.raises(ValueError, match=r"expected a pool_type \(avg, max\), got 'sum'"):
        topi.nn.global_pool(x, "sum")
    up = topi.nn.upsampling(
        te.placeholder((1, 4, 3, 2)), 2.0, 3.0, layout="NHWC", method="bilinear"
    )
    assert up.shape == (1, 8, 9, 2)
    with pytest.raises(ValueError, match=r"expected a method \(nearest_neighbor, .*, got 'best'"):
        topi.nn.upsampling(x, 2, 2, method="best")
    with pytest.raises(TypeError, match=r"topi\.acos only supports floating-point inputs, but got"):
        topi.acos(te.placeholder((2,), dtype="int16"))

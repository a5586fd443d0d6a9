"""Tensors whose shape only the running program knows: of branches, of functions, without limits."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.inspection import lower_to
from xrelax.reference.evaluate import evaluate
from xrelax.reference.inputs import array_functions

X = np.arange(1, 7, dtype="float32")
BRANCHES = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
        if c:
            r = R.sum(x)
        else:
            r = R.concat([x, x])
        return r
"""
RECURSION = """
    @R.function
    def doubled(x: R.Tensor((1,), "float32")) -> R.Tensor(
        dtype="float32"
    ):
        cls = M
        if R.less_equal(R.sum(x), R.const(0, "float32")):
            r = R.const(1, "float32")
        else:
            less = R.call_pure_packed("tests.less", x, sinfo_args=R.Tensor(ndim=1, dtype="float32"))
            t = cls.doubled(less)
            r = R.call_pure_packed("tests.add", t, t, sinfo_args=R.Tensor(dtype="float32"))
        return r
    @R.function
    def main(x: R.Tensor((1,), "float32")):
        cls = M
        y = cls.doubled(x)
        z = R.match_cast(y, R.Tensor((), "float32"))
        return R.add(z, R.const(1, "float32"))
"""


def test_branches_of_different_shapes(build):
    main = build(BRANCHES)
    np.testing.assert_allclose(main(np.array(True), X).numpy(), X.sum())
    first = main(np.array(False), X)
    main(np.array(False), X + 1)
    np.testing.assert_allclose(first.numpy(), np.concatenate([X, X]))


def test_results_of_unknown_shape_in_recursion(build, names):
    tvm.register_func("tests.less", lambda x: tvm.nd.array(x.numpy() - 1), override=True)
    tvm.register_func("tests.add", lambda a, b: tvm.nd.array(a.numpy() + b.numpy()), override=True)
    assert build(RECURSION)(np.float32([3])).numpy() == 9


CHOSEN = """
    @R.function
    def negated(v: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return R.negative(v)
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor((3,), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.multiply(x, R.const(2, "float32"))
            v = M.negated(w)
            found = R.call_pure_packed(
                "tests.chosen", y, sinfo_args=R.Tensor(ndim=2, dtype="float32")
            )
            rows = R.match_cast(found, R.Tensor((m, 3), "float32"))
            z = R.add(R.exp(R.matmul(rows, R.expand_dims(v, 1))), R.sum(x))
            total = R.sum(z)
            R.output(z, total, y)
        return z, total, y
"""


def test_shapes_that_a_registered_function_chooses(build, names):
    def chosen(y):
        values = y.numpy()
        return tvm.nd.array(np.repeat(values[values > 4, None], 3, axis=1))

    tvm.register_func("tests.chosen", chosen, override=True)
    main, w = build(CHOSEN), np.float32([0.1, 0.2, -0.2])
    for x in (X, X[:1], X[:0]):
        rows = chosen(tvm.nd.array(x * 2)).numpy()
        z, total, y = main(x, w)
        wanted = np.exp(rows @ -w[:, None]) + x.sum()
        np.testing.assert_allclose(z.numpy(), wanted, rtol=1e-5)
        np.testing.assert_allclose(total.numpy(), wanted.sum(), rtol=1e-5)
        np.testing.assert_allclose(y.numpy(), x * 2)
    wrong = np.ones((2, 4), "float32")
    tvm.register_func("tests.chosen", lambda y: tvm.nd.array(wrong), override=True)
    with pytest.raises(ValueError, match="expected a dim of 3, got 4"):
        main(X, w)


SHAPES = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), t: R.Tensor((2,), "int64")):
        shape = R.tensor_to_shape(t)
        y = R.reshape(x, shape)
        return R.add(y, R.ones(shape, "float32"))
"""


def test_a_shape_of_data_without_limits(module):
    mod = module(SHAPES)
    main = tvm.build(mod)["main"]
    for dims in ((2, 3), (6, 1)):
        np.testing.assert_array_equal(main(X, np.int64(dims)).numpy(), X.reshape(dims) + 1)
    for stage in ("relax", "rt"):
        lowered, arguments = lower_to(mod.op, stage), [X, np.int64((3, 2))]
        (found,) = evaluate(lowered, "main", arguments, registry=array_functions())
        np.testing.assert_array_equal(found, X.reshape(3, 2) + 1)
    with pytest.raises(ValueError, match="expected dim 0 to be 8, got 6"):
        main(X, np.int64((2, 4)))
    with pytest.raises(ValueError, match="expected a dim of at least 0, got -2"):
        main(X, np.int64((-2, -3)))


def test_limits_are_required_in_branches(build):
    with pytest.raises(Diagnostic, match="expected a size in a branch to have a limit"):
        build("""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"), t: R.Tensor((1,), "int64")):
        if c:
            s = R.tensor_to_shape(t)
            r = R.sum(R.ones(s, "float32"))
        else:
            r = R.sum(x)
        return r
""")


def test_an_annotation_says_what_is_returned(module):
    mod = module("""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Object) -> R.Tensor(("m", "n"), "float32"):
        return y
""")
    main = tvm.build(mod)["main"]
    assert main(X.reshape(2, 3), tvm.nd.array(X.reshape(3, 2))).shape == (3, 2)
    with pytest.raises(ValueError, match="expected dim 0 to be 3, got 2"):
        main(X.reshape(2, 3), tvm.nd.array(X.reshape(2, 3)))

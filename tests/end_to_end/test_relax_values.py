"""Casts, shapes, numbers and tuples of the Relax language end to end.

Each program goes through TVMScript and back, is compiled with every pass checked against the
reference evaluator, and its machine code is compared with NumPy.
"""

import numpy as np
import pytest

import xrelax

X = np.arange(6, dtype="float32").reshape(2, 3)


CAST = """
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32"), w: R.Tensor(("k",), "float32")):
        n = T.int64()
        k = T.int64()
        a = R.add(x, x)
        y = R.match_cast(a, R.Tensor((n, k), "float32"))
        z = R.add(y, w)
        return z
"""


def test_match_cast(build):
    main = build(CAST)
    np.testing.assert_allclose(main(X, X[0]).numpy(), 2 * X + X[0])
    with pytest.raises(
        ValueError, match=r"match_cast of 'a' to \(n, k\) in 'main': expected dim 1"
    ):
        main(X, X[0][:2])
    with pytest.raises(ValueError, match=r"expected argument 'x' to have shape \(x_0, x_1\)"):
        main(X[0], X[0])


def test_a_cast_in_a_branch_is_checked_where_it_stands(build):
    main = build("""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("a", "b"), "float32"), w: R.Tensor(("k",),
        "float32")):
        n = T.int64()
        k = T.int64()
        a = T.int64()
        b = T.int64()
        if c:
            with R.dataflow():
                y = R.match_cast(x, R.Tensor((n, k), "float32"))
                z = R.add(y, w)
                R.output(z)
            r = R.match_cast(z, R.Tensor((a, b), "float32"))
        else:
            r = x
        return r
""")
    np.testing.assert_allclose(main(np.array(True), X, X[0]).numpy(), X + X[0])
    np.testing.assert_allclose(main(np.array(False), X, X[0][:2]).numpy(), X)
    with pytest.raises(ValueError, match="match_cast of 'x'"):
        main(np.array(True), X, X[0][:2])


def test_a_call_in_a_branch_is_checked_where_it_stands(build):
    main = build("""
    @T.prim_func(private=True)
    def plus(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("plus"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v]
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",),
        "float32")):
        n = T.int64()
        cls = M
        if c:
            r = R.call_tir(cls.plus, (x, y), out_sinfo=R.Tensor((n,), "float32"))
        else:
            r = x
        return r
""")
    np.testing.assert_allclose(main(np.array(True), X[0], X[1]).numpy(), X[0] + X[1])
    np.testing.assert_allclose(main(np.array(False), X[0], X[1][:2]).numpy(), X[0])
    with pytest.raises(ValueError, match="call of 'plus' in 'main': expected a dim of"):
        main(np.array(True), X[0], X[1][:2])


def test_shapes_and_numbers(build):
    main = build("""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(["m", "k"])):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        cls = M
        a = R.shape_of(x)
        b = R.shape([n + k, 4])
        q = R.prim_value(n * m)
        z = cls.sub(x, s, q)
        return (a, b, q, z)
    @R.function(private=True)
    def sub(x: R.Tensor(("a", "b"), "float32"), s: R.Shape(["b", "c"]),
        q: R.Prim(value="d")) -> R.Tuple(R.Tensor(("a", "b"), "float32"), R.Shape(["c", "d"])):
        c = T.int64()
        d = T.int64()
        y = R.add(x, x)
        w = R.shape([c, d])
        return (y, w)
""")
    a, b, q, (y, w) = main(X, (3, 9))
    assert (a, b, q, w) == ((2, 3), (11, 4), 6, (9, 6))
    np.testing.assert_allclose(y.numpy(), 2 * X)
    for shape, message in (
        ((4, 9), "expected symbol 'm' to be 3 as in argument 'x', got 4 in dim 0 of argument 's'"),
        ((3, -1), "expected dim 1 of argument 's' to be at least 0, got -1"),
        ((3,), "expected 2 fields of argument 's', got 1"),
    ):
        with pytest.raises(ValueError) as failure:
            main(X, shape)
        assert str(failure.value) == message
    with pytest.raises(TypeError, match="expected argument 's' to be a tuple, got int"):
        main(X, 3)
    with pytest.raises(
        TypeError, match="expected dim 0 of argument 's' to be an integer, got float"
    ):
        main(X, (3.0, 9))


def test_casts_of_shapes_and_numbers(build):
    main = build("""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(ndim=2), p: R.Prim("int64")):
        n = T.int64()
        k = T.int64()
        m = T.int64()
        y = R.match_cast(s, R.Shape([n, k]))
        q = R.match_cast(p, R.Prim(value=m))
        r = R.shape([k, n])
        return r
""")
    assert main(X, (2, 5), 3) == (5, 2)
    with pytest.raises(
        ValueError, match=r"match_cast of 's' to \(n, k\) in 'main': expected dim 0"
    ):
        main(X, (1, 5), 3)
    with pytest.raises(ValueError, match="match_cast of 'p' to m in 'main': expected the number"):
        main(X, (2, 5), 4)


def test_a_number_chooses(build):
    main = build("""
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Prim("bool")):
        if c:
            r = R.add(x, x)
        else:
            r = x
        return r
""")
    np.testing.assert_allclose(main(X[0], True).numpy(), 2 * X[0])
    np.testing.assert_allclose(main(X[0], c=False).numpy(), X[0])
    with pytest.raises(ValueError, match="expected argument 'c' to be a bool, got 3"):
        main(X[0], 3)


def test_nested_tuples(build):
    main = build("""
    @R.function
    def main(t: R.Tuple(R.Tensor(("n",), "float32"), R.Tuple(R.Tensor(("n",), "float32"),
        R.Shape(["k", 3]))), p: R.Prim(value="q")):
        a = t[0]
        u = t[1]
        b = u[0]
        s = u[1]
        c = R.add(a, b)
        return (c, (a, s), p, ())
""")
    c, (a, s), p, empty = main((X[0], (X[1], (5, 3))), 7)
    assert (s, p, empty) == ((5, 3), 7, ())
    np.testing.assert_allclose(c.numpy(), X[0] + X[1])
    np.testing.assert_allclose(a.numpy(), X[0])
    with pytest.raises(ValueError, match=r"expected dim 1 of argument 't.1.1' to be 3, got 4"):
        main((X[0], (X[1], (5, 4))), 7)
    with pytest.raises(
        ValueError,
        match=r"expected symbol 'n' to be 3 as in argument 't.0', got 2 in argument 't.1.0'",
    ):
        main((X[0], (X[1][:2], (5, 3))), 7)
    strided = np.repeat(X[1], 2)[::2]
    np.testing.assert_allclose(main((X[0], (strided, (5, 3))), 7)[0].numpy(), X[0] + X[1])


def test_an_empty_tuple(build):
    assert (
        build("""
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        return R.tuple()
""")(X[0])
        == ()
    )


UNKNOWN = """
    @R.function
    def main(x: R.Tensor, s: R.Object):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.match_cast(x, R.Tensor((n, m), "float32"))
            t = R.match_cast(s, R.Shape([m]))
            R.output(y)
        z = R.call_pure_packed("test.transposed", y, sinfo_args=R.Tensor)
        w = R.match_cast(z, R.Tensor((m, n), "float32"))
        return R.add(w, w), R.shape([n, m + 1])
"""


def test_casts_of_parameters_and_results_of_unknown_shape(build):
    xrelax.register_func("test.transposed", lambda x: xrelax.nd.array(x.numpy().T), override=True)
    main = build(UNKNOWN)
    result, shape = main(X, (3,))
    np.testing.assert_array_equal(result.numpy(), 2 * X.T)
    assert shape == (2, 4)
    with pytest.raises(ValueError, match=r"expected argument 'x' to have shape \(x_0, x_1\)"):
        main(X[0], (3,))
    with pytest.raises(ValueError, match="in 'main': expected dim 0 to be 3, got 4"):
        main(X, (4,))
    with pytest.raises(TypeError, match="expected argument 'x' to have dtype float32"):
        main(X.astype("int32"), (3,))


RETURNED = """
    @R.function
    def head(x: R.Tensor(("n",), "float32")) -> R.Object:
        return R.call_pure_packed("test.head", x, sinfo_args=R.Tensor(ndim=1, dtype="float32"))

    @R.function(pure=False)
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        y = M.head(R.sum(x, axis=0))
        z = R.call_packed("test.head", x, sinfo_args=R.Tensor)
        return (y, z), R.shape([n]), y
"""


def test_results_of_unknown_shape(build):
    xrelax.register_func("test.head", lambda x: xrelax.nd.array(x.numpy()[:1]), override=True)
    executable = build(RETURNED)
    (first, second), shape, again = executable(X)
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([3], [[0, 1, 2]])
    assert shape == (2,) and again.numpy().tolist() == [3]
    xrelax.register_func("test.head", lambda x: xrelax.nd.array(x.numpy() > 0), override=True)
    with pytest.raises(ValueError, match=r"^expected a result of dtype float32, got bool$"):
        executable(X)
    xrelax.register_func("test.head", lambda x: xrelax.nd.array(X), override=True)
    with pytest.raises(ValueError, match=r"^expected a result of rank 1, got shape \(2, 3\)$"):
        executable(X)
    xrelax.register_func("test.head", lambda x: None, override=True)
    with pytest.raises(TypeError, match=r"^expected 'test.head' to return a tensor, got NoneType$"):
        executable(X)


FOR_EFFECTS = """
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), log: R.Callable([R.Tensor((2, 3), "float32")], R.Tuple([]))
    ):
        y = R.add(x, x)
        _ = log(y)
        z = R.call_pure_packed("test.log", y, sinfo_args=R.Tensor(ndim=2, dtype="float32"))
        w = R.call_pure_packed("test.log", y, sinfo_args=R.Tensor(ndim=2, dtype="float32"))
        with R.dataflow():
            v = R.call_pure_packed("test.log", y, sinfo_args=R.Tensor(ndim=2, dtype="float32"))
            R.output()
        return x
"""


def test_calls_for_effects(build):
    """Functions are called in order even if they are pure by default, and return nothing."""
    logged = []
    xrelax.register_func("test.log", lambda x: logged.append(x.numpy()), override=True)
    main = build(FOR_EFFECTS, check=False)
    main(X, lambda x: logged.append(-x.numpy()))
    np.testing.assert_array_equal(logged, [-2 * X, 2 * X, 2 * X])


BY_OTHERS = """
    @T.prim_func
    def kernel(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
        T.evaluate(T.call_packed("test.log", x))
        for i, j in T.grid(2, 3):
            with T.sblock("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj]

    @R.function(private=True)
    def inner(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.call_pure_packed("test.log", x, sinfo_args=R.Tensor((2, 3), "float32"))
        return y

    @R.function(private=True)
    def outer(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = M
        return cls.inner(R.negative(x))

    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = M
        @R.function
        def local(z: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            return cls.inner(z)

        a = cls.outer(x)
        b = R.call_tir(cls.kernel, (x,), R.Tensor((2, 3), "float32"))
        c = local(x)
        with R.dataflow():
            d = cls.outer(x)
            R.output()
        return x
"""


def test_calls_for_effects_of_functions_of_the_module(build):
    """Functions of the module that call registered functions are called too."""
    logged = []

    def log(x):
        logged.append(x.numpy().copy())
        return x

    xrelax.register_func("test.log", log, override=True)
    build(BY_OTHERS, check=False)(X)
    np.testing.assert_array_equal(logged, [-X, X, X])

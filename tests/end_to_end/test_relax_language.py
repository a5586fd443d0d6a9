"""The Relax language end to end: control flow, recursion, casts, shapes, local functions, effects.

Each program goes through TVMScript and back, is compiled with every pass checked against the
reference evaluator, and its machine code is compared with NumPy.
"""

import gc
from itertools import product

import numpy as np
import pytest

import xrelax as tvm
from xrelax.ir.structural_equal import assert_structural_equal
from xrelax.script import ScriptError, from_source

IMPORTS = "from xrelax.script import ir as I, relax as R, tir as T\n"
POSITIVE = """
    @T.prim_func(private=True)
    def positive(a: T.Buffer((), "float32"), c: T.Buffer((), "bool")):
        with T.sblock("positive"):
            c[()] = a[()] > T.float32(0.5)
"""
X = np.arange(6, dtype="float32").reshape(2, 3)


def module(body):
    """The module of these functions, which its own script gives again."""
    parsed = from_source(f"{IMPORTS}@I.ir_module\nclass M:\n{body}")
    assert_structural_equal(from_source(parsed.script()).op, parsed.op)
    return parsed


@pytest.fixture
def build():
    """Compile functions with every pass checked."""

    def build(body, check=True):
        return tvm.build(module(body), check=check)["main"]

    return build


@pytest.fixture
def names():
    """Names to register functions under, which are free again afterwards."""
    from xrelax.runtime.registry import registered_functions

    before = dict(registered_functions())
    yield
    for name in set(registered_functions()) - set(before):
        tvm.register_func(name, lambda *_: None, override=True)


def test_nested_choices(build):
    main = build("""
    @R.function
    def main(c: R.Tensor((), "bool"), d: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        if c:
            if d:
                r = R.add(x, x)
            else:
                with R.dataflow():
                    t = R.multiply(x, x)
                    r = R.nn.relu(t)
                    R.output(r)
        else:
            if d:
                q = x
                r = q
            else:
                y = R.add(x, x)
                z = R.multiply(y, x)
                r = R.add(z, y)
        s = R.add(r, x)
        return s
""")
    expected = {(1, 1): 3 * X, (1, 0): X * X + X, (0, 1): 2 * X, (0, 0): 2 * X * X + 3 * X}
    for c, d in product((True, False), repeat=2):
        np.testing.assert_allclose(main(np.array(c), np.array(d), X).numpy(), expected[c, d])


def test_a_choice_of_tuples_with_repeats_and_parameters(build):
    main = build("""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",),
        "float32")):
        if c:
            r = (R.add(x, y), x)
        else:
            z = R.multiply(x, y)
            r = (z, z)
        return r
""")
    for c, wanted in ((True, (X[0] + X[1], X[0])), (False, (X[0] * X[1],) * 2)):
        found = main(np.array(c), X[0], X[1])
        for got, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got.numpy(), expected)


def test_both_branches_return(build):
    main = build("""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
        y = R.add(x, x)
        if c:
            return y
        else:
            return R.add(y, x)
""")
    np.testing.assert_allclose(main(np.array(True), X[0]).numpy(), 2 * X[0])
    np.testing.assert_allclose(main(np.array(False), X[0]).numpy(), 3 * X[0])


def test_only_the_chosen_branch_runs(names):
    calls = []
    tvm.register_func("tests.left", lambda x, y: calls.append("left"), override=True)
    tvm.register_func("tests.right", lambda x, y: calls.append("right"), override=True)
    main = tvm.build(
        module("""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")):
        if c:
            r = R.call_dps_packed("tests.left", x, out_sinfo=R.Tensor((3,), "float32"))
        else:
            r = R.call_dps_packed("tests.right", x, out_sinfo=R.Tensor((3,), "float32"))
        return r
""")
    )["main"]
    for c in (True, False, True):
        main(np.array(c), X[0])
    assert calls == ["left", "right", "left"]


def test_branches_share_scratch_memory(names):
    tvm.register_func("tests.f", lambda x, y: y.copyfrom(x), override=True)
    built = tvm.build(
        module("""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((16,), "float32")):
        if c:
            a = R.call_dps_packed("tests.f", x, out_sinfo=R.Tensor((16,), "float32"))
            r = R.call_dps_packed("tests.f", a, out_sinfo=R.Tensor((16,), "float32"))
        else:
            b = R.call_dps_packed("tests.f", x, out_sinfo=R.Tensor((16,), "float32"))
            r = R.call_dps_packed("tests.f", b, out_sinfo=R.Tensor((16,), "float32"))
        return r
""")
    )
    assert built.functions["main"].arena_size == 64


WRONG_CHOICES = {
    "expected an 'else' branch": "if c:\n            r = x\n        return r",
    "got 'r' and 's'": (
        "if c:\n            r = x\n        else:\n            s = x\n        return x"
    ),
    "got 'return' and 'r'": "if c:\n            return x\n        else:\n            r = x",
    "expected a branch to end by binding a variable": (
        "if c:\n            pass\n        else:\n            r = x\n        return x"
    ),
    "expected branches of one type": (
        "if c:\n            r = x\n        else:\n            r = (x, x)\n        return x"
    ),
    "expected a condition of type": (
        "if x:\n            r = x\n        else:\n            r = x\n        return x"
    ),
    "expected a dataflow block without 'if'": (
        "with R.dataflow():\n            if c:\n                r = x\n            else:\n"
        "                r = x\n            R.output(r)\n        return r"
    ),
    "expected nothing after 'return'": (
        "if c:\n            return x\n        else:\n            return x\n        return x"
    ),
    "name 'y' is not defined": (
        "if c:\n            y = x\n            r = y\n        else:\n            r = x\n"
        "        return y"
    ),
}


@pytest.mark.parametrize("message", WRONG_CHOICES)
def test_choices_that_are_wrong(message):
    with pytest.raises(ScriptError) as failure:
        module(f"""
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
        {WRONG_CHOICES[message]}
""")
    assert message in failure.value.message


COUNTDOWN = (
    POSITIVE
    + """
    @R.function
    def main(n: R.Tensor((), "float32"), x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",),
        "float32"):
        cls = M
        c = R.call_tir(cls.positive, (n,), out_sinfo=R.Tensor((), "bool"))
        if c:
            m = R.subtract(n, R.const(1, "float32"))
            t = R.multiply(x, x)
            s = cls.main(m, x)
            r = R.add(s, t)
        else:
            r = x
        return r
"""
)


@pytest.mark.parametrize("depth", (0, 1, 7, 900))
def test_recursion(build, depth):
    main = build(COUNTDOWN)
    found = main(np.float32(depth), X[1]).numpy()
    np.testing.assert_allclose(found, X[1] + depth * X[1] ** 2, rtol=1e-4)


def test_recursion_that_is_too_deep_is_an_error_and_does_no_harm(build):
    main = build(COUNTDOWN)
    for _ in range(3):
        with pytest.raises(ValueError, match="to be nested at most 1000 deep") as failure:
            main(np.float32(5000), X[1])
        assert "\n" not in str(failure.value)
        np.testing.assert_allclose(main(np.float32(2), X[1]).numpy(), X[1] + 2 * X[1] ** 2)


def test_functions_that_call_each_other(build):
    main = build(
        POSITIVE
        + """
    @R.function
    def main(n: R.Tensor((), "float32")) -> R.Tensor((), "bool"):
        cls = M
        c = R.call_tir(cls.positive, (n,), out_sinfo=R.Tensor((), "bool"))
        if c:
            r = cls.odd(R.subtract(n, R.const(1, "float32")))
        else:
            r = R.const(True, "bool")
        return r
    @R.function(private=True)
    def odd(n: R.Tensor((), "float32")) -> R.Tensor((), "bool"):
        cls = M
        c = R.call_tir(cls.positive, (n,), out_sinfo=R.Tensor((), "bool"))
        if c:
            r = cls.main(R.subtract(n, R.const(1, "float32")))
        else:
            r = R.const(False, "bool")
        return r
"""
    )
    assert [bool(main(np.float32(n)).numpy()) for n in range(5)] == [True, False] * 2 + [True]


def test_memory_of_nested_calls_that_a_callback_keeps(names):
    kept = []

    def keep(x, y):
        kept.append(x)
        y.copyfrom(x)

    tvm.register_func("tests.keep", keep, override=True)
    body = COUNTDOWN.replace(
        "t = R.multiply(x, x)",
        "u = R.multiply(x, n)\n            "
        't = R.call_dps_packed("tests.keep", u, out_sinfo=R.Tensor((k,), "float32"))',
    ).replace("cls = M", "k = T.int64()\n        cls = M")
    main = tvm.build(module(body))["main"]
    found = main(np.float32(3), X[1]).numpy()
    np.testing.assert_allclose(found, X[1] * 7)
    gc.collect()
    before = [x.numpy().copy() for x in kept]
    assert len({x.address for x in kept}) == 3
    main(np.float32(3), X[1] * 100)
    for x, content in zip(kept, before, strict=False):
        np.testing.assert_array_equal(x.numpy(), content)


def test_an_exception_leaves_all_nested_calls(names):
    def fail(x, y):
        raise KeyError("deep")

    tvm.register_func("tests.fail", fail, override=True)
    body = COUNTDOWN.replace(
        "r = x\n",
        "k = T.int64()\n            "
        'r = R.call_dps_packed("tests.fail", x, out_sinfo=R.Tensor((k,), "float32"))\n',
    )
    main = tvm.build(module(body))["main"]
    for _ in range(3):
        with pytest.raises(KeyError, match="deep"):
            main(np.float32(20), X[1])


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
        ((4, 9), "symbol 'm' is 3 by argument 'x' but 4 by dim 0 of argument 's'"),
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
    with pytest.raises(ValueError, match=r"'n' is 3 by argument 't.0' but 2 by argument 't.1.0'"):
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


def test_local_functions(build):
    main = build("""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n", "m"), "float32"),
        c: R.Tensor((), "bool")):
        n = T.int64()
        m = T.int64()
        @R.function
        def inner(a: R.Tensor((n, m), "float32")) -> R.Tensor((n, m), "float32"):
            b = R.add(a, y)
            return b
        @R.function
        def outer(a: R.Tensor(("k", "l"), "float32")):
            @R.function
            def twice(q: R.Tensor(("k", "l"), "float32")) -> R.Tensor(("k", "l"), "float32"):
                z = R.add(q, a)
                return z
            s = twice(a)
            t = R.shape([n, m])
            return (s, t)
        z = inner(x)
        w = outer(z)
        if c:
            r = inner(z)
        else:
            r = w[0]
        return (r, w[1])
""")
    for c, factor in ((True, 3), (False, 4)):
        found, shape = main(X, X, np.array(c))
        assert shape == (2, 3)
        np.testing.assert_allclose(found.numpy(), factor * X)


def test_print_and_assert(build, capsys):
    main = build(
        """
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        y = R.add(x, x)
        R.print(y, c, format="y = {}, c = {}")
        _ = R.print(x)
        R.assert_op(c, y, format="y is {}")
        R.assert_op(c)
        return y
""",
        check=False,
    )
    x = np.array([1, 2], "float32")
    np.testing.assert_allclose(main(x, np.array(True)).numpy(), [2, 4])
    assert capsys.readouterr().out == "y = [2. 4.], c = True\n[1. 2.]\n"
    with pytest.raises(AssertionError, match=r"^y is \[2. 4.\]$"):
        main(x, np.array(False))


def test_a_checked_build_prints_nothing(build, capsys):
    build("""
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        R.print(x)
        return x
""")
    assert capsys.readouterr().out == ""


def test_an_assertion_without_a_text():
    main = tvm.build(
        module("""
    @R.function(pure=False)
    def main(x: R.Tensor((), "bool")):
        R.assert_op(x)
        return x
""")
    )["main"]
    with pytest.raises(AssertionError, match=r"^assertion failed$"):
        main(np.array(False))


def test_results_of_python_functions(build, names):
    tvm.register_func("tests.double", lambda x: x.numpy() * 2, override=True)
    tvm.register_func("tests.pair", lambda x: (x, x.numpy() + 1), override=True)
    main = build("""
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.call_pure_packed("tests.double", x, sinfo_args=(R.Tensor((n,), "float32"),))
            z = R.add(y, x)
            R.output(z)
        w = R.call_packed("tests.double", z, sinfo_args=R.Tensor((n,), "float32"))
        t = R.call_pure_packed("tests.pair", w, sinfo_args=R.Tuple(R.Tensor((n,), "float32"),
            R.Tensor((n,), "float32")))
        a = t[0]
        b = t[1]
        return R.add(a, b)
""")
    np.testing.assert_allclose(main(X[1]).numpy(), 12 * X[1] + 1)


@pytest.mark.parametrize(
    "function, error, message",
    (
        (lambda x: None, TypeError, "expected 'tests.bad' to return a tensor, got NoneType"),
        (
            lambda x: np.zeros(2, "float32"),
            ValueError,
            "expected 'tests.bad' to return float32 of shape (3,), got float32 of shape (2,)",
        ),
        (
            lambda x: np.zeros(3, "int32"),
            ValueError,
            "expected 'tests.bad' to return float32 of shape (3,), got int32 of shape (3,)",
        ),
        (lambda x: (x, x), ValueError, "expected 'tests.bad' to return 1 tensors, got 2"),
    ),
)
def test_results_that_do_not_fit(names, function, error, message):
    tvm.register_func("tests.bad", function, override=True)
    main = tvm.build(
        module("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_pure_packed("tests.bad", x, sinfo_args=R.Tensor((3,), "float32"))
        return y
""")
    )["main"]
    with pytest.raises(error) as failure:
        main(X[0])
    assert str(failure.value) == message


def test_calls_in_place(build, names):
    tvm.register_func("tests.copy", lambda x, y: y.copyfrom(x), override=True)
    main = build("""
    @T.prim_func(private=True)
    def twice(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            with T.sblock("twice"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] * T.float32(2)
    @T.prim_func(private=True)
    def both(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("both"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v]
                B[v] = B[v] + T.float32(1)
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = M
        a = R.call_dps_packed("tests.copy", x, out_sinfo=R.Tensor((n,), "float32"))
        b = R.call_tir_inplace(cls.twice, (a,), inplace_indices=[0], out_sinfo=R.Tensor((n,),
            "float32"))
        c = R.call_tir_inplace(cls.both, (x, b), inplace_indices=[1, -1],
            out_sinfo=[R.Tensor((n,), "float32"), R.Tensor((n,), "float32")])
        d = R.call_tir_inplace(cls.twice, (w,), inplace_indices=[0], out_sinfo=R.Tensor((n,),
            "float32"))
        e = c[0]
        g = c[1]
        return (e, g, d)
""")
    x, w = X.copy()
    found = [t.numpy() for t in main(x, w)]
    for got, wanted in zip(found, (2 * X[0] + 1, 3 * X[0], 2 * X[1]), strict=True):
        np.testing.assert_allclose(got, wanted)
    np.testing.assert_array_equal(w, X[1])


def test_intermediate_dims_that_are_negative(names):
    seen = []
    tvm.register_func("tests.cut", lambda x, y: seen.append(y.shape), override=True)
    main = tvm.build(
        module("""
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_dps_packed("tests.cut", x, out_sinfo=R.Tensor((n - 3,), "float32"))
        z = R.call_dps_packed("tests.cut", y, out_sinfo=R.Tensor((1,), "float32"))
        return z
""")
    )["main"]
    main(X.reshape(6))
    assert seen == [(3,), (1,)]
    message = "expected dim n - 3 of 'y' in 'main' to be at least 0, got -1"
    with pytest.raises(ValueError, match=message):
        main(X[0][:2])
    assert len(seen) == 2


def test_names_beyond_ascii_and_of_the_expression_syntax(build):
    main = build("""
    @R.function
    def main(é: R.Tensor(("변수", "min"), "float32"), self: R.Tensor(("min",), "float32")):
        with R.dataflow():
            张量 = R.add(é, self)
            结果 = R.add(张量, é)
            R.output(结果)
        return 结果
""")
    np.testing.assert_allclose(main(self=X[0], é=X).numpy(), 2 * X + X[0])
    with pytest.raises(ValueError, match="symbol 'min' is 3 by argument 'é' but 2 by"):
        main(X, X[0][:2])


def test_an_impure_function_says_so():
    with pytest.raises(ScriptError, match="expected 'main' to be declared impure, as it has"):
        module("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        R.print(x)
        return x
""")


@pytest.mark.parametrize("text", ("{} {}", "{", "{1}", "{x}"))
def test_formats_that_do_not_fit(text):
    with pytest.raises(ScriptError, match="expected a format of"):
        module(f'''
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        R.print(x, format="{text}")
        return x
''')

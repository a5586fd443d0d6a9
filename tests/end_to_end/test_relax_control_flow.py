"""Choices and recursion of the Relax language end to end.

Each program goes through TVMScript and back, is compiled with every pass checked against the
reference evaluator, and its machine code is compared with NumPy.
"""

import gc
from itertools import product

import numpy as np
import pytest

import xrelax as tvm
from xrelax.script import ScriptError

POSITIVE = """
    @T.prim_func(private=True)
    def positive(a: T.Buffer((), "float32"), c: T.Buffer((), "bool")):
        with T.sblock("positive"):
            c[()] = a[()] > T.float32(0.5)
"""
X = np.arange(6, dtype="float32").reshape(2, 3)


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


def test_only_the_chosen_branch_runs(module, names):
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


def test_branches_share_scratch_memory(module, names):
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
def test_choices_that_are_wrong(module, message):
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


def test_memory_of_nested_calls_that_a_callback_keeps(module, names):
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


def test_an_exception_leaves_all_nested_calls(module, names):
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

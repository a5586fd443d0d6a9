"""Local functions, effects and names of the Relax language end to end.

Each program goes through TVMScript and back, is compiled with every pass checked against the
reference evaluator, and its machine code is compared with NumPy.
"""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.dialects import get_context
from xrelax.script import ScriptError, from_source
from xrelax.tools.located_parser import parse_ir

X = np.arange(6, dtype="float32").reshape(2, 3)


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


def test_tuples_are_printed(build, capsys):
    main = build(
        """
    @R.function(pure=False)
    def main(x: R.Tensor((), "int32"), c: R.Tensor((), "bool")):
        t = (x, (c,))
        R.print(x, t)
        R.print(t, x, format="{{t}} = {}, x = {:>3}")
        R.assert_op(c, [x, t])
        return x
""",
        check=False,
    )
    with pytest.raises(AssertionError, match=r"^Assertion Failed: 1, \(1, \(False,\)\)$"):
        main(np.array(1, "int32"), np.array(False))
    assert capsys.readouterr().out == "1 (1, (False,))\n{t} = (1, (False,)), x =   1\n"


def test_a_checked_build_prints_nothing(build, capsys):
    build("""
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        R.print(x)
        return x
""")
    assert capsys.readouterr().out == ""


def test_an_assertion_without_a_text(module):
    main = tvm.build(
        module("""
    @R.function(pure=False)
    def main(x: R.Tensor((), "bool")):
        R.assert_op(x)
        return x
""")
    )["main"]
    with pytest.raises(AssertionError, match=r"^Assertion Failed$"):
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
def test_results_that_do_not_fit(module, names, function, error, message):
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


def test_intermediate_dims_that_are_negative(module, names):
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
    with pytest.raises(ValueError, match="symbol 'min' to be 3 as in argument 'é', got 2 in"):
        main(X, X[0][:2])


@pytest.mark.parametrize("name", ["é", "韓", "数", "min", "arg"])
def test_names_in_the_text_of_every_stage(name, capsys):
    """Of functions, blocks, handles, buffers, axes, symbols and values, and in formats."""
    tvm.register_func(f"{name}.copy", lambda x: x, override=True)
    module = from_source(
        """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def NAMEk(NAME: T.handle, y: T.handle):
        NAMEn = T.int64()
        NAMEa = T.match_buffer(NAME, (NAMEn,), "float32")
        b = T.match_buffer(y, (NAMEn,), "float32")
        for NAMEi in range(NAMEn):
            with T.block("NAMEb"):
                NAMEv = T.axis.spatial(NAMEn, NAMEi)
                b[NAMEv] = NAMEa[NAMEv]

    @R.function(pure=False)
    def main(NAME: R.Tensor(("NAMEn",), "float32")):
        NAMEn = T.int64()
        _ = R.print(NAME, format="NAME \\"{}\\"")
        p = R.call_pure_packed("NAME.copy", NAME, sinfo_args=R.Tensor((NAMEn,), "float32"))
        with R.dataflow():
            NAMEl = R.call_tir(Module.NAMEk, (p,), out_sinfo=R.Tensor((NAMEn,), "float32"))
            NAMEg = R.add(NAMEl, NAMEl)
            R.output(NAMEg)
        return NAMEg
""".replace("NAME", name)
    )
    for stage, text in tvm.stages(module):
        assert str(parse_ir(get_context(), text)) == text, stage
    assert from_source(module.script()).script() == module.script()
    found = tvm.relax.build(module, check=True)["main"](**{name: X[0]}).numpy()
    np.testing.assert_array_equal(found, 2 * X[0])
    assert f'{name} "' in capsys.readouterr().out


def test_an_impure_function_says_so(module):
    with pytest.raises(ScriptError, match="expected 'main' to be declared impure, as it has"):
        module("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        R.print(x)
        return x
""")


@pytest.mark.parametrize("text", ("{} {}", "{", "{1}", "{x}"))
def test_formats_that_do_not_fit(module, text):
    with pytest.raises(ScriptError, match="expected a format of"):
        module(f'''
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        R.print(x, format="{text}")
        return x
''')

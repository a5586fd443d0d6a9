"""Function values: closures, functions that return functions, and functions as arguments."""

import numpy as np
import pytest

from xrelax.ir.equality import assert_structural_equal
from xrelax.script import ScriptError

X, Y = np.random.default_rng(0).standard_normal((2, 5)).astype("float32")
SUB = """
    @R.function
    def sub(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
        return R.subtract(a, b)
"""
CLOSURES = {
    "the last argument": SUB
    + """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        cls = M
        f = R.make_closure(cls.sub, (y,))
        return R.invoke_pure_closure(f, (x,), sinfo_args=R.Tensor(("n",), "float32"))
""",
    "all arguments": SUB
    + """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        cls = M
        f = R.make_closure(cls.sub, (x, y))
        return R.invoke_closure(f, (), ty_args=(R.Tensor(ndim=1, dtype="float32"),))
""",
    "a function that returns one": """
    @R.function
    def less(y: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def inner(x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.subtract(x, y)
        return inner
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        cls = M
        f = cls.less(y)
        return f(x)
""",
    "a local function that returns one": """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def less(b: R.Tensor((n,), "float32")) -> R.Callable(
            (R.Tensor((n,), "float32"),), R.Tensor((n,), "float32")
        ):
            @R.function
            def inner(a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
                return R.subtract(a, b)
            return inner
        f = less(y)
        return f(x)
""",
    "a function that takes one": """
    @R.function(private=True)
    def twice(
        f: R.Callable((R.Tensor((5,), "float32"),), R.Tensor((5,), "float32")),
        x: R.Tensor((5,), "float32"),
    ):
        return R.divide(R.add(f(x), f(x)), R.const(2, "float32"))
    @R.function
    def main(x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")):
        cls = M
        @R.function
        def less(a: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
            return R.subtract(a, y)
        return cls.twice(less, x)
""",
}


@pytest.mark.parametrize("name", CLOSURES)
def test_calls_of_closures(build, name):
    np.testing.assert_allclose(build(CLOSURES[name])(X, Y).numpy(), X - Y, rtol=1e-6)


def test_symbols_of_closures_are_their_own(module):
    """The open argument has dims of its own, although the function has symbols of that name."""
    mod = module("""
    @R.function
    def outer(a: R.Tensor(("n",), "float32"), b: R.Tensor(("m",), "float32")):
        n, m = T.int64(), T.int64()
        return R.add(R.reshape(a, (n, 1)), R.reshape(b, (1, m)))
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("k",), "float32")):
        cls = M
        f = R.make_closure(cls.outer, (x,))
        return f(y)
""")
    import xrelax as tvm

    found = tvm.build(mod, check=True)["main"](X, Y[:3]).numpy()
    np.testing.assert_allclose(found, Y[:3, None] + X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("R.make_closure(cls.f, (x,))", "expected a graph function of the module, got 'f'"),
        ("R.make_closure(cls.sub, (x, x, x))", "expected at most 2 arguments of 'sub', got 3"),
        ("R.make_closure(cls.sub)", "expected arguments func, args, got 1"),
    ],
)
def test_wrong_closures(module, call, message):
    with pytest.raises(ScriptError) as error:
        module(
            SUB
            + f"""
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        cls = M
        f = {call}
        return x
"""
        )
    assert message in error.value.message


def test_numbers_as_arguments_of_kernels(build, module):
    body = """
    @T.prim_func
    def scale(x: T.handle, s: T.float32, k: T.int64, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * s + T.Cast("float32", k)
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = M
        return R.call_tir(cls.scale, (x, ARGS), out_sinfo=R.Tensor((n,), "float32"))
"""
    found = build(body.replace("ARGS", "-0.5, 3"))(X).numpy()
    np.testing.assert_allclose(found, X * np.float32(-0.5) + 3, rtol=1e-6)
    typed = body.replace("ARGS", "T.float32(-0.5), 3")
    assert_structural_equal(module(body.replace("ARGS", "-0.5, 3")).op, module(typed).op)

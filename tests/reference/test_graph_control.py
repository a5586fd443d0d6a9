"""The reference evaluator on control flow of graphs: branches, casts, recursion, effects."""

import numpy as np
import pytest

from xrelax.inspection import lower_to
from xrelax.reference import EvaluationError
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

IMPORTS = "from xrelax.script import ir as I, relax as R, tir as T\n"
X = np.arange(3, dtype="float32")


def module(body):
    return from_source(f"{IMPORTS}@I.ir_module\nclass M:\n{body}").op


FOREVER = module("""
    @R.function
    def main(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        cls = M
        y = cls.main(R.add(x, x))
        return y
""")

SHAPES = module("""
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), s: R.Shape(["k"]), p: R.Prim(value="q")):
        n = T.int64()
        k = T.int64()
        q = T.int64()
        y = R.match_cast(x, R.Tensor((n,), "float32"))
        a = R.shape([n, k])
        b = R.prim_value(q + n)
        return (y, (a, b))
""")

PRINT = module("""
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")):
        R.print(x, format="x = {}")
        R.assert_op(c, format="no")
        return x
""")


@pytest.mark.parametrize("stage", ("relax", "rt"))
def test_unbounded_recursion_is_an_error(stage):
    with pytest.raises(EvaluationError, match="to be nested at most 1000 deep"):
        evaluate(lower_to(FOREVER, stage), "main", [X])


@pytest.mark.parametrize("stage", ("relax", "rt"))
def test_shapes_and_numbers(stage):
    y, a, b = evaluate(lower_to(SHAPES, stage), "main", [X, (5,), 4])
    np.testing.assert_array_equal(y, X)
    np.testing.assert_array_equal(a, [3, 5])
    assert b == 7 and b.shape == ()


@pytest.mark.parametrize("stage", ("relax", "rt"))
def test_print_and_assert(stage, capsys):
    lowered = lower_to(PRINT, stage)
    evaluate(lowered, "main", [X, np.array(True)])
    assert capsys.readouterr().out == "x = [0. 1. 2.]\n"
    with pytest.raises(EvaluationError, match=r"^in 'main': no$"):
        evaluate(lowered, "main", [X, np.array(False)])


def test_a_cast_that_fails():
    cast = module("""
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        y = R.match_cast(x, R.Tensor((4,), "float32"))
        return y
""")
    with pytest.raises(EvaluationError, match="match_cast: expected argument 'x' to have shape"):
        evaluate(cast, "main", [X])
    with pytest.raises(EvaluationError, match=r"match_cast of 'x' to \(4,\) in 'main'"):
        evaluate(lower_to(cast, "rt"), "main", [X])


LOOPS = module("""
    @R.function(private=True)
    def step(i: R.Prim(value="i"), c: R.Tensor((), "bool"), h: R.Tensor((3,), "float32"),
             g: R.Tensor((3,), "float32")):
        i = T.int64()
        a = R.add(h, g)
        return (R.less(R.max(a), R.const(9.0, "float32")), a)

    @R.function(private=True)
    def scan(i: R.Prim(value="i"), h: R.Tensor((3,), "float32"), x: R.Tensor((), "float32")):
        i = T.int64()
        a = R.multiply(h, x)
        return (a, R.negative(a))

    @R.function
    def main(h: R.Tensor((3,), "float32"), x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        r = R.loop(cls.scan, (h,), scanned=(x,))
        s = R.loop(cls.step, (c, h), given=(h,), trips=n, is_while=True)
        return (r[0], r[1], s[1])
""")


@pytest.mark.parametrize("stage", ("relax", "tir", "rt", "loops"))
@pytest.mark.parametrize("trips", [0, 1, 2, 3, 8])
def test_loops(stage, trips):
    """Of an odd and an even number of iterations, and until a condition is false."""
    numbers = np.arange(1, trips + 1, dtype="float32")
    last, stack, total = evaluate(lower_to(LOOPS, stage), "main", [X, numbers, np.array(True)])
    products = X * np.cumprod(numbers)[:, None]
    np.testing.assert_array_equal(stack, -products)
    np.testing.assert_array_equal(last, products[-1] if trips else X)
    np.testing.assert_array_equal(total, X * (min(trips, 4) + 1))

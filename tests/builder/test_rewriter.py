"""Rewrite rules that two functions define."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.ir import assert_structural_equal
from xrelax.script import from_source
from xrelax.script import relax as R
from xrelax.script import tir as T


@R.rewriter
class Doubling:
    @R.function
    def pattern(a: R.Tensor(("n",), "float32")):
        b = R.add(a, a)
        return b

    @R.function
    def replacement(a: R.Tensor(("n",), "float32")):
        b = Doubling.double(a)
        return b

    @R.function(private=True)
    def double(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.multiply(a, R.const(2.0, "float32"))


@R.rewriter
class Square:
    @R.function
    def pattern(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
        with R.dataflow():
            c = R.multiply(R.exp(a), R.exp(b))
            R.output(c)
        return c

    @R.function
    def replacement(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
        return R.exp(R.add(a, b))


MODULE = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.multiply(R.exp(a), R.exp(y))
            R.output(b)
        return b
""")


def test_rules_are_passes():
    module = tvm.transform.Sequential([Doubling | Square])(MODULE)
    assert_structural_equal(
        module["main"],
        from_source("""
@I.ir_module
class Module:
    @R.function(private=True)
    def double(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.multiply(a, R.const(2.0, "float32"))

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = Module.double(x)
            b = R.exp(R.add(a, y))
            R.output(b)
        return b
""")["main"],
    )
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    result = relax.build(module)["main"](x, y).numpy()
    np.testing.assert_allclose(result, np.exp(2 * x + y), 1e-5)


def test_functions_are_rewritten_as_they_are():
    func = Square(MODULE["main"])
    assert "R.exp" in func.script() and "R.multiply" not in func.script()
    assert "R.multiply" in MODULE["main"].script()
    assert_structural_equal(Square(func), func)


def test_effects_are_not_crossed():
    func = from_source("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    a = R.exp(x)
    b = R.exp(y)
    R.print(a, format="{}")
    c = R.multiply(a, b)
    return c
""")
    assert "R.multiply" in Square(func).script()


def test_rules_without_end():
    @R.rewriter
    class Swap:
        @R.function
        def pattern(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
            return R.add(a, b)

        @R.function
        def replacement(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
            return R.add(b, a)

    with pytest.raises(Exception, match="expected rules that come to an end, got"):
        Swap(MODULE["main"])


@R.rewriter
class Halves:
    @R.function
    def pattern(x: R.Tensor((4,)), y: R.Tensor((4,)), z: R.Tensor((4,))):
        return R.add(x, y), R.add(y, z)

    @R.function
    def replacement(x: R.Tensor((4,)), y: R.Tensor((4,)), z: R.Tensor((4,))):
        return R.split(R.tile(y, (2,)), 2)


@pytest.mark.parametrize(
    "lines, is_rewritten",
    [
        ("d = R.add(a, b); e = R.add(b, c); f = R.subtract(d, e)", True),
        ("d = R.add(a, b); e = R.add(c, c); f = R.subtract(d, e)", False),
        ("d = R.add(a, b); g = R.exp(d); e = R.add(b, g); f = R.subtract(d, e)", False),
        ("d = R.add(a, b); e = R.add(b, c); f = d", False),
    ],
    ids=["together", "no shared operand", "used before", "one is not used"],
)
def test_tuples_match_values_that_are_computed_together(lines, is_rewritten):
    types = ", ".join(f'{p}: R.Tensor((4,), "float32")' for p in "abc")
    func = from_source(f"@R.function\ndef main({types}):\n    {lines}\n    return f\n")
    text = Halves(func).script()
    assert ("R.split" in text) == is_rewritten
    if is_rewritten:
        assert "R.subtract" in text and "R.add" not in text


def test_functions_of_several_rewriters_keep_apart():
    @R.rewriter
    class Negate:
        @R.function
        def pattern(a: R.Tensor((4,), "float32")):
            return R.exp(a)

        @R.function
        def replacement(a: R.Tensor((4,), "float32")):
            return Negate.double(a)

        @R.function(private=True)
        def double(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.negative(a)

    both = (Doubling | Negate)(MODULE)
    assert both["main"].script().count(" double(") == 1
    assert both["main"].script().count(" double_1(") == 2
    assert "R.negative" in both["double_1"].script()
    after = Negate(Doubling(MODULE))
    assert "R.negative" in after["double_1"].script()
    assert {v.name_hint for v in Doubling(after).functions} == {"main", "double", "double_1"}


def no_pattern():
    @R.rewriter
    class Rule:
        @R.function
        def replacement(a: R.Tensor((4,), "float32")):
            return a


def a_kernel():
    @R.rewriter
    class Rule:
        @T.prim_func
        def pattern(a: T.Buffer((4,), "float32")):
            for i in range(4):
                a[i] = T.float32(0)

        @R.function
        def replacement(a: R.Tensor((4,), "float32")):
            return a


def other_types():
    @R.rewriter
    class Rule:
        @R.function
        def pattern(a: R.Tensor((4,), "float32")):
            return R.exp(a)

        @R.function
        def replacement(a: R.Tensor((5,), "float32")):
            return R.exp(a)


def public():
    @R.rewriter
    class Rule:
        @R.function
        def pattern(a: R.Tensor((4,), "float32")):
            return R.exp(a)

        @R.function
        def replacement(a: R.Tensor((4,), "float32")):
            return R.exp(a)

        @R.function
        def other(a: R.Tensor((4,), "float32")):
            return R.exp(a)


def test_what_rewriters_refuse():
    for wrong, kind, message in (
        (no_pattern, KeyError, "expected a function 'pattern' of the rewriter"),
        (a_kernel, TypeError, "expected 'pattern' to be a graph function, got a PrimFunc"),
        (other_types, ValueError, "must have the same signature"),
        (public, ValueError, "'other' is publicly exposed"),
    ):
        with pytest.raises(kind, match=message):
            wrong()

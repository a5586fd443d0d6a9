"""Linked patterns: what they match in a block, and what rewriters make of it."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.relax.dpl import (
    PatternContext,
    has_dtype,
    is_const,
    is_dfv,
    is_op,
    is_var,
    rewrite_bindings,
    rewrite_call,
    wildcard,
)
from xrelax.script import relax as R


@R.function
def diamond(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.sin(a)
        c = R.cos(a)
        d = R.add(b, c)
        R.output(d)
    return d


BLOCK = diamond.body.blocks[0]


def operators(*names):
    return [is_op(f"relax.{name}") for name in names]


EXP, SIN, COS = (is_op(f"relax.{name}") for name in ("exp", "sin", "cos"))


def test_links_of_a_diamond():
    with PatternContext() as ctx:
        exp, sin, cos = EXP(wildcard()), SIN(wildcard()), COS(wildcard())
        add = is_op("relax.add")(wildcard(), wildcard())
        exp.fork_to(sin, cos)
        sin >> add
        cos.only_used_by(add, index=1)
        found = ctx.match_dfb(BLOCK)
    assert found is not None
    assert [found[p].name for p in (exp, sin, cos)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "link",
    [
        lambda exp, sin, cos: exp >> sin,
        lambda exp, sin, cos: sin ^ cos,
        lambda exp, sin, cos: exp.used_by(sin, index=1),
        lambda exp, sin, cos: sin ^ exp ^ cos,
        lambda exp, sin, cos: is_var("y") ^ exp,
        lambda exp, sin, cos: exp ^ EXP(wildcard()),
    ],
)
def test_links_that_do_not_hold(link):
    with PatternContext() as ctx:
        link(EXP(wildcard()), SIN(wildcard()), COS(wildcard()))
        assert ctx.match_dfb(BLOCK) is None


def test_sequences_are_linked_and_copied():
    with PatternContext() as ctx:
        first = is_var("x") ^ EXP(wildcard()) ^ SIN(wildcard())
        assert ctx.match_dfb(BLOCK) is not None
        first.dup()
        assert ctx.match_dfb(BLOCK) is None, "there is one exp"


def test_contexts_are_nested():
    exp, sin = EXP(wildcard()), SIN(wildcard())
    with PatternContext() as outer:
        exp >> sin
        with PatternContext() as inner:
            exp ^ sin
            assert PatternContext.current() is inner and inner.match_dfb(BLOCK)
        with PatternContext(incremental=True) as more:
            exp ^ sin
            assert more.match_dfb(BLOCK) is None
        assert PatternContext.current() is outer
    with pytest.raises(ValueError, match="expected links of patterns inside of"):
        exp >> sin


def test_variables_of_a_block():
    with PatternContext() as ctx:
        inside = is_dfv()
        inside ^ is_op("relax.add")(wildcard(), wildcard())
        assert ctx.match_dfb(BLOCK)[inside].name == "b"


@R.function
def projections(x: R.Tensor((2, 3), "float32"), v: R.Tensor((3, 4), "float32"),
                w: R.Tensor((3, 4), "float32")):  # fmt: skip
    with R.dataflow():
        a = R.matmul(x, v)
        b = R.matmul(x, w)
        c = R.add(a, b)
        R.output(c)
    return c


def combined(context, x, v, w, first, second):
    def rewriter(found, bindings):
        assert found[first] in bindings
        weights = R.concat([found[v], found[w]], axis=1)
        parts = R.split(R.matmul(found[x], weights), 2, axis=1)
        return {found[first]: parts[0], found[second]: parts[1]}

    return rewriter


def test_matmuls_are_combined():
    with PatternContext() as ctx:
        x, v, w = wildcard(), wildcard(), wildcard()
        first, second = is_op("relax.matmul")(x, v), is_op("relax.matmul")(x, w)
    new = rewrite_bindings(ctx, combined(ctx, x, v, w, first, second), projections)
    assert new.script().count("R.matmul") == 1 and "R.concat" in new.script()
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype("float32") for s in ((2, 3), (3, 4), (3, 4))]
    expected = arrays[0] @ arrays[1] + arrays[0] @ arrays[2]
    result = tvm.build(new)["projections"](*arrays)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_rewriters_without_an_end_or_order():
    with PatternContext() as ctx:
        exp = EXP(wildcard())
        add = is_op("relax.add")(wildcard(), wildcard())
        exp ^ SIN(wildcard())
    with pytest.raises(ValueError, match="expected at most 5 matches in a block"):
        rewrite_bindings(ctx, lambda found, _: {found[exp]: R.exp(found[exp])}, diamond)
    with pytest.raises(ValueError, match="'a' to be computed before its uses"):
        rewrite_bindings(ctx, lambda found, _: {found[exp]: R.exp(found[add])}, diamond)
    same = rewrite_bindings(ctx, lambda found, _: {}, diamond)
    tvm.ir.assert_structural_equal(same, diamond)


def test_patterns_of_types_and_of_shapes_as_operands():
    x = relax.Var("x", R.Tensor((4, 2), "float32"))
    y = R.reshape(x, (8,))
    assert is_op("relax.reshape")(wildcard(), wildcard()).match(y)
    assert not is_op("relax.reshape")(wildcard(), is_const()).match(y)
    assert wildcard().has_ty(R.Tensor("float32", ndim=1)).match(y)
    assert not wildcard().has_ty(R.Tensor((4,), "float32")).match(y)
    assert not has_dtype("int32").match(y)


def test_operators_outside_of_scripts():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    with pytest.raises(TypeError, match=r"expected operands of 'relax\.bitwise_not'"):
        R.bitwise_not(x)
    assert R.nn.relu(R.add(x, R.const(1.0))).ty == x.ty
    pattern = is_op("relax.add")(wildcard(), wildcard())
    new = rewrite_call(pattern, lambda call, _: R.subtract(*call.args), diamond)
    assert "R.subtract(b, c)" in new.script()

"""Rewriting by patterns: `rewrite_call`, and the same patterns as those of xDSL."""

import numpy as np
import pytest
from dpl_programs import function, module
from xdsl.pattern_rewriter import PatternRewriteWalker

from xrelax import relax
from xrelax.relax.dpl import is_const, is_op, rewrite_call, wildcard
from xrelax.script import from_source

FMA_BODY = """        a = R.multiply(x, x)
        c = R.add(a, x)
        d = R.multiply(c, c)
        b = R.add(d, a)
        R.output(b)"""


def fma():
    lhs, rhs, rest = wildcard(), wildcard(), wildcard()
    return (lhs * rhs) + rest, lambda call, found: relax.op.ewise_fma(
        found[lhs], found[rhs], found[rest]
    )


def body(func):
    return [t.strip() for t in func.script(show_all_struct_info=False).splitlines() if " = R." in t]


FMA_RESULT = [
    "a = R.multiply(x, x)",
    "c = R.ewise_fma(x, x, x)",
    "b = R.ewise_fma(c, c, a)",
    "gv = R.nn.relu(b)",
]


def test_rewrite_call():
    func = function(FMA_BODY)
    before = func.script()
    assert body(rewrite_call(*fma(), func)) == FMA_RESULT
    assert func.script() == before


def test_patterns_of_xdsl():
    mod = module(FMA_BODY)
    pattern, rewriter = fma()
    PatternRewriteWalker(pattern.to_rewrite_pattern(rewriter)).rewrite_module(mod.op)
    result = relax.transform.DeadCodeElimination()(mod)
    assert body(result["main"]) == FMA_RESULT
    data = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
    args = data, np.zeros((3, 4), "float32"), np.zeros(4, "float32")
    wanted = relax.build(module(FMA_BODY))["main"](*args).numpy()
    got = relax.build(result)["main"](*args).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_matches_across_blocks():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            s = R.nn.relu(x)
            a = R.multiply(s, s)
            R.output(a)
        b = R.add(a, x)
        return b
"""
    mod = from_source(text)
    pattern, rewriter = fma()
    rewritten = rewrite_call(pattern, rewriter, mod["main"])
    assert body(rewritten) == ["s = R.nn.relu(x)", "b = R.ewise_fma(s, s, x)"]
    in_place = mod.clone()
    PatternRewriteWalker(pattern.to_rewrite_pattern(rewriter)).rewrite_module(in_place.op)
    assert in_place.script() == mod.script()  # `s` is not seen where the addition is


def test_a_rewriter_may_leave_a_call():
    pattern, _ = fma()
    func = function(FMA_BODY)
    new = rewrite_call(pattern, lambda call, found: call, func)
    assert new.script() == func.script()
    mod = module(FMA_BODY)
    PatternRewriteWalker(pattern.to_rewrite_pattern(lambda c, f: c)).rewrite_module(mod.op)
    assert mod.script() == module(FMA_BODY).script()


def test_rewriting_checks_types():
    pattern, _ = fma()
    with pytest.raises(ValueError, match=r"in 'main': at 'c = R.add\(a, x\)': expected shapes of"):
        rewrite_call(
            pattern, lambda call, f: relax.op.add(call, np.ones(5, "float32")), function(FMA_BODY)
        )


RESHAPED = """
@R.function
def main(x: R.Tensor((8, 2), "float32"), y: R.Tensor((8, 2), "float32")):
    a = R.add(x, y)
    b = R.reshape(a, (8, 2))
    c = R.multiply(R.const(2.0), b)
    return c
"""


def test_attributes_and_operators_are_matched_too():
    arg, shape, number, add = wildcard(), wildcard(), is_const(), is_op("relax.add")
    reshape = is_op("relax.reshape")(arg, shape)
    either = is_op("relax.multiply") | add
    scaled = either(number, wildcard())

    def flat(call, found):
        return found[arg] if found[arg].struct_info.shape == found[shape] else call

    new = rewrite_call(reshape, flat, from_source(RESHAPED))
    assert "R.reshape" not in new.script()
    found = []
    rewrite_call(scaled, lambda call, m: found.append(m) or call, new)
    assert [m[either].name for m in found] == ["relax.multiply"]
    assert found[0][number].data.numpy() == 2


def test_rewriting_goes_on_until_nothing_matches():
    x, y, number = wildcard(), wildcard(), is_const()
    scaled = is_op("relax.multiply")(number, is_op("relax.add")(x, y))
    unscaled = is_op("relax.multiply")(wildcard(), wildcard())

    def distribute(call, m):
        return call if scaled not in m else m[number] * m[x] + m[number] * m[y]

    source = RESHAPED.replace("R.reshape(a, (8, 2))", "R.add(a, x)")
    new = rewrite_call(unscaled | scaled, distribute, from_source(source))
    assert new.script().count("R.multiply(") == 2
    with pytest.raises(ValueError, match="expected replacements to stop matching after"):
        rewrite_call(unscaled, lambda call, m: relax.op.multiply(*call.args), from_source(source))

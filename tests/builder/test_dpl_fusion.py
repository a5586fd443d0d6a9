"""Fusion by patterns: `FuseOpsByPattern` with patterns of the language."""

import numpy as np
import pytest
from dpl_programs import add, matmul, module

from xrelax import relax
from xrelax.relax.dpl import is_const, is_op, make_fused_bias_activation_pattern, wildcard
from xrelax.script import from_source


def linear(activation=None):
    return make_fused_bias_activation_pattern("relax.matmul", True, activation)


LINEAR = """        a = R.matmul(x, w)
        c = R.add(a, b0)
        d = R.nn.relu(c)
        b = R.add(d, R.const(1.0, "float32"))
        R.output(b)"""


def fuse(mod, patterns, **options):
    return relax.transform.FuseOpsByPattern(patterns, **options)(mod)


def names(mod):
    return [v.name_hint for v in mod.get_global_vars()]


def run(mod):
    rng = np.random.default_rng(0)
    args = [rng.standard_normal(s).astype("float32") for s in ((2, 3), (3, 4), (4,))]
    return relax.build(mod)["main"](*args).numpy()


def test_matches_become_functions():
    mod = module(LINEAR)
    before = mod.script()
    fused = fuse(mod, [("linear", linear())])
    assert names(fused) == ["fused_relax_matmul_relax_add", "main"]
    inner = fused["fused_relax_matmul_relax_add"]
    assert inner.attrs == {"Composite": "linear", "Primitive": True}
    assert inner.op.private is not None and len(inner.params) == 3
    assert " = fused_relax_matmul_relax_add(x, w, b0)" in fused["main"].script()
    assert mod.script() == before
    np.testing.assert_allclose(run(fused), run(mod), rtol=1e-5)


def test_patterns_are_tried_in_order():
    fused = fuse(module(LINEAR), [("big", linear("relax.nn.relu")), ("small", linear())])
    assert names(fused) == ["fused_relax_matmul_relax_add_relax_nn_relu", "main"]
    fused = fuse(module(LINEAR), [("small", linear()), ("big", linear("relax.nn.relu"))])
    assert names(fused) == ["fused_relax_matmul_relax_add", "main"]


@pytest.mark.parametrize("bind_constants", [True, False])
def test_constants(bind_constants):
    pattern = [("bias", add(wildcard(), is_const()))]
    fused = fuse(module(LINEAR), pattern, bind_constants=bind_constants)
    assert len(fused["fused_relax_add"].params) == (1 if bind_constants else 2)
    np.testing.assert_allclose(run(fused), run(module(LINEAR)), rtol=1e-5)


@pytest.mark.parametrize(
    ("old", "new"), [('R.const(1.0, "float32")', "a"), ("R.output(b)", "R.output(a, b)")]
)
def test_nothing_is_computed_twice(old, new):
    """A value that is also used outside of the match is another result of the function."""
    mod = module(LINEAR.replace(old, new))
    fused = fuse(mod, [("linear", linear())])
    assert names(fused) == ["fused_relax_matmul_relax_add", "main"]
    assert fused.script().count("R.matmul(") == 1
    np.testing.assert_allclose(run(fused), run(mod), rtol=1e-5)


def test_a_match_that_needs_what_depends_on_it_is_skipped():
    around = """        a = R.nn.relu(x)
        c = R.exp(a)
        b = R.add(a, c)
        R.output(b)"""
    pattern = add(is_op("relax.nn.relu")(wildcard()), wildcard())
    assert names(fuse(module(around), [("p", pattern)])) == ["main"]


def test_equal_matches_share_a_function():
    twice = """        a = R.matmul(x, w)
        c = R.add(a, b0)
        d = R.matmul(x, w)
        b = R.add(d, b0)
        R.output(b, c)"""
    fused = fuse(module(twice), [("linear", linear())])
    assert names(fused) == ["fused_relax_matmul_relax_add", "main"]
    assert fused["main"].script().count("fused_relax_matmul_relax_add(x, w, b0)") == 2


def test_symbolic_shapes():
    mod = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n * 2", 3), "float32"), s: R.Shape(["n"])):
        a = R.nn.relu(x)
        b = R.add(a, x)
        return b
""")
    fused = fuse(mod, [("p", add(is_op("relax.nn.relu")(wildcard()), wildcard()))])
    assert " = cls.fused_relax_nn_relu_relax_add(x, shape)" in fused.script()
    data = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
    result = relax.build(fused)["main"](data, (2,)).numpy()
    np.testing.assert_allclose(result, np.maximum(data, 0) + data)


def test_a_check_refuses_matches():
    bias = wildcard()
    pattern = add(matmul(wildcard(), wildcard()), bias)
    seen = []

    def accepts(found):
        seen.append(found[bias].name_hint)
        return False

    assert names(fuse(module(LINEAR), [("linear", pattern, accepts)])) == ["main"]
    assert seen == ["b0"]


def test_functions_of_matches_are_left_alone():
    once = fuse(module(LINEAR), [("linear", linear())])
    assert fuse(once, [("linear", linear())]).script() == once.script()

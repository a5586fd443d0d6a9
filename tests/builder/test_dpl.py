"""The pattern language: what matches, what is extracted, rewriting, and fusion by patterns."""

import numpy as np
import pytest
from xdsl.pattern_rewriter import PatternRewriteWalker

import xrelax as tvm
from xrelax import relax
from xrelax.relax.dpl import (
    has_attr,
    has_dtype,
    has_shape,
    is_call_dps_packed,
    is_call_tir,
    is_const,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    rewrite_call,
    wildcard,
)
from xrelax.script import from_source
from xrelax.script import relax as R

x = relax.Var("x", R.Tensor((2, 3), "float32"))
w = relax.Var("w", R.Tensor((3, 4), "float32"))
y = relax.Var("y", R.Tensor((2, 4), "float32"))
PRODUCT = relax.op.matmul(x, w)
SUM = PRODUCT + relax.const(np.ones(4, "float32"))
TURNED = relax.op.permute_dims(x, [1, 0])
RESHAPED = PRODUCT + relax.op.reshape(relax.const(np.ones(4, "float32")), (1, 4))
PAIR = relax.Tuple([x, SUM])
KERNEL = relax.op.call_tir(tvm.ir.GlobalVar("f"), [x], R.Tensor((2,), "float32"))
WITH_SYMBOL = relax.op.call_tir(
    tvm.ir.GlobalVar("f"), [x], R.Tensor((2,), "float32"), tir_vars=relax.ShapeExpr([8])
)
PACKED = relax.op.call_dps_packed("f", [x], R.Tensor((2,), "float32"))


def matmul(*args):
    return is_op("relax.matmul")(*args)


def add(*args):
    return is_op("relax.add")(*args)


same, other = wildcard(), wildcard()
MATCHES = [
    (wildcard(), [x, PRODUCT, SUM, PAIR], []),
    (matmul(wildcard(), wildcard()), [PRODUCT], [SUM, x, KERNEL]),
    (is_op("relax.matmul")(varargs=True), [PRODUCT], [SUM]),
    (add(matmul(is_var("x"), is_var("w")), is_const()), [SUM], [PRODUCT]),
    (add(matmul(is_var("w"), is_var("x")), is_const()), [], [SUM]),
    (add(wildcard(), is_var()), [x + x, SUM + y, y + SUM], [SUM]),
    (is_op("relax.subtract")(wildcard(), is_var()), [SUM - y], [y - SUM]),
    (
        add(wildcard().has_ty(R.Tensor(("k", "l"))), wildcard().has_ty(R.Tensor(("k", "l")))),
        [PRODUCT + PRODUCT, x + x],
        [SUM],
    ),
    (wildcard() + is_const(), [SUM], [x + x]),
    (wildcard() * wildcard() - wildcard() / wildcard(), [x * x - x / x], [x * x, x - x]),
    (add(same, same), [x + x, SUM + SUM], [SUM, PRODUCT + SUM]),
    (add(other, other.dup()), [x + x, SUM], []),
    (matmul(wildcard(), wildcard()) | is_const(), [PRODUCT, relax.const(1.0)], [SUM]),
    (wildcard() & has_dtype("float32"), [x, SUM], [relax.const(1)]),
    (~is_const(), [x, SUM], [relax.const(1.0)]),
    (has_shape((2, 4)), [PRODUCT, SUM], [x]),
    (has_shape(("n",)), [relax.Var("v", R.Tensor(("n",), "int8"))], [KERNEL]),
    (wildcard().has_dtype("int32"), [relax.const(1)], [x]),
    (has_attr({"axes": [1, 0]}), [TURNED], [relax.op.permute_dims(x), x]),
    (is_op("relax.permute_dims")(is_var()).has_attr({"axes": (1, 0)}), [TURNED], [x]),
    (is_tuple([is_var(), wildcard()]), [PAIR], [x, relax.Tuple([x])]),
    (is_tuple(None), [PAIR, relax.Tuple([])], [x]),
    (
        is_tuple_get_item(is_tuple(None), 1),
        [relax.TupleGetItem(PAIR, 1)],
        [relax.TupleGetItem(PAIR, 0)],
    ),
    (
        is_tuple_get_item(wildcard()),
        [relax.TupleGetItem(PAIR, 1), relax.TupleGetItem(PAIR, 0)],
        [PAIR],
    ),
    (is_tuple(None)[0], [relax.TupleGetItem(PAIR, 0)], [relax.TupleGetItem(PAIR, 1)]),
    (is_call_tir("f"), [KERNEL], [PACKED, relax.op.nn.relu(x)]),
    (is_call_tir("g"), [], [KERNEL]),
    (is_call_tir("f", [wildcard(), wildcard()]), [WITH_SYMBOL], [KERNEL]),
    (is_call_tir(args=[is_var("x")]), [KERNEL], []),
    (is_call_dps_packed("f", [is_const()]), [], [PACKED]),
    (matmul(wildcard(), wildcard()).optional(lambda p: add(p, is_const())), [PRODUCT, SUM], [x]),
    (make_fused_bias_activation_pattern("relax.matmul", True), [SUM], [PRODUCT]),
    (
        make_fused_bias_activation_pattern("relax.matmul", True, "relax.nn.relu"),
        [relax.op.nn.relu(SUM)],
        [SUM, relax.op.nn.relu(PRODUCT)],
    ),
    (
        make_fused_bias_activation_pattern("relax.matmul", True, allow_reshape=True),
        [RESHAPED],
        [SUM, PRODUCT],
    ),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), MATCHES)
def test_matching(pattern, yes, no):
    assert [pattern.match(e) for e in yes] == [True] * len(yes)
    assert [pattern.match(e) for e in no] == [False] * len(no)


def test_what_is_matched():
    lhs, rhs, bias = wildcard(), wildcard(), is_const()
    product = matmul(lhs, rhs)
    pattern = add(product, bias) | product
    found = pattern.extract_matched_expr(SUM)
    assert (found[lhs], found[rhs], found[product], found[pattern]) == (x, w, PRODUCT, SUM)
    assert type(found[bias]) is relax.Constant
    found = pattern.extract_matched_expr(PRODUCT)
    assert found[product] == PRODUCT and bias not in found
    assert pattern.extract_matched_expr(x) is None


def test_an_alternative_is_left_again():
    first, second = wildcard(), wildcard()
    either = add(first, is_const()) | add(second, is_var())
    found = either.extract_matched_expr(x + x)
    assert second in found and first not in found


def test_variables_stand_for_their_values():
    func = function("        a = R.matmul(x, w)\n        b = R.add(a, a)\n        R.output(a, b)")
    inner = func.body.blocks[0].bindings
    assert add(matmul(wildcard(), wildcard()), wildcard()).match(inner[1].var)
    assert is_op("relax.nn.relu")(add(wildcard(), wildcard())).match(
        func.body.blocks[1].bindings[0].var
    )


def function(body, end="return R.nn.relu(b)"):
    return module(body, end)["main"]


def module(body, end="return R.nn.relu(b)"):
    return from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32"),
             b0: R.Tensor((4,), "float32")):
        with R.dataflow():
    {body.replace(chr(10), chr(10) + "    ")}
        {end}
""")


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: is_op("relax.addd"), "expected an operator of the graph, got 'relax.addd', did y"),
        (lambda: has_dtype("float31"), "expected a dtype .*, got 'float31'"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_classes_of_patterns():
    from xrelax.relax import dpl

    a, b = wildcard(), is_const()
    added = is_op("relax.add")(a, b)
    assert isinstance(added, dpl.CallPattern) and added.args == [a, b]
    assert isinstance(a | b, dpl.OrPattern) and isinstance(~a, dpl.NotPattern)
    assert isinstance(has_dtype("int8"), dpl.DataTypePattern) and has_dtype("int8").dtype == "int8"
    either = (is_op("relax.add") | is_op("relax.multiply"))(varg_default_wildcard=True)
    assert either.match(relax.op.add(x, x)) and not either.match(relax.op.subtract(x, x))
    fields = is_tuple([wildcard(), is_const()])
    assert fields[-1].index == 1 and fields[None].index is None
    with pytest.raises(IndexError, match="expected a field of a tuple of 2, got 2"):
        fields[2]
    unordered = is_tuple([is_const(), is_var("x")], unordered=True)
    assert unordered.match(relax.Tuple([x, relax.const(1.0)]))
    assert not unordered.match(relax.Tuple([x, x]))
    assert dpl.is_shape([2, 4]).match(relax.ShapeExpr([2, 4]))
    assert not dpl.is_shape([2, 4]).match(relax.ShapeExpr([4, 2]))
    assert dpl.is_expr(x).match(x) and not dpl.is_expr(x).match(SUM)


def test_patterns_of_functions_and_names():
    from xrelax.relax import dpl

    assert dpl.is_gv("f").match(relax.GlobalVar("f")) and not dpl.is_gv("g").match(x)
    assert (dpl.is_gv("g") | dpl.is_gv("f")).match(relax.GlobalVar("f"))
    assert dpl.ExternFuncPattern("f").match(relax.ExternFunc("f"))
    a = relax.Var("a", R.Tensor((2,), "float32"))
    func = relax.Function([a], relax.op.add(a, a)).with_attr("Codegen", "c")
    p = wildcard()
    pattern = dpl.FunctionPattern([p], is_op("relax.add")(p, p))
    assert pattern.has_attr({"Codegen": "c"}).match(func)
    assert not pattern.has_attr({"Codegen": "d"}).match(func)
    assert not dpl.FunctionPattern([p], is_op("relax.multiply")(p, p)).match(func)


@pytest.mark.parametrize(("other", "found"), [("n", True), ("m", False)])
def test_patterns_of_the_same_shape(other, found):
    from xrelax.relax.dpl import PatternContext
    from xrelax.script import from_source

    func = from_source(f'''
@R.function
def main(a: R.Tensor(("n", 4), "float32"), b: R.Tensor(("{other}", 4), "float32")):
    with R.dataflow():
        c = R.exp(b)
        d = R.add(a, c)
        R.output(d)
    return d
''')
    with PatternContext() as context:
        lhs, rhs = wildcard(), wildcard()
        is_op("relax.add")(lhs, rhs)
        lhs.same_shape_as(rhs)
    assert (context.match_dfb(func.body.blocks[0]) is not None) == found
    with pytest.raises(ValueError, match="expected 'with PatternContext"):
        lhs.same_shape_as(rhs)


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


def test_what_stands_for_operands_of_tvm_has_constants():
    arg, begin, number = wildcard(), wildcard(), wildcard()
    pattern = is_op("relax.strided_slice")(arg, wildcard(), begin)
    found = pattern.extract_matched_expr(relax.op.strided_slice(x, [0], [1], [2]))
    assert found[begin] == (1,) and found[begin][0].value == 1
    assert is_call_tir("f", [arg, number]).extract_matched_expr(WITH_SYMBOL)[number].value == 8


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

"""The pattern language: what matches, and what is extracted."""

import numpy as np
import pytest
from dpl_programs import add, function, matmul

import xrelax as tvm
from xrelax import relax
from xrelax.relax import dpl
from xrelax.relax.dpl import (
    PatternContext,
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


def test_what_stands_for_operands_of_tvm_has_constants():
    arg, begin, number = wildcard(), wildcard(), wildcard()
    pattern = is_op("relax.strided_slice")(arg, wildcard(), begin)
    found = pattern.extract_matched_expr(relax.op.strided_slice(x, [0], [1], [2]))
    assert found[begin] == (1,) and found[begin][0].value == 1
    assert is_call_tir("f", [arg, number]).extract_matched_expr(WITH_SYMBOL)[number].value == 8

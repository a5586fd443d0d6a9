"""`relax.op`: functions from the operator set, what they take, and the names that reach them."""

import importlib

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.dialects.relax import OPERATORS
from xrelax.script import from_source
from xrelax.script import relax as R

x = relax.Var("x", R.Tensor((2, 3), "float32"))
i = relax.Var("i", R.Tensor((2, 3), "int32"))
c = relax.Var("c", R.Tensor((2, 3), "bool"))


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_function(name):
    function = relax.op
    for part in name.removeprefix("relax.").split("."):
        function = getattr(function, part)
    assert function.__name__ == name.rpartition(".")[2] and function.__doc__


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: relax.op.add(x, 1), 'R.add(x, R.const(1.0, "float32"))'),
        (lambda: relax.op.add(1, i), 'R.add(R.const(1, "int32"), i)'),
        (lambda: relax.op.where(c, x, 0), 'R.where(c, x, R.const(0.0, "float32"))'),
        (lambda: relax.op.where(c, 1.5, x), 'R.where(c, R.const(1.5, "float32"), x)'),
        (lambda: relax.op.logical_and(c, True), 'R.logical_and(c, R.const(True, "bool"))'),
        (lambda: relax.op.nn.softmax(x, axis=0), "R.nn.softmax(x, axis=0)"),
        (lambda: relax.op.concat([x, x], axis=1), "R.concat((x, x), axis=1)"),
        (lambda: relax.op.concat(relax.Tuple([x, x])), "R.concat((x, x))"),
        (lambda: relax.op.reshape(x, (3, 2)), "R.reshape(x, shape=R.shape([3, 2]))"),
        (lambda: relax.op.reshape(x, relax.ShapeExpr([6])), "R.reshape(x, shape=R.shape([6]))"),
        (lambda: relax.op.linear(x, x, bias=None), "R.linear(x, x)"),
        (
            lambda: relax.op.full((2,), 1.0, "float16"),
            'R.full(R.shape([2]), R.const(1.0, "float32"), "float16")',
        ),
        (lambda: relax.op.shape_of(x), "R.shape_of(x)"),
        (lambda: relax.op.call_packed("f", x), 'R.call_packed("f", x)'),
        (
            lambda: relax.op.call_inplace_packed("f", x, inplace_indices=0, ty_args=x.ty),
            'R.call_inplace_packed("f", x, inplace_indices=[0], '
            'sinfo_args=(R.Tensor((2, 3), dtype="float32"),))',
        ),
        (
            lambda: relax.op.call_tir_inplace(
                tvm.ir.GlobalVar("f"), [x], 0, R.Tensor((2, 3), "float32")
            ),
            "R.call_tir_inplace(f, (x,), inplace_indices=[0], "
            'out_sinfo=R.Tensor((2, 3), dtype="float32"))',
        ),
        (lambda: relax.op.print(x, format="{}"), 'R.print(x, format=R.str("{}"))'),
        (
            lambda: relax.op.assert_op(c, x, format="no {}"),
            'R.assert_op(c, x, format=R.str("no {}"))',
        ),
        (lambda: relax.op.alloc_tensor((2, 3), "int8"), 'R.alloc_tensor((2, 3), dtype="int8")'),
        (lambda: relax.op.builtin.alloc_tensor([4]), 'R.alloc_tensor((4,), dtype="float32")'),
        (
            lambda: relax.op.call_pure_packed("f", x, sinfo_args=R.Tensor((2,), "float32")),
            'R.call_pure_packed("f", x, sinfo_args=(R.Tensor((2,), dtype="float32"),))',
        ),
        (
            lambda: relax.op.match_cast(x, R.Tensor(("n", 3), "float32")),
            'R.match_cast(x, R.Tensor((n, 3), dtype="float32"))',
        ),
    ],
)
def test_calls(call, text):
    assert str(call()) == text


def test_comparisons_and_powers():
    texts = [str(e) for e in (x < 1, x <= x, 2 > x, -x, x.astype("int8"), x**2, 7 // i, i % 2)]
    assert texts == [
        'R.less(x, R.const(1.0, "float32"))',
        "R.less_equal(x, x)",
        'R.less(x, R.const(2.0, "float32"))',
        "R.negative(x)",
        'R.astype(x, dtype="int8")',
        'R.power(x, R.const(2.0, "float32"))',
        'R.floor_divide(R.const(7, "int32"), i)',
        'R.mod(i, R.const(2, "int32"))',
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: relax.op.nn.softmax(x, axes=0),
            "expected arguments data, axis of 'relax.nn.softm",
        ),
        (lambda: relax.op.add(x), "expected lhs, rhs of 'relax.add', got no rhs"),
        (lambda: relax.op.add(x, x, x), "expected at most 2 arguments of 'relax.add', got 3"),
        (
            lambda: relax.op.add(x, i),
            "expected operands of 'relax.add' to have one dtype, got floa",
        ),
        (lambda: relax.op.add(i, 1.5), "expected numbers of int32, got 1.5"),
        (lambda: relax.op.nn.relu(relax.Tuple([x])), "of 'relax.nn.relu' to be a tensor"),
        (lambda: relax.op.nn.softmax(x, axis="a"), "expected axis of 'relax.nn.softmax' to be an"),
    ],
)
def test_errors(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call()
    assert "\n" not in str(error.value)


CALLS = """
@I.ir_module
class Module:
    @T.prim_func
    def grow(X: T.Buffer((2,), "float32")):
        for j in range(2):
            with T.block("X"):
                vj = T.axis.spatial(2, j)
                X[vj] = X[vj] + T.float32(1)

    @T.prim_func
    def double(X: T.Buffer((2,), "float32"), Y: T.Buffer((2,), "float32")):
        for j in range(2):
            with T.block("Y"):
                vj = T.axis.spatial(2, j)
                Y[vj] = X[vj] + X[vj]

    @R.function(private=True)
    def inner(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.nn.relu(a)

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), flag: R.Tensor((), "bool")):
        cls = Module
        a = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((2,), dtype="float32"))
        b = R.call_tir_inplace(cls.grow, (a,), [0], R.Tensor((2,), dtype="float32"))
        c = cls.inner(b)
        d = R.call_dps_packed("f", (c,), out_sinfo=R.Tensor((2,), dtype="float32"))
        e = R.call_packed("g", d)
        f = R.call_pure_packed("h", d, sinfo_args=(R.Tensor((2,), dtype="float32"),))
        g = R.print(f, format="{}")
        h = R.assert_op(flag, f, format="no {}")
        s = R.shape_of(f)
        n = R.alloc_tensor((2,), dtype="float32")
        p = R.permute_dims(n, axes=[0])
        return p
"""


def test_every_call_can_be_taken_apart_and_made_again():
    mod = from_source(CALLS)

    @relax.expr_functor.mutator
    class Again(relax.PyExprMutator):
        def visit_call_(self, op):
            call = self.visit_expr_post_order(op)
            if call.op.__class__ is relax.ExternFunc:
                assert call.args[0].name_hint == "d"
            return relax.Call(call.op, call.args, call.attrs, call.sinfo_args)

    func = mod["main"]
    assert relax.PyExprMutator().visit_expr(func).script() == func.script()
    assert Again().visit_expr(func).script() == func.script()
    seen = []

    @relax.expr_functor.visitor
    class Names(relax.PyExprVisitor):
        def visit_global_var_(self, var):
            seen.append(var.name_hint)

        def visit_extern_func_(self, function):
            seen.append(function.global_symbol)

    Names().visit_expr(func)
    assert seen == ["double", "grow", "inner", "f", "g", "h"]


def test_what_is_built_is_what_scripts_say():
    bb = relax.BlockBuilder()
    with bb.function("main", [x, i, c]):
        y = bb.emit(relax.op.where(c, x, relax.op.astype(i, "float32")))
        bb.emit_func_output(bb.emit(relax.op.sum(y, axis=[0], keepdims=True)))
    script = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), i: R.Tensor((2, 3), "int32"),
             c: R.Tensor((2, 3), "bool")):
        lv = R.astype(i, "float32")
        y = R.where(c, x, lv)
        z = R.sum(y, axis=[0], keepdims=True)
        return z
""")
    from xrelax.ir.equality import assert_structural_equal

    assert_structural_equal(bb.finalize().op, script.op)


@pytest.mark.parametrize(
    "name",
    [
        "relax.op",
        "relax.dpl",
        "relax.analysis",
        "relax.expr",
        "relax.expr_functor",
        "relax.transform",
        "relax.frontend.nn",
        "relax.block_builder",
        "ir.module",
        "ir.transform",
        "ir.instrument",
        "transform",
        "te",
    ],
)
def test_modules_can_be_imported(name):
    found = tvm
    for part in name.split("."):
        found = getattr(found, part)
    imported = importlib.import_module(f"xrelax.{name}")
    assert dir(imported) == dir(found)
    assert imported.__spec__ is None or imported.__spec__.name == imported.__name__


def test_names_that_do_not_exist():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("xrelax.relax.nothing")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        relax.nothing
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("xrelax.relax.Var")


ANALYSED = from_source("""
@I.ir_module
class Module:
    @T.prim_func
    def kernel(X: T.Buffer((2,), "float32"), Y: T.Buffer((2,), "float32")):
        for j in range(2):
            with T.block("Y"):
                vj = T.axis.spatial(2, j)
                Y[vj] = X[vj] + X[vj]

    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.add(x, y)
            b = R.multiply(a, a)
            R.output(b)
        c = R.call_tir(cls.kernel, (b,), out_sinfo=R.Tensor((2,), dtype="float32"))
        return c
""")


def test_analysis():
    analysis, func = relax.analysis, ANALYSED["main"]
    a, b = (line.var for line in func.body.blocks[0].bindings)
    (line,) = func.body.blocks[1].bindings
    assert analysis.bound_vars(func) == analysis.all_vars(func) == [*func.params, a, b, line.var]
    assert analysis.free_vars(func) == [] and analysis.free_vars(x + i.astype("float32")) == [x, i]
    assert list(analysis.name_to_binding(func)) == ["a", "b", "c"]
    assert analysis.get_var2val(func)[b].args == [a, a]
    users = analysis.udchain(func)
    assert users[func.params[0]] == [a] and users[a] == [b, b] and users[line.var] == []
    assert [v.name_hint for v in analysis.all_global_vars(func)] == ["kernel"]
    seen = []
    analysis.post_order_visit(x + x * 2.0, lambda e: seen.append(str(e)))
    assert seen[-1].startswith("R.add(") and seen.count("x") == 2
    assert not analysis.contains_impure_call(func)


def test_well_formed():
    assert relax.analysis.well_formed(ANALYSED) and relax.analysis.well_formed(ANALYSED["kernel"])
    broken = ANALYSED.clone()
    broken.op.body.block.first_op.detach()
    assert not relax.analysis.well_formed(broken)


def test_arrays_are_constants():
    call = relax.op.add(x, np.ones(3, "float32"))
    assert type(call.args[1]) is relax.Constant


def test_shapes_of_tensors():
    known = relax.Var("x", R.Tensor(("n", 4), "float32"))
    assert [str(d) for d in relax.get_shape_of(known)] == ["n", "4"]
    unknown = relax.get_shape_of(relax.Var("y", R.Tensor("float32")))
    assert "R.shape_of" in str(unknown)
    assert len(relax.expr.make_shape((4, 5))) == 2
    with pytest.raises(TypeError, match="expected a list or tuple of dims, got int"):
        relax.expr.make_shape(123)

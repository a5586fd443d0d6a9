"""Rewriting with `PyExprMutator`: what it rebuilds, replaces, adds and leaves as it was."""

import numpy as np
import pytest
from rewritten import ADD, FMA_INPUT, MULTIPLY, body, function

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

FMA, RELU = tvm.ir.Op.get("relax.ewise_fma"), tvm.ir.Op.get("relax.nn.relu")


def module(text):
    return from_source("@I.ir_module\nclass Module:\n" + text)


@relax.expr_functor.mutator
class FMARewriter(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op != ADD:
            return call
        value = self.lookup_binding(call.args[0])
        if not isinstance(value, relax.Call) or value.op != MULTIPLY:
            return call
        return relax.Call(FMA, [value.args[0], value.args[1], call.args[1]], None, None)


def test_a_call_is_replaced():
    func = function(FMA_INPUT)
    before = func.script()
    new = FMARewriter().visit_expr(func)
    assert body(new) == [
        "with R.dataflow():",
        "lv0 = R.multiply(x, y)",
        "gv0 = R.ewise_fma(x, y, y)",
        "R.output(gv0)",
        "return gv0",
    ]
    assert body(relax.analysis.remove_all_unused(new))[1:3] == [
        "gv0 = R.ewise_fma(x, y, y)",
        "R.output(gv0)",
    ]
    assert func.script() == before and body(new)[1].startswith("lv0")
    assert type(new) is relax.Function and new != func


def test_expressions_that_were_thrown_away_leave_nothing():
    func = function(FMA_INPUT)
    new = FMARewriter().visit_expr(func)
    for op in [*func.op.walk(), *new.op.walk()]:
        for result in op.results:
            assert all(use.operation.parent is not None for use in result.uses)


def test_a_mutator_that_changes_nothing_gives_an_equal_function():
    func = function(
        """
    with R.dataflow():
        a = R.nn.relu(x)
        b = R.add(a, R.const(2.0, "float32"))
        R.output(a, b)
    c = R.multiply(a, b)
    t = (c, y)
    d = t[0]
    with R.dataflow():
        e = R.add(d, t[1])
        R.output(e)
    return (e, (a, x))
""",
        result='R.Tuple(R.Tensor((3, 4), "float32"), R.Tuple(R.Tensor, R.Object))',
    )
    new = relax.PyExprMutator().visit_expr(func)
    assert new.script() == func.script()


def test_branches_are_rebuilt():
    func = from_source("""
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
    if c:
        p = R.multiply(x, y)
        r = R.add(p, y)
    else:
        r = R.add(x, x)
    return r
""")
    assert relax.PyExprMutator().visit_expr(func).script() == func.script()
    new = FMARewriter().visit_expr(func)
    assert "r = R.ewise_fma(x, y, y)" in body(new) and "r = R.add(x, x)" in body(new)
    args = np.array(True), *np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
    wanted, got = (relax.build(f)["main"](*args).numpy() for f in (func, new))
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_local_functions_are_rebuilt():
    func = from_source("""
@R.function
def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
    @R.function
    def inner(a: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        p = R.multiply(a, y)
        r = R.add(p, y)
        return r
    z = inner(x)
    return z
""")
    assert relax.PyExprMutator().visit_expr(func).script() == func.script()
    new = FMARewriter().visit_expr(func)
    assert "r = R.ewise_fma(a, y, y)" in body(new)
    value = func.body.blocks[0].bindings[0].value
    assert str(value).splitlines()[-2:] == [
        '    r: R.Tensor((3,), dtype="float32") = R.add(p, y)',
        "    return r",
    ]
    assert [p.name_hint for p in value.params] == ["a"]
    call = func.body.blocks[0].bindings[1].value
    assert call.op.struct_info.params == [func.params[0].struct_info]
    assert str(call) == "inner(x)" and str(relax.Call(call.op, call.args)) == "inner(x)"


def test_more_is_emitted_before_a_binding():
    @relax.expr_functor.mutator
    class Split(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if call.op != ADD:
                return call
            product = self.builder_.emit(relax.op.multiply(*call.args))
            return relax.op.nn.relu(relax.op.add(product, call.args[0]))

    assert body(Split().visit_expr(function(FMA_INPUT)))[1:6] == [
        "lv0 = R.multiply(x, y)",
        "lv = R.multiply(lv0, y)",
        "lv1 = R.add(lv, lv0)",
        "gv0 = R.nn.relu(lv1)",
        "R.output(gv0)",
    ]


@pytest.mark.parametrize("visited", [True, False])
def test_a_call_is_replaced_by_a_variable_that_is_there(visited):
    @relax.expr_functor.mutator
    class DropRelu(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call) if visited else call
            return call.args[0] if call.op == RELU else call

    func = function("""
    with R.dataflow():
        a = R.multiply(x, y)
        b = R.nn.relu(a)
        c = R.nn.relu(b)
        d = R.nn.relu(x)
        R.output(c, d)
    return R.add(c, d)
""")
    new = DropRelu().visit_expr(func)
    assert body(new)[1] == "a = R.multiply(x, y)"
    assert not any("relu" in line for line in body(new))
    data = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("float32")
    result = relax.build(new)["main"](*data).numpy()
    np.testing.assert_allclose(result, data[0] * data[1] + data[0], rtol=1e-6)


def test_constants_and_variables_are_replaced():
    @relax.expr_functor.mutator
    class Replace(relax.PyExprMutator):
        def visit_constant_(self, const):
            return relax.const(const.data.numpy() + 1)

        def visit_var_(self, var):
            new = super().visit_var_(var)
            return relax.op.nn.relu(new) if var.name_hint == "y" else new

    func = function("    z = R.add(x, R.const(2.0, 'float32'))\n    return R.multiply(z, y)")
    assert body(Replace().visit_expr(func)) == [
        'z = R.add(x, R.const(3.0, "float32"))',
        "gv = R.nn.relu(y)",
        "gv1 = R.multiply(z, gv)",
        "return gv1",
    ]


def test_bindings_are_left_out_and_renamed():
    @relax.expr_functor.mutator
    class Inline(relax.PyExprMutator):
        def visit_var_binding_(self, binding):
            value = self.visit_expr(binding.value)
            if value.op == MULTIPLY:
                self.set_var_remap(binding.var.vid, value.args[0])
            else:
                new = self.builder_.emit_output(value, name_hint="renamed")
                self.set_var_remap(binding.var.vid, new)

    assert body(Inline().visit_expr(function(FMA_INPUT))) == [
        "with R.dataflow():",
        "renamed = R.add(x, y)",
        "R.output(renamed)",
        "return renamed",
    ]


def test_types_are_inferred_again():
    @relax.expr_functor.mutator
    class Transpose(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if call.op != MULTIPLY:
                return call
            return relax.op.permute_dims(call)

    func = function("    a = R.multiply(x, y)\n    b = R.nn.relu(a)\n    return b")
    func.op.result_type = relax.ObjectStructInfo().type
    new = Transpose().visit_expr(func)
    assert new.body.body.struct_info.shape == (4, 3)
    assert str(new.ret_struct_info) == "R.Object"
    func = function("    a = R.multiply(x, y)\n    b = R.nn.relu(a)\n    return b")
    assert Transpose().visit_expr(func).ret_struct_info.shape == (4, 3)


def test_other_functions_are_added():
    mod = module("""
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a = R.nn.relu(x)
        b = R.nn.relu(a)
        return b
""")

    @relax.expr_functor.mutator
    class Outline(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            (x,) = call.args
            bb = relax.BlockBuilder()
            p = relax.Var("p", x.struct_info)
            with bb.function("relu", [p], private=True):
                bb.emit_func_output(bb.emit(relax.op.nn.relu(p)))
            called = self.builder_.add_func(bb.get()["relu"], "relu")
            return relax.Call(called, [x])

        def transform(self, mod):
            for var, func in mod.functions.items():
                self.builder_.update_func(var, self.visit_expr(func))
            return self.builder_.finalize()

    new = Outline().transform(mod)
    assert [v.name_hint for v in new.get_global_vars()] == ["relu", "main"]
    assert new.script().count("cls.relu(") == 2
    x = np.array([-1, 2], "float32")
    np.testing.assert_array_equal(relax.build(new)["main"](x).numpy(), [0, 2])


def test_the_module_given_is_copied():
    mod = module("""
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.nn.relu(x)
""")
    mutator = relax.PyExprMutator(mod)
    assert mutator.builder_.get().script() == mod.script()
    assert mutator.builder_.add_func(mod["main"], "other").name_hint == "main"


def test_effects_are_not_repeated():
    @relax.expr_functor.mutator
    class Forget(relax.PyExprMutator):
        def visit_var_binding_(self, binding):
            pass

    func = from_source("""
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    a = R.call_packed("log", x)
    return a
""")
    with pytest.raises(
        ValueError, match="in 'main': expected a value of 'main', got 'a' of 'main'"
    ):
        Forget().visit_expr(func)
    assert "impure" in str(relax.PyExprMutator().visit_expr(func).op)


def test_the_default_of_a_variable_is_the_variable():
    """A method for variables may ask for what its expression is without it."""
    seen = []

    @relax.expr_functor.mutator
    class Variables(relax.PyExprMutator):
        def visit_var_(self, var):
            seen.append(var.name_hint)
            return self.visit_expr_post_order(var)

        visit_dataflow_var_ = visit_var_

    func = function(FMA_INPUT)
    assert body(Variables().visit_expr(func)) == body(func)
    assert seen[:4] == ["x", "y", "lv0", "y"]


def test_parameters_are_replaced():
    @relax.expr_functor.mutator
    class Narrow(relax.PyExprMutator):
        def visit_var_def_(self, var):
            if var.name_hint == "x":
                return relax.Var("narrow", relax.TensorStructInfo((1, 2), "float32"))
            return super().visit_var_def_(var)

    func = from_source("""
@R.function
def main(x: R.Tensor((4, 2), "float32"), w: R.Tensor((2, 3), "float32")):
    return R.matmul(x, w)
""")
    new = Narrow().visit_expr(func)
    assert [p.name_hint for p in new.params] == ["narrow", "w"]
    assert new.ret_struct_info.shape == (1, 3)

"""`PyExprVisitor`, passes on dataflow blocks, and what `PyExprMutator` refuses."""

import numpy as np
import pytest
from rewritten import ADD, FMA_INPUT, MULTIPLY, body, function

import xrelax as tvm
from xrelax import relax
from xrelax.script import relax as R


def test_an_ill_typed_call_names_itself_and_its_function():
    @relax.expr_functor.mutator
    class Wrong(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if call.op != ADD:
                return call
            return relax.Call(ADD, [call.args[0], relax.const(np.zeros((5,), "float32"))])

    with pytest.raises(ValueError) as error:
        Wrong().visit_expr(function(FMA_INPUT))
    assert str(error.value) == (
        "in 'main': at 'gv0 = R.add(lv0, y)': "
        "expected shapes of 'relax.add' to broadcast, got (3, 4) and (5,)"
    )


def test_a_later_call_that_became_ill_typed_is_named():
    @relax.expr_functor.mutator
    class Flatten(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return relax.op.permute_dims(call) if call.op == MULTIPLY else call

    with pytest.raises(ValueError, match=r"in 'main': at 'gv0 = R.add\(lv0, y\)': expected shapes"):
        Flatten().visit_expr(function(FMA_INPUT))


def test_what_is_no_expression():
    @relax.expr_functor.mutator
    class Nothing(relax.PyExprMutator):
        def visit_call_(self, call):
            return None

    with pytest.raises(TypeError, match="expected an expression, an array or a number, got None"):
        Nothing().visit_expr(function(FMA_INPUT))
    with pytest.raises(TypeError, match="expected an expression of the graph, got str"):
        relax.PyExprMutator().visit_expr("main")
    with pytest.raises(TypeError, match="expected a subclass of PyExprMutator, got int"):
        relax.expr_functor.mutator(int)


def test_a_visitor_sees_everything_in_order():
    seen = []

    @relax.expr_functor.visitor
    class Order(relax.PyExprVisitor):
        def visit_call_(self, call):
            super().visit_call_(call)
            seen.append(call.op.name)

        def visit_var_def(self, var):
            seen.append(f"def {var.name_hint}")

        def visit_constant_(self, const):
            seen.append(float(const.data.numpy()))

        def visit_tuple_(self, tuple_):
            super().visit_tuple_(tuple_)
            seen.append(f"tuple of {len(tuple_.fields)}")

        def visit_dataflow_var_(self, var):
            seen.append(f"use {var.name_hint}")

    Order().visit_expr(
        function(
            """
    with R.dataflow():
        a = R.add(x, R.const(2.0, "float32"))
        b = R.nn.relu(a)
        R.output(b)
    return (b, y)
""",
            "R.Object",
        )
    )
    assert seen == [
        "def x",
        "def y",
        2.0,
        "relax.add",
        "def a",
        "use a",
        "relax.nn.relu",
        "def b",
        "tuple of 2",
    ]


@relax.expr_functor.mutator
class MultiplyInstead(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        return relax.op.multiply(*call.args) if call.op == ADD else call


TWO_BLOCKS = """
    with R.dataflow():
        a = R.add(x, y)
        b = R.nn.relu(a)
        R.output(b)
    c = R.add(b, y)
    with R.dataflow():
        d = R.add(c, b)
        R.output(d)
    return d
"""


@pytest.mark.parametrize("as_class", [True, False])
def test_passes_on_dataflow_blocks(as_class):
    def transform(block, mod, ctx):
        names = [b.var.name_hint for b in block.bindings]
        return MultiplyInstead().visit_binding_block(block) if "a" in names else block

    if as_class:

        @relax.transform.dataflowblock_pass(opt_level=1, name="Instead")
        class Instead:
            def transform_dataflowblock(self, block, mod, ctx):
                return transform(block, mod, ctx)

        step = Instead()
    else:
        step = relax.transform.dataflowblock_pass(transform)
    mod = tvm.IRModule({"main": function(TWO_BLOCKS)})
    before = mod.script()
    assert [line for line in body(step(mod)["main"]) if " = " in line] == [
        "a = R.multiply(x, y)",
        "b = R.nn.relu(a)",
        "c = R.add(b, y)",
        "d = R.add(c, b)",
    ]
    assert mod.script() == before


def test_mutators_outside_of_functions_have_nowhere_to_emit():
    block = function(TWO_BLOCKS).body.blocks[0]
    with pytest.raises(ValueError, match=r"expected to be inside of 'with bb.function\(…\)'"):
        MultiplyInstead().visit_binding_block(block)


def test_operators_are_visited_and_expressions_are_rewritten_alone():
    x = relax.Var("x", R.Tensor((4,), "float32"))

    @relax.expr_functor.visitor
    class Operators(relax.PyExprVisitor):
        def __init__(self):
            self.names = []

        def visit_op_(self, op):
            self.names.append(op.name)

    found = Operators()
    found.visit_expr(relax.op.add(relax.op.exp(x), x))
    assert sorted(found.names) == ["relax.add", "relax.exp"]
    assert Operators._cls is Operators

    @relax.expr_functor.mutator
    class ToSubtract(relax.PyExprMutator):
        def visit_call_(self, op):
            call = self.visit_expr_post_order(op)
            return relax.op.subtract(*call.args) if call.op.name == "relax.add" else call

    new = ToSubtract().visit_expr(relax.op.exp(relax.op.add(x, x)))
    assert str(new) == "R.exp(R.subtract(x, x))"


def test_definitions_of_both_kinds_of_variables():
    seen = []

    @relax.expr_functor.visitor
    class Definitions(relax.PyExprVisitor):
        def visit_var_def_(self, var):
            seen.append(f"var {var.name_hint}")

        def visit_dataflow_var_def_(self, var):
            seen.append(f"dataflow var {var.name_hint}")

    Definitions().visit_expr(
        function(
            """
    with R.dataflow():
        a = R.add(x, y)
        b = R.nn.relu(a)
        R.output(b)
    return b
"""
        )
    )
    assert seen == ["var x", "var y", "dataflow var a", "var b"]

"""Loops in modules that a `BlockBuilder` makes, and loops as expressions: calls of `relax.loop`."""

import numpy as np
import pytest
from built import var

from xrelax import relax
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.ir.equality import assert_structural_equal
from xrelax.relax import analysis
from xrelax.relax import op as R
from xrelax.script import from_source

MODULE = """
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32"), x: R.Tensor((), "float32")):
        i, n = T.int64(), T.int64()
        a = R.add(h, x)
        return (a, R.sum(a))

    @R.function
    def main(h: R.Tensor(("i",), "float32"), x: R.Tensor(("m",), "float32")):
        i, m = T.int64(), T.int64()
        r = R.loop(cls.step, (h,), scanned=(x,))
        return r
"""


@pytest.fixture
def module():
    return from_source(MODULE)


def reference(h, x):
    sums = []
    for number in x:
        h = h + number
        sums.append(h.sum())
    return h, np.array(sums, np.float32)


def test_a_builder_emits_loops(module):
    bb = relax.BlockBuilder(module)
    step = module.get_global_var("step")
    h, x = var("h", ("i",)), var("x", ("m",))
    with bb.function("twice", [h, x]):
        first = bb.emit(R.loop(step, (h,), scanned=(x,)))
        second = bb.emit(R.loop(step, [first[0]], [first[1]], trips="m"))
        bb.emit_func_output(second)
    built = bb.get()
    assert_structural_equal(from_source(built.script()).op, built.op)
    a, b = np.arange(3, dtype=np.float32), np.array([1, 2, -3, 4], np.float32)
    found = relax.build(built, check=True)["twice"](a, b)
    for got, wanted in zip(found, reference(*reference(a, b)), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5)


def test_a_while_loop_is_built_on_a_tuple():
    halve = from_source("""
@I.ir_module
class Module:
    @R.function(private=True)
    def halve(i: R.Prim(value="i"), c: R.Tensor((), "bool"), h: R.Tensor((), "float32")):
        i = T.int64()
        a = R.multiply(h, R.const(0.5, "float32"))
        return (R.greater(a, R.const(1.0, "float32")), a)
""")
    bb = relax.BlockBuilder(halve)
    c, h = var("c", (), "bool"), var("h", ())
    with bb.function("main", [c, h]):
        state = relax.Tuple([c, h])
        loop = R.loop(halve.get_global_var("halve"), state, trips=10, is_while=True)
        bb.emit_func_output(bb.emit(loop)[1])
    main = relax.build(bb.get(), check=True)["main"]
    assert main(np.array(True), np.float32(100)).numpy() == np.float32(100 / 128)
    assert main(np.array(True), np.float32(1 << 20)).numpy() == 1 << 10
    assert main(np.array(False), np.float32(100)).numpy() == 100


WRONG = [
    (lambda f, h, x: R.loop(f, (h,)), "expected trips, or a scanned tensor of known shape"),
    (lambda f, h, x: R.loop(f, (h, h), (x,)), "iteration, 2 carried, 1 scanned and 0 given"),
    (lambda f, h, x: R.loop(f, (h,), (x,), trips="i"), "expected scanned and stacked tensors of i"),
    (lambda f, h, x: R.loop(f, (h,), (x,), trips=-1), "expected a dim of at least 0, got -1"),
    (lambda f, h, x: R.loop(f, (h,), (x,), is_while=True), "as a while loop stacks nothing"),
    (lambda f, h, x: R.loop("step", (h,), (x,)), "expected a global variable, got str"),
    (lambda f, h, x: R.loop(relax.GlobalVar("f"), (h,), (x,)), "got a name alone"),
]


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_wrong_loops(module, make, message):
    """The operands stay without users."""
    h, x = var("h", ("i",)), var("x", ("m",))
    with pytest.raises((ValueError, TypeError, Diagnostic), match=message):
        make(module.get_global_var("step"), h, x)
    assert not list(h.ssa.uses) and not list(x.ssa.uses)


def test_a_loop_is_a_call(module):
    (binding,) = module["main"].body.blocks[0].bindings
    call = binding.value
    assert isinstance(call, relax.Call) and str(call.op) == "relax.loop"
    func, carried, scanned, given = call.args
    assert func == module.get_global_var("step")
    assert [list(map(str, group)) for group in (carried, scanned, given)] == [["h"], ["x"], []]
    assert str(call.attrs.trips) == "m" and call.attrs.is_while is False
    assert str(relax.Call(call.op, call.args, call.attrs)) == str(call)
    assert analysis.all_global_vars(module["main"]) == [func]


def test_visitors_see_the_function_and_the_operands(module):
    seen = []

    @relax.expr_functor.visitor
    class Order(relax.PyExprVisitor):
        def visit_global_var_(self, gvar):
            seen.append(gvar.name_hint)

        def visit_var_(self, var):
            seen.append(var.name_hint)

    Order().visit_expr(module["main"].body.blocks[0])
    assert seen == ["step", "h", "x"]


def test_mutators_rewrite_operands(module):
    """The result has the type of what is carried."""

    @relax.expr_functor.mutator
    class Longer(relax.PyExprMutator):
        def visit_var_(self, var):
            new = super().visit_var_(var)
            return R.concat([new, new], axis=0) if new.name_hint == "h" else new

    module["main"] = Longer(module).visit_expr(module["main"])
    assert "R.loop(step, (gv,), scanned=(x,), trips=m)" in module["main"].script()
    info = str(module["main"].ret_struct_info)
    assert info.startswith('R.Tuple(R.Tensor((i * 2,), dtype="float32")')
    a, b = np.arange(3, dtype=np.float32), np.array([1, 2], np.float32)
    found = relax.build(module, check=True)["main"](a, b)
    for got, wanted in zip(found, reference(np.tile(a, 2), b), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5)

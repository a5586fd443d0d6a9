"""Functions of `BlockBuilder` by the variables that they were built with, and analyses of parts."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, tir, topi
from xrelax.relax import analysis
from xrelax.script import from_source
from xrelax.script import relax as R


def built():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            total = builder.emit(R.add(x, x))
            result = builder.emit_output(relax.op.nn.relu(total))
        builder.emit_func_output(result)
    return builder, x, total, result


def test_values_of_a_built_function_are_the_variables_it_was_built_with():
    builder, x, total, result = built()
    for mod in (builder.get(), builder.finalize()):
        func = mod["main"]
        assert func.params == [x] and hash(func.params[0]) == hash(x)
        assert func.body.body == result
        assert analysis.udchain(func.body.blocks[0])[x] == [total, total]
    copy = relax.utils.copy_with_new_vars(func)
    assert copy.params != [x]
    tvm.ir.assert_structural_equal(copy, func)


def test_a_body_is_emitted_into_another_function():
    body = built()[0].finalize()["main"].body
    builder = relax.BlockBuilder()
    with builder.function("main", body.blocks[0].bindings[0].value.args[:0] or []):
        pass_through = builder.emit(constant_body(), "twice")
        builder.emit_func_output(relax.op.multiply(pass_through, pass_through))
    lines = analysis.bindings_of(builder.finalize()["main"])
    assert [str(line.value.op) for line in lines] == ["relax.add", "relax.multiply"]


def constant_body():
    builder = relax.BlockBuilder()
    with builder.function("main", []):
        builder.emit_func_output(builder.emit(relax.op.add(relax.const(1), relax.const(2)), "c"))
    return builder.finalize()["main"].body


FUNCTION = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    @R.function(pure=False)
    def inner(y: R.Tensor((4,), "float32")):
        R.print(y, format="{}")
        return y
    unused = R.add(x, x)
    R.print(x, format="{}")
    z = R.multiply(x, x)
    return z
"""


def test_analyses_of_bodies_and_local_functions():
    func = from_source(FUNCTION)
    body = func.body
    assert [v.name for v in analysis.free_vars(body)] == ["x"]
    assert [v.name for v in analysis.bound_vars(func)][:1] == ["x"]
    assert analysis.all_vars(relax.op.add(func.params[0], func.params[0])) == func.params
    (inner,) = [b.value for b in body.blocks[0].bindings if b.var.name == "inner"]
    assert isinstance(inner, relax.Function) and isinstance(inner, relax.expr.Expr)
    assert analysis.contains_impure_call(inner) and analysis.contains_impure_call(func)
    kept = [b.var.name for b in analysis.bindings_of(analysis.remove_all_unused(body))]
    assert "unused" not in kept and "z" in kept
    with pytest.raises(TypeError, match="expected a graph function or its body, got int"):
        analysis.remove_all_unused(4)
    assert analysis.well_formed(inner)


LOCAL = """
@R.function
def main(x: R.Tensor((4,), "float32")):
    @R.function
    def doubled(y: R.Tensor((4,), "float32")):
        unused = R.exp(y)
        z = R.add(y, y)
        return z

    @R.function
    def shifted(y: R.Tensor((4,), "float32")):
        return R.add(y, x)

    return shifted(doubled(x))
"""


def test_local_functions_are_functions():
    lines = {b.var.name: b.value for b in analysis.bindings_of(from_source(LOCAL))}
    doubled, shifted = lines["doubled"], lines["shifted"]
    assert isinstance(doubled, relax.Function) and doubled.name == "doubled"
    assert analysis.well_formed(doubled) and not analysis.well_formed(shifted)
    assert "R.exp" in doubled.script()
    shorter = analysis.remove_all_unused(doubled).with_attr("a", 1)
    assert "R.exp" not in shorter.script() and shorter.attrs["a"] == 1
    assert analysis.computable_at_compile_time(doubled) == analysis.all_global_vars(shifted) == []
    assert tvm.ir.structural_equal(shifted, shifted)
    assert "R.add(y, x)" in relax.utils.copy_with_new_vars(shifted).script(show_meta=True)
    np.testing.assert_array_equal(relax.build(doubled)(np.ones(4, "float32")).numpy(), 2)
    with pytest.raises(tvm.TVMError, match="expected 'x' to be defined in 'shifted'"):
        relax.build(shifted)


FORCED = """
@R.function(pure={pure})
def main(x: R.Tensor((4,), "float32")):
    R.func_attr({{"relax.force_pure": True}})
    R.print(x, format="{{}}")
    return x
"""


def test_a_function_may_be_forced_to_be_pure():
    func = from_source(FORCED.format(pure=True))
    assert func.is_pure and analysis.contains_impure_call(func)
    with pytest.raises(Exception, match=r"with relax\.force_pure to be declared pure"):
        from_source(FORCED.format(pure=False))


def test_calls_outside_of_scripts():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    call = R.call_dps_packed("f", x, out_sinfo=[R.Tensor((4,), "int8"), R.Tensor((2,), "int8")])
    assert isinstance(call.sinfo_args[0], relax.TupleStructInfo)
    assert str(R.call_packed("f", x, ty_args=R.Any).struct_info) == "R.Object"
    assert isinstance(R.prim_value(1), tir.IntImm) and isinstance(R.prim_value(1.0), tir.FloatImm)
    dims = relax.Var("dims", R.Tensor((2,), "int64"))
    assert str(R.tensor_to_shape(dims, (4, 4)).struct_info) == "R.Shape(ndim=2)"
    assert str(R.null_value().struct_info) == "R.Object"
    number = tir.FloatImm("float32", 1.0)
    assert relax.prim_value(number).same_as(number)
    with pytest.raises(TypeError, match="Cannot convert a Var to a number"):
        relax.prim_value(x)


def test_tensors_in_dictionaries_are_arguments_of_kernels():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        total = builder.emit_te(lambda args: topi.add(args["a"], args["b"]), {"a": x, "b": x})
        zeros = builder.emit_te(lambda: topi.full((4,), "float32", tir.IntImm("int64", 0)))
        builder.emit_func_output([total, zeros])
    mod = builder.finalize()
    assert [p.name for p in mod["T_add"].params] == ["A", "T_add"]
    assert "T.Cast" not in mod["T_full"].script()


def test_an_ill_formed_module_stays_so_in_passes():
    x = relax.Var("x", R.Tensor((), "int32"))
    lines = [relax.VarBinding(relax.Var("y"), relax.op.print(x, format="{}"))]
    func = relax.Function([x], relax.SeqExpr([relax.BindingBlock(lines)], x))
    mod = relax.transform.Normalize()(tvm.IRModule.from_expr(func))
    assert not relax.analysis.well_formed(mod)

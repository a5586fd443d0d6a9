"""Views: their kinds, identity, texts, and what becomes of views of erased operations."""

import gc

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, tir
from xrelax.dialects.relax import OperatorOp
from xrelax.script import from_source
from xrelax.script import relax as R

MODULE = from_source("""
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((2,), "float32"), Y: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.block("Y"):
                vi = T.axis.spatial(2, i)
                Y[vi] = X[vi] + X[vi]

    @R.function(private=True)
    def inner(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return R.nn.relu(a)

    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            lv0 = R.multiply(x, y)
            gv0 = R.add(lv0, R.const(2.0, "float32"))
            R.output(gv0)
        a = R.call_tir(cls.double, (gv0,), out_sinfo=R.Tensor((2,), dtype="float32"))
        b = cls.inner(a)
        c = R.call_dps_packed("env.f", (b, x), out_sinfo=R.Tensor((2,), dtype="float32"))
        return (c, (a, x))
""")
MAIN = MODULE["main"]
BLOCKS = MAIN.body.blocks
LINES = [b for block in BLOCKS for b in block.bindings]


def test_functions():
    assert type(MAIN) is relax.Function is relax.expr.Function
    assert [type(p).__name__ for p in MAIN.params] == ["Var", "Var"]
    assert [repr(p) for p in MAIN.params] == ["x", "y"]
    assert MAIN.is_pure and MAIN.attrs == {"global_symbol": "main", "Primitive": 1}
    assert str(MAIN.ret_struct_info).startswith("R.Tuple(R.Tensor((2,)")
    assert MAIN.struct_info.params == [p.struct_info for p in MAIN.params]
    assert MAIN == MODULE["main"] and hash(MAIN) == hash(MODULE["main"])


def test_parts_declare_their_free_variables():
    n = tir.Var("n", "int64")
    a, b, c = (relax.Var(k, relax.TensorStructInfo([n, 4], "float32")) for k in "abc")
    inner = relax.DataflowVar("d", b.struct_info)
    lines = [relax.VarBinding(inner, relax.op.sin(a)), relax.VarBinding(c, relax.op.sin(inner))]
    body = relax.SeqExpr([relax.DataflowBlock(lines)], relax.op.add(b, c))
    kind = 'R.Tensor((n, 4), dtype="float32")'
    text = [
        "with R.dataflow():",
        f"    d: {kind} = R.sin(a)",
        f"    c: {kind} = R.sin(d)",
        "    R.output(c)",
        "R.add(b, c)",
    ]
    declared = ["n = T.int64()", f"a: {kind}", f"b: {kind}"]
    assert body.script().splitlines() == text
    assert body.script(verbose_expr=True).splitlines() == declared + text
    assert a.struct_info.script(verbose_expr=True) == f"n = T.int64()\n{kind}"
    info = relax.FuncStructInfo([a.struct_info], b.struct_info)
    assert info.script(verbose_expr=True) == f"n = T.int64()\n{info}"
    cast = relax.MatchCast(b, a, ty=b.struct_info)
    assert str(cast) == f"b: {kind} = R.match_cast(a, {kind})"
    assert str(relax.op.sin(relax.Var("R", a.struct_info))) == "R.sin(R_1)"


def test_types_and_the_module_are_shown_as_asked():
    bare = MODULE.script(show_all_ty=False, module_alias="")
    assert "    lv0 = R.multiply(x, y)" in bare and "cls" not in bare
    assert from_source(bare).script() == MODULE.script()
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        MODULE.script(colour=True)


def test_blocks_and_bindings():
    assert [type(b) for b in BLOCKS] == [relax.DataflowBlock, relax.BindingBlock]
    assert repr(BLOCKS[0]).splitlines() == [
        "with R.dataflow():",
        '    lv0: R.Tensor((2,), dtype="float32") = R.multiply(x, y)',
        '    gv0: R.Tensor((2,), dtype="float32") = R.add(lv0, R.const(2.0, "float32"))',
        "    R.output(gv0)",
    ]
    assert BLOCKS == MAIN.body.blocks and BLOCKS[0] != BLOCKS[1]
    assert [type(line) for line in LINES] == [relax.VarBinding] * 6
    assert LINES[0] == MAIN.body.blocks[0].bindings[0] != LINES[1]
    assert [line.var.name_hint for line in LINES] == ["lv0", "gv0", "a", "b", "c", "gv"]
    assert [type(line.var) for line in LINES] == [relax.DataflowVar] + [relax.Var] * 5
    assert repr(LINES[0]) == 'lv0: R.Tensor((2,), dtype="float32") = R.multiply(x, y)'


def test_an_output_is_one_variable_inside_and_outside():
    inner, (outer,) = LINES[1].var, LINES[2].value.args[1].fields
    assert inner == outer and hash(inner) == hash(outer)
    assert {inner: 1}[outer] == 1


def test_calls():
    multiply, add, kernel, inner, packed, pair = (line.value for line in LINES)
    assert all(type(line.value) is relax.Call for line in LINES[:5])
    assert type(pair) is relax.Tuple and pair.fields == [LINES[2].var, MAIN.params[0]]
    assert multiply.op is tvm.ir.Op.get("relax.multiply") and multiply.args == MAIN.params
    assert add.args[0] == LINES[0].var and type(add.args[1]) is relax.Constant
    assert float(add.args[1].data.numpy()) == 2
    assert kernel.op.name == "relax.call_tir" and kernel.args[0] == tvm.ir.GlobalVar("double")
    assert kernel.sinfo_args == [LINES[2].var.struct_info]
    assert inner.op == tvm.ir.GlobalVar("inner") and inner.op.function == MODULE["inner"]
    assert packed.args[0] == relax.ExternFunc("env.f")
    assert packed.args[1].fields == [LINES[3].var, MAIN.params[0]]
    assert repr(multiply) == "R.multiply(x, y)" and repr(LINES[0].var) == "lv0"


def test_results():
    result = MAIN.body.body
    assert type(result) is relax.Tuple and result.fields[0] == LINES[4].var
    assert result.fields[1] == LINES[5].var and repr(result) == "(c, gv)"
    assert relax.Function is type(MODULE["inner"])
    assert isinstance(MODULE["inner"].body.body, relax.Var)


def test_attributes_of_calls():
    x = relax.Var("x", R.Tensor((2, 3, 4), "float32"))
    call = relax.op.permute_dims(x, [2, 0, 1])
    assert call.attrs.axes == (2, 0, 1) == call.attrs["axes"] and dict(call.attrs) == call.attrs
    with pytest.raises(AttributeError, match="expected an attribute"):
        call.attrs.axis
    again = relax.Call(call.op, call.args, call.attrs)
    assert again != call and str(again) == str(call)


def test_a_value_has_one_identity():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    call = x + 1.0
    assert call.args[0] == x and call.args[0] is not x
    assert call.same_as(call) and not call.same_as(x)
    assert call != x + 1.0
    assert len({x, call.args[0], call}) == 2


def test_arithmetic():
    x = relax.Var("x", R.Tensor((2, 2), "float16"))
    text = str(((1 + x) * x - 2) / x @ x)
    assert text == (
        'R.matmul(R.divide(R.subtract(R.multiply(R.add(R.const(1.0, "float16"), x), x), '
        'R.const(2.0, "float16")), x), x)'
    )
    assert str(2 - x) == 'R.subtract(R.const(2.0, "float16"), x)'
    assert (x + np.ones((2, 2), "float16")).args[1].struct_info.dtype == "float16"


def test_tuples_and_their_fields():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    t = relax.Tuple([x, x + 1.0])
    assert len(t) == 2 and t.fields[0] == x
    assert t[1] == t[-1] == t.fields[1]
    field = relax.TupleGetItem(t, 1)
    assert type(field) is relax.TupleGetItem and (field.tuple_value, field.index) == (t, 1)
    assert str(field) == '(x, R.add(x, R.const(1.0, "float32")))[1]'
    with pytest.raises(IndexError, match="expected a field of 2, got 2"):
        t[2]
    with pytest.raises(TypeError, match="expected a tuple, got R"):
        x[0]
    with pytest.raises(TypeError, match="expected a tuple"):
        list(x)


def test_shapes_and_numbers():
    n = tir.Var("n", "int64")
    shape = relax.ShapeExpr([n, n * 4, 3])
    assert [str(d) for d in shape.values] == ["n", "n * 4", "3"]
    assert shape.struct_info == relax.ShapeStructInfo((n, "n * 4", 3))
    value = relax.PrimValue(n + 1)
    assert str(value.value) == "n + 1" and value.struct_info.dtype == "int64"
    assert str(relax.PrimValue(3).value) == "3"


def test_a_view_of_an_erased_operation_raises():
    mod = MODULE.clone()
    line = mod["main"].body.blocks[1].bindings[2]
    packed, var = line.value, line.var
    op = packed.ssa.owner
    var.ssa.replace_all_uses_with(packed.args[1].fields[0].ssa)
    op.detach()
    op.erase()
    for use in (lambda: packed.struct_info, lambda: packed.args, lambda: var.struct_info):
        with pytest.raises(ValueError, match="got 'c', which was erased") as error:
            use()
        assert "\n" not in str(error.value)


def uses(value):
    return len(list(value.borrowed.uses))


def test_expressions_without_users_are_erased():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    held = x + 1.0
    x + held
    assert uses(x) == 1 and uses(held) == 0
    chain = relax.op.nn.relu(relax.op.nn.relu(held))
    assert uses(held) == 1
    inner = chain.args[0]
    del chain
    assert uses(inner) == 0 and uses(held) == 1
    del inner
    gc.collect()
    assert uses(held) == 0 and held.args[0] == x


def test_operations_that_were_taken_out_of_a_view_stay():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    op = (x + 1.0).ssa.owner
    gc.collect()
    assert isinstance(op, OperatorOp) and uses(x) == 1
    assert str(relax.Expr(op.results[0])) == 'R.add(x, R.const(1.0, "float32"))'


CALL_ERRORS = {
    "shapes": (
        lambda x, y: relax.op.add(x, y),
        r"expected shapes of 'relax.add' to broadcast, got \(2, 3\) and \(4,\)",
    ),
    "dtypes": (
        lambda x, y: relax.op.add(x, relax.const(1, "int32")),
        "expected operands of 'relax.add' to have one dtype, got float32 and int32",
    ),
    "count": (
        lambda x, y: relax.Call(tvm.ir.Op.get("relax.nn.relu"), []),
        "expected 1 operands of 'relax.nn.relu', got 0",
    ),
    "no expression": (
        lambda x, y: relax.op.nn.relu("x"),
        "expected an expression, an array or a number, got str",
    ),
    "no callee": (
        lambda x, y: relax.Call(3, [x]),
        "expected an operator, a global variable or an external function to call, got int",
    ),
    "only a name": (
        lambda x, y: relax.Call(tvm.ir.GlobalVar("f"), [x]),
        "expected 'f' to be a graph function of a module, got a name alone",
    ),
    "a PrimFunc": (
        lambda x, y: relax.Call(MODULE.get_global_var("double"), [x]),
        "expected 'double' to be a graph function of a module, got a PrimFunc: use call_tir",
    ),
    "arguments of a function": (
        lambda x, y: relax.Call(MODULE.get_global_var("inner"), [x]),
        r"call of 'inner': expected argument 'a' to have rank 1, got 2 \(shape \(2, 3\)\)",
    ),
    "number of arguments": (
        lambda x, y: relax.Call(MODULE.get_global_var("inner"), [x, y]),
        r"'inner' expects 1 argument \(a\), got 2",
    ),
    "arguments of a kernel": (
        lambda x, y: relax.op.call_tir(
            MODULE.get_global_var("double"), (y,), R.Tensor((4,), "float32")
        ),
        r"call of 'double': expected argument 'X' to have shape \(2,\), got \(4,\)",
    ),
    "no type": (
        lambda x, y: relax.op.call_dps_packed("f", (x,)),
        "expected out_sinfo, the type of the result, got none",
    ),
    "keyword": (
        lambda x, y: relax.op.call_dps_packed("f", (x,), R.Tensor((4,), "float32"), dtypes="int8"),
        "expected out_sinfo, out_ty, or shape and dtype, got 'dtypes'",
    ),
    "operator": (
        lambda x, y: tvm.ir.Op.get("relax.multply"),
        "expected an operator of the graph, got 'relax.multply', did you mean 'relax.multiply'",
    ),
}


@pytest.mark.parametrize(("make", "message"), CALL_ERRORS.values(), ids=CALL_ERRORS)
def test_ill_typed_calls(make, message):
    x = relax.Var("x", R.Tensor((2, 3), "float32"))
    y = relax.Var("y", R.Tensor((4,), "float32"))
    with pytest.raises(Exception, match=message) as error:
        make(x, y)
    assert "\n" not in str(error.value)
    del error
    gc.collect()
    assert uses(x) == uses(y) == 0


def test_unknown_names_of_operators():
    with pytest.raises(AttributeError, match=r"got 'relax\.op\.matmull', did you mean 'matmul'"):
        relax.op.matmull
    assert not hasattr(relax.op, "nothing") and "matmul" in dir(relax.op)


def test_calls_of_functions_infer_their_type():
    x = relax.Var("x", R.Tensor(("m",), "float32"))
    called = MODULE.get_global_var("inner")(x)
    assert str(called.struct_info) == 'R.Tensor((m,), dtype="float32")'
    unknown = relax.Var("u", R.Tensor("float32", ndim=1))
    assert str(called.op(unknown).struct_info) == 'R.Tensor(dtype="float32", ndim=1)'


def test_a_call_outside_of_a_module_knows_its_function():
    class Again(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            if isinstance(call.op, tvm.ir.GlobalVar):
                assert call.op.struct_info == MODULE["inner"].struct_info
                return relax.Call(call.op, call.args, call.attrs, call.sinfo_args)
            return call

    assert Again().visit_expr(MAIN).script() == MAIN.script()


def test_operators_are_interned():
    add = tvm.ir.Op.get("relax.add")
    assert add is tvm.ir.Op.get("relax.add") and {add: 1}[tvm.ir.Op.get("relax.add")] == 1
    assert str(add) == "relax.add" and "relax.nn.relu" in tvm.ir.Op.list_op_names()
    x = relax.Var("x", R.Tensor((2,), "float32"))
    assert add(x, x).op is add
    assert relax.op.call_tir(tvm.ir.GlobalVar("f"), [x], R.Tensor((3,), "float32")).op != add


def test_older_forms_of_calls():
    x, f = relax.Var("x", R.Tensor((2,), "float32")), tvm.ir.GlobalVar("f")
    forms = [
        relax.call_tir(f, (x,), (3,), dtype="float32"),
        relax.op.call_tir(f, [x], out_ty=R.Tensor((3,), "float32")),
        relax.op.call_tir(f, relax.Tuple([x]), out_sinfo=[R.Tensor((3,), "float32")]),
        relax.Call(
            tvm.ir.Op.get("relax.call_tir"),
            [f, relax.Tuple([x])],
            sinfo_args=[R.Tensor((3,), "float32")],
        ),
    ]
    assert {str(c) for c in forms} == {
        'R.call_tir(f, (x,), out_sinfo=R.Tensor((3,), dtype="float32"))'
    }
    pair = relax.op.call_dps_packed("g", x, [R.Tensor((3,), "float32"), R.Tensor((), "int32")])
    assert len(pair) == 2


def test_a_module_of_a_function_and_others():
    double = from_source('@R.function\ndef double(x: R.Tensor((2,), "float32")):\n    return x + x')

    def names(function):
        module = tvm.IRModule.from_expr(function, {"double": double, "main": double})
        return [v.name_hint for v in module.get_global_vars()]

    assert names(double) == ["double", "main"]
    assert names(MODULE["inner"]) == ["double", "main", "main_1"]


def test_functions_are_removed_and_merged():
    double = from_source('@R.function\ndef double(x: R.Tensor((2,), "float32")):\n    return x + x')
    module = tvm.IRModule({"first": double, "second": double})
    var = module.get_global_var("first")
    assert var.same_as(module.get_global_vars()[0]) and not var.same_as(relax.GlobalVar("second"))
    del module[var]
    assert [v.name_hint for v in module] == ["second"]
    with pytest.raises(ValueError, match="expected a function of the module"):
        del module["first"]
    other = tvm.IRModule({"second": double, "third": double}).with_attr("size", 4)
    module.update(other)
    module.update({"fourth": double})
    assert [v.name_hint for v in module] == ["second", "third", "fourth"]
    assert module["third"] != other["third"]
    assert other.get_attr("size") == 4 and module.get_attr("size") is None
    assert relax.extern("f").same_as(relax.ExternFunc("f"))

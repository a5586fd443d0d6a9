"""Graph functions made of blocks, bindings and values, and calls replaced by bodies."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, tir
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.ir import assert_structural_equal
from xrelax.script import from_source

T4 = relax.TensorStructInfo((4,), "float32")


def test_a_function_of_blocks():
    x, lv, y, z = (
        kind(n, T4)
        for n, kind in zip("abcd", [relax.Var, relax.DataflowVar] + [relax.Var] * 2, strict=True)
    )
    inner = relax.DataflowBlock(
        [relax.VarBinding(lv, relax.op.exp(x)), relax.VarBinding(y, relax.op.add(lv, x))]
    )
    outer = relax.BindingBlock([relax.MatchCast(z, y, T4)])
    body = relax.SeqExpr([inner, outer], z)
    assert body.blocks == [inner, outer] and body.body == z and inner.bindings[0].var == lv
    func = relax.Function([x], body, attrs={"global_symbol": "main"})
    assert_structural_equal(
        func,
        from_source("""
@R.function
def main(a: R.Tensor((4,), "float32")):
    R.func_attr({"global_symbol": "main"})
    with R.dataflow():
        b = R.exp(a)
        c = R.add(b, a)
        R.output(c)
    d = R.match_cast(c, R.Tensor((4,), "float32"))
    return d
"""),
    )
    assert relax.analysis.well_formed(func)
    values = np.arange(4, dtype="float32")
    np.testing.assert_allclose(relax.build(func)(values).numpy(), np.exp(values) + values, 1e-6)


def test_a_constant_that_a_dataflow_block_gives_is_a_binding():
    func = from_source("""
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        y = R.add(x, R.const(1.0, "float32"))
        z = R.const(3, "int64")
        R.output(y, z)
    return (y, z)
""")
    block = func.body.blocks[0]
    first, second = block.bindings
    assert isinstance(second.var, relax.Var) and not isinstance(second.var, relax.DataflowVar)
    assert (second.var.name_hint, second.value.data.numpy()) == ("z", 3)
    assert str(second) == 'z: R.Tensor((), dtype="int64") = R.const(3, "int64")'
    assert first.value.args[1].data.numpy() == 1
    again = relax.Function(func.params, func.body, func.ret_struct_info)
    assert_structural_equal(again, func)
    shared = from_source("""
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        lv = R.const(3, "int64")
        gv = lv
        R.output(gv)
    return gv
""")
    assert [str(b.value) for b in shared.body.blocks[0].bindings] == ['R.const(3, "int64")']


def test_branches_and_nested_functions():
    c, x, r = (
        relax.Var("c", relax.TensorStructInfo((), "bool")),
        relax.Var("x", T4),
        relax.Var("r", T4),
    )
    y, a, f = relax.Var("y", T4), relax.Var("a", T4), relax.Var("f")
    then = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, relax.op.exp(x))])], y)
    choice = relax.BindingBlock([relax.VarBinding(r, relax.If(c, then, x))])
    func = relax.Function([c, x], relax.SeqExpr([choice], r), T4)
    assert relax.analysis.well_formed(func) and str(func.ret_struct_info) == str(T4)
    values = np.ones(4, "float32")
    np.testing.assert_allclose(
        relax.build(func)(np.array(True), values).numpy(), np.exp(values), 1e-6
    )
    nested = relax.Function([a], relax.op.add(a, x), T4)
    block = relax.BindingBlock([relax.VarBinding(f, nested)])
    assert relax.analysis.well_formed(relax.Function([x], relax.SeqExpr([block], x)))
    assert not relax.analysis.well_formed(nested)  # x is not bound


def test_a_body_is_emitted_into_a_function():
    x, y = relax.Var("x", T4), relax.Var("y", T4)
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, relax.op.exp(x))])], y)
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.add(bb.emit(body), x)))
    assert 'y: R.Tensor((4,), dtype="float32") = R.exp(x)' in bb.finalize().script()


def test_what_parts_refuse():
    x = relax.Var("x", T4)
    with pytest.raises(TypeError, match="expected a value at the end of the blocks, got None"):
        relax.SeqExpr([])
    with pytest.raises(TypeError, match="not both"):
        relax.Var("x", name="y")
    with pytest.raises(TypeError, match="expected the name of a variable, got None"):
        relax.Var()
    with pytest.raises(IndexError, match="ShapeExpr index out of range: expected one of 2 dims"):
        relax.ShapeExpr([1, 2])[2]
    pair = relax.Tuple([x, x])
    assert pair[-1] == x
    with pytest.raises(IndexError, match="Tuple index out of range: expected a field of 2, got 2"):
        pair[2]


CALLS = """
@I.ir_module
class Module:
    @R.function(private=True)
    def twice(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        b = R.add(a, a)
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Shape(["k"])) -> R.Tensor((4,), "float32"):
        y = Module.twice(x)
        z = Module.twice(y)
        return z
"""


def test_calls_are_inlined():
    module = from_source(CALLS)
    gv = module.get_global_var("twice")
    expected = from_source("""
@R.function
def main(x: R.Tensor((4,), "float32"), s: R.Shape(["k"])) -> R.Tensor((4,), "float32"):
    y = R.add(x, x)
    z = R.add(y, y)
    return z
""")
    for key in (gv, "twice"):
        assert_structural_equal(module["main"].inline_functions({key: module[gv]}), expected)
    with pytest.raises(ValueError, match="expected each function once, got"):
        module["main"].inline_functions({gv: module[gv], "twice": module[gv]})


def test_recursive_functions_are_found_and_not_inlined():
    module = from_source("""
@I.ir_module
class Module:
    @R.function
    def a(x: R.Object) -> R.Object:
        return Module.b(x)

    @R.function
    def b(x: R.Object) -> R.Object:
        return Module.a(x)

    @R.function
    def main(x: R.Object) -> R.Object:
        return Module.a(x)
""")
    (group,) = relax.analysis.detect_recursion(module)
    assert [gv.name_hint for gv in group] == ["a", "b"]
    with pytest.raises(Exception, match="expected functions that do not call themselves, got 'a'"):
        module["main"].inline_functions({n: module[n] for n in "ab"})


def test_parameters_are_bound():
    func = from_source(CALLS)["main"]
    bound = func.bind_params({func.params[0]: np.zeros(4, "float32"), "s": relax.ShapeExpr([3])})
    assert bound.params == []
    with pytest.raises(RuntimeError, match="expected a parameter of 'main'"):
        func.bind_params({"w": np.zeros(4, "float32")})


NUMBERS = [("float32", 1.5), ("float64", 0.1), ("int32", -7), ("int8", 3), ("bool", True)]


@pytest.mark.parametrize(("dtype", "number"), NUMBERS)
@pytest.mark.parametrize("form", ["Python", "literal", "NumPy", "array", "constant"])
def test_numbers_are_bound(dtype, number, form):
    func = from_source(f"""
@R.function
def main(x: R.Tensor((2,), "float32"), a: R.Prim("{dtype}"), b: R.Prim("{dtype}")):
    return (x, a)
""")
    value = {
        "Python": number,
        "literal": tir.const(number, dtype),
        "NumPy": np.dtype(dtype).type(number),
        "array": np.array(number, dtype),
        "constant": relax.const(number, dtype),
    }[form]
    bound = func.bind_params({"a": value, "b": value})
    module = tvm.IRModule({"main": func})
    by_pass = relax.transform.BindParams("main", {"a": value, 2: value})(module)
    assert_structural_equal(by_pass["main"], bound)
    assert [p.name_hint for p in bound.params] == ["x"]
    assert_structural_equal(from_source(bound.script()), bound)
    _, result = relax.build(bound)(np.zeros(2, "float32"))
    assert result == np.dtype(dtype).type(number)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (300, "parameter 'a': expected numbers of int8, got 300"),
        (1.5, "parameter 'a': expected numbers of int8, got 1.5"),
        (tir.const(3, "int32"), "expected argument 'a' to have type !relax.prim<i8>, got .*<i32>"),
        (np.float32(3), "expected argument 'a' to have type !relax.prim<i8>, got !relax.prim<f32>"),
        (np.ones(2, "int8"), "expected argument 'a' to have type !relax.prim<i8>, got !relax.tens"),
    ],
)
def test_numbers_of_another_dtype(value, message):
    func = from_source("@R.function\ndef main(a: R.Prim('int8')):\n  return a")
    with pytest.raises((Diagnostic, ValueError), match=message):
        func.bind_params({"a": value})


def test_a_module_may_be_left_unverified():
    import xrelax as tvm
    from xrelax.script import ir as I
    from xrelax.script import relax as R
    from xrelax.script import tir as T

    @I.ir_module(check_well_formed=False)
    class Wrong:
        @T.prim_func
        def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi]

        @R.function
        def main(x: R.Tensor((5,), "float32")):
            y = R.call_tir(Wrong.f, (x,), out_sinfo=R.Tensor((4,), "float32"))
            return y

    assert isinstance(Wrong, tvm.IRModule) and not relax.analysis.well_formed(Wrong)


def test_symbols_are_bound_to_expressions():
    func = from_source("""
@R.function
def main(x: R.Tensor(("n", "m"), "float32")):
    return R.exp(x)
""")
    k = tir.Var("k", "int64")
    bound = func.bind_symbolic_vars({"n": k * 2, tir.Var("m", "int64"): k})
    assert [str(d) for d in bound.params[0].shape] == ["k * 2", "k"]
    assert relax.build(bound)(np.zeros((6, 3), "float32")).shape == (6, 3)
    for wrong, message in (
        ({"n": k * 2}, "symbol 'k' is not determined"),
        ({"n": 1, tir.Var("n", "int64"): 1}, "expected each symbol once, got n, n"),
        ({"n": -1}, "to be at least 0, got -1"),
    ):
        with pytest.raises(RuntimeError, match=message):
            func.bind_symbolic_vars(wrong)


def test_an_integer_variable_is_a_dim():
    """It is the symbol of its name, and keeps its identity; binding it binds the symbol."""
    n = relax.Var("n", relax.PrimStructInfo("int64"))
    known = {n: "n"}
    data = relax.Var("data", relax.TensorStructInfo([n, 2], "float32"))
    func = relax.Function([n, data], n, relax.PrimStructInfo("int64"))
    assert known[n] == "n" and 'data: R.Tensor(("n", 2), dtype="float32")' in func.script()
    for value in (3, tir.const(3, "int64")):
        bound = func.bind_params({n: value, data: np.zeros((3, 2), "float32")})
        assert not bound.params and "R.prim_value(3)" in bound.script()
    with pytest.raises(Diagnostic, match="got 4 as a dim, and 3 as a value"):
        func.bind_params({n: 3, data: np.zeros((4, 2), "float32")})
    with pytest.raises(TypeError, match="expected a dim to be a number, a symbol or a string"):
        relax.TensorStructInfo([relax.Var("x", relax.PrimStructInfo("float32"))], "float32")

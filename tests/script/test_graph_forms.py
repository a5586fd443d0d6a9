"""Graph functions: macros, effects in branches, types that say more, integers as dims."""

from typing import TypeVar

import numpy as np
import pytest

import xrelax
from xrelax.script import ScriptError, from_source
from xrelax.script import relax as R
from xrelax.script import tir as T


@R.macro
def scaled(value, factor: float):
    product = R.multiply(value, R.const(factor, "float32"))
    total = R.add(product, R.const(1, "float32"))
    return total


def test_macros_have_values_and_variables_of_their_own():
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        total = scaled(x, 3)
        return scaled(R.add(total, x), factor=0.5)

    x = np.array([1, -2], "float32")
    vm = xrelax.relax.VirtualMachine(xrelax.compile(xrelax.IRModule({"main": main})), xrelax.cpu())
    result = vm["main"](xrelax.nd.array(x)).numpy()
    np.testing.assert_allclose(result, ((x * 3 + 1) + x) * 0.5 + 1)


def test_calls_by_the_name_of_an_operator():
    text = """
@R.function
def main(x: R.Tensor((2,), "float32")):
    return {}
"""
    types = '(R.Tensor((2,), "float32"),)'
    named = from_source(text.format(f'R.emit_with_ty("relax.nn.relu", (x,), {types})'))
    assert named.script() == from_source(text.format("R.nn.relu(x)")).script()
    with pytest.raises(
        ScriptError, match=r"expected R.emit_with_ty\(name, \(arguments\), \(types\)\)"
    ):
        from_source(text.format('R.emit_with_ty("relax.nn.relu", x)'))


@pytest.mark.parametrize(
    ("sugared", "plain"),
    [
        ("-x", "R.negative(x)"),
        ("t[1]", "R.TupleGetItem(t, 1)"),
        ("-(t[0] + x)", "R.negative(R.add(t[0], x))"),
    ],
)
def test_arguments_of_macros(sugared, plain):
    def parsed(argument):
        return from_source(
            "@R.function\ndef main(x: R.Tensor((2,), 'float32'), t: R.Tuple(R.Tensor((2,), "
            "'float32'), R.Tensor((2,), 'float32'))):\n"
            f"    y = scaled({argument}, 1 + 1)\n    return y",
            {"scaled": scaled},
        )

    xrelax.ir.assert_structural_equal(parsed(sugared), parsed(plain))


FORMS = """
@R.function(pure=False)
def main(n: R.Prim("int64"), x: R.Tensor(["n"], "float32"), t: R.Tensor, c: R.Tensor((), "bool")):
    if c:
        R.print(x, format="yes {}")
    else:
        R.print(x, format="no {}")
    f = R.ExternFunc("f")
    f(x, 3)
    R.ExternFunc("g")(x, 0.5)
    y = R.call_dps_packed(f, (x,), out_ty=R.Tensor((n,), "float32"))
    z: R.Tensor((n,), "float32") = R.add(t, t)
    w = R.zeros(R.shape([n]), "float32")
    a = R.builtin.alloc_tensor(R.shape([n]), dtype="float32", runtime_device_index=0)
    with R.dataflow():
        s = R.add(y, z)
        return R.add(s, a)
"""


def test_forms_print_and_parse():
    text = from_source(FORMS).script()
    for part in (
        'def main(n: R.Prim("int64"), x: R.Tensor(("n",), dtype="float32")',
        'gv: R.Tuple = R.print(x, format=R.str("yes {}"))',
        'R.call_packed("f", x, gv1)',
        'R.call_packed("g", x, gv2)',
        'R.call_dps_packed("f", (x,)',
        'z: R.Tensor((n,), dtype="float32") = R.match_cast(gv3, ',
        "R.output(lv)",
    ):
        assert part in text
    assert "n = T.int64()" not in text
    assert from_source(text).script() == text


@pytest.mark.parametrize(
    "parameters, statement, message",
    [
        ("x: R.Tensor([4])", "y: R.Tensor(4) = x", "expected a tuple of dims, got 4"),
        ('x: R.Tensor(("n",))', "n = T.int32()", r"expected T.int64\(\) for a symbol"),
        ('n: R.Prim("int32"), x: R.Tensor(["n"])', "pass", "'n', which is a dim, to be int64"),
        ('x: R.Tensor(["n"]), n: R.Prim("int64")', "pass", "expected 'n' before the shapes"),
        ("x: R.Tensor", "y = nothing(x)", "a macro that ends with 'return value'"),
        ("x: R.Tensor", "y = scaled(x)", "macro: missing a required argument: 'factor'"),
    ],
)
def test_errors(parameters, statement, message):
    text = f"@R.function\ndef main({parameters}):\n    {statement}\n    return x\n"

    @T.inline
    def nothing(value):
        T.evaluate(value)

    with pytest.raises(ScriptError, match=message):
        from_source(text, {"scaled": scaled, "nothing": nothing})


def test_text_without_syntax_sugar(capsys):
    @T.prim_func
    def double(X: T.Buffer((4, 8)), Y: T.Buffer((4, 8))):
        for i, j in T.grid(4, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    text = double.script(syntax_sugar=False, indent_spaces=2)
    assert "  for i in range(4):\n    for j in range(8):\n" in text
    assert "        vi = T.axis.spatial(4, i)\n        vj = T.axis.spatial(8, j)\n" in text
    assert from_source(text).script() == double.script()
    xrelax.IRModule({"double": double}).show("ansi", syntax_sugar=False)
    assert "grid" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="indent_spaces of at least 1, got 0"):
        double.script(indent_spaces=0)


def test_annotations_in_variables_of_python():
    known = xrelax.relax.TensorStructInfo((4,), "float32")

    @R.function
    def main(x: known, y: R.Object):
        return R.match_cast(y, known)

    assert str(main.params[0].struct_info) == str(main.ret_struct_info) == str(known)


def test_calls_of_registered_functions_outside_of_scripts():
    x = xrelax.relax.Var("x", R.Tensor((4,), "float32"))
    call = R.call_pure_packed("f", x, ty_args=R.Tensor((4,), "float32"))
    assert str(call.struct_info) == 'R.Tensor((4,), dtype="float32")'
    untyped = xrelax.relax.Call(xrelax.relax.ExternFunc("f"), (x,), None, ty_args=[])
    assert str(untyped.struct_info) == "R.Object"


CONDITIONS = """
@R.function(pure=False)
def main(x: R.Tensor(["N"], "float32")):
    N = T.int64()
    y = R.print(x, format="{}")
    _ = R.assert_op(N % 16 == 0, format="expected whole rows")
    if N < 64:
        z = R.call_pure_packed("script.same", x, ty_args=[x.ty])
    else:
        z: x.struct_info = R.multiply(x, x)
    return z
"""


def test_conditions_over_symbols_and_types_of_values():
    function = from_source(CONDITIONS)
    text = function.script()
    assert '\n    R.print(x, format=R.str("{}"))\n' in text
    assert text.count('sinfo_args=(R.Tensor((N,), dtype="float32"),)') == 1
    xrelax.ir.assert_structural_equal(from_source(text), function)
    xrelax.register_global_func("script.same", lambda x: x, override=True)
    compiled = xrelax.relax.build(function)
    for size, factor in ((32, 1), (64, 2)):
        x = np.full(size, 2, "float32")
        np.testing.assert_array_equal(compiled(x).numpy(), x * factor)
    with pytest.raises(AssertionError, match="expected whole rows"):
        compiled(np.ones(33, "float32"))


N = TypeVar("N")


def test_symbols_are_type_variables():
    @R.function
    def main(x: R.Tensor((N, "N * 2"), "float32")) -> R.Tensor((N, "N * 2"), "float32"):
        return x

    @T.prim_func
    def first(x: T.Buffer((N, "N * 2"), "float32"), y: T.Buffer((N,), "float32")):
        for i in range(N):
            y[i] = x[i, 0]

    assert main.params[0].struct_info == R.Tensor(("N", "N * 2"), "float32")
    text = f'N = TypeVar("N")\n{first.script()}'.replace("    N = T.int64()\n", "")
    assert ", (N, N * 2))" in text and from_source(text).script() == first.script()

"""Calls in scripts: numbers as arguments, other names of functions, fields, and what is refused."""

import numpy as np
import pytest

import xrelax
from xrelax import relax, tir
from xrelax.ir import assert_structural_equal
from xrelax.script import ScriptError, from_source
from xrelax.script import relax as R
from xrelax.script import tir as T

KERNEL = """
@I.ir_module
class Module:
    @T.prim_func
    def fill(n: T.int64, x: T.handle):
        A = T.match_buffer(x, (n,))
        for i in range(n):
            with T.block("A"):
                vi = T.axis.spatial(n, i)
                A[vi] = T.float32(1)

    @R.function(private=True)
    def twice(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(a, a)

    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        {}
        return y
"""


@pytest.mark.parametrize(
    ("sugared", "plain"),
    [
        (
            "y = R.call_tir(Module.fill, (n,), out_sinfo=R.Tensor((n,), 'float32'))",
            "y = R.call_tir(Module.fill, (), out_sinfo=R.Tensor((n,), 'float32'), tir_vars=[n])",
        ),
        (
            "y = R.call_dps_packed('f', R.tuple(x), R.Tensor((n,), 'float32'))",
            "y = R.call_dps_packed('f', (x,), R.Tensor((n,), 'float32'))",
        ),
        (
            "y = R.strided_slice(x, (R.prim_value(0),), (R.prim_value(1),), (R.prim_value(3),))",
            "y = R.strided_slice(x, [0], [1], [3])",
        ),
        ("y = R.concat(R.tuple(x, x))", "y = R.concat((x, x))"),
        ("y = R.matmul(x, x, out_dtype='float32')", "y = R.matmul(x, x)"),
        ("f = Module.twice; y = f(x)", "y = Module.twice(x)"),
        ("t = (x, x); y = R.TupleGetItem(t, 1)", "t = (x, x); y = t[1]"),
        ("y = R.astype(x, R.dtype('float16'))", "y = R.astype(x, 'float16')"),
        ("y = R.matmul(x, x, out_dtype=R.str('float32'))", "y = R.matmul(x, x)"),
        ("y = R.ShapeExpr([n, 4])", "y = R.shape([n, 4])"),
        (
            "y = R.call_pure_packed('f', [x], 1, sinfo_args=R.Tensor((4,), 'float32'))",
            "y = R.call_pure_packed('f', (x,), R.prim_value(1), "
            "sinfo_args=R.Tensor((4,), 'float32'))",
        ),
        (
            "y = R.call_pure_packed('f', 0.5, T.int32(2), sinfo_args=R.Object)",
            "a = R.prim_value(T.float64(0.5)); b: R.Prim('int32') = 2; "
            "y = R.call_pure_packed('f', a, b, sinfo_args=R.Object)",
        ),
        (
            "y = R.call_dps_packed('f', (x, True, -2), R.Tensor((n,), 'float32'))",
            "y = R.call_dps_packed('f', (x, R.prim_value(True), R.prim_value(-2)), "
            "R.Tensor((n,), 'float32'))",
        ),
        (
            "y = R.call_dps_packed('f', (-x,), R.Tensor((n,), 'float32'))",
            "y = R.call_dps_packed('f', (R.negative(x),), R.Tensor((n,), 'float32'))",
        ),
        ("n: R.Prim('int64') = T.int64(); y = R.shape([n])", "y = R.shape([n])"),
        ("m = I.meta_var(n); y = R.shape([T.meta_var(m)])", "y = R.shape([n])"),
        ("z: R.Tensor(s, 'float32') = R.zeros(s, 'float32'); y = z", "y = R.zeros(s, 'float32')"),
    ],
)
def test_forms_of_calls(sugared, plain):
    def parsed(text):
        return from_source(KERNEL.format(text.replace("; ", "\n        ")))

    assert_structural_equal(parsed(sugared), parsed(plain))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("R.add(x, x); y = x", "expected a variable for the value of 'R.add"),
        ("R.func_attr({'global_symbol': 'main'}); y = x", "expected a private function without"),
        ("y = R.null_value(1)", r"expected R.null_value\(\) without arguments"),
        ("y = R.TupleGetItem(x)", "expected R.TupleGetItem"),
        (
            "y = R.shape_to_tensor(x)",
            "to be a tuple of ints or expressions of symbols, got !relax.tensor",
        ),
        ("y = R.prim_value(x)", "expected a number or an integer over symbols, got 'x'"),
        ("y: R.Prim('int8') = 400", "expected numbers of int8, got 400"),
        ("y: R.Prim('float32') = T.int64()", "expected a symbol to be an int64 scalar, got "),
        ("y: R.Prim('bool') = not c", "expected a number, got 'c', a value of the graph"),
        ("y = R.prim_value(c == 1)", "expected a number, got 'c', a value of the graph"),
        ("y = R.prim_value(1 if c else 2)", "expected a number, got 'c', a value of the graph"),
        ("y = R.call_pure_packed('f', not c, sinfo_args=R.Object)", "expected a number, got 'c'"),
    ],
)
def test_what_calls_refuse(line, message):
    text = f"""
@R.function(private=True)
def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
    {line.replace("; ", chr(10) + "    ")}
    return y
"""
    with pytest.raises(ScriptError, match=message):
        from_source(text)


def test_functions_of_python_are_called_by_their_names():
    module = from_source(KERNEL.format("y = x"))
    twice, fill = module.get_global_var("twice"), module.get_global_var("fill")

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(fill, (4,), out_sinfo=R.Tensor((4,), "float32"))
        return R.add(twice(x), y)

    module["main"] = main
    assert relax.build(module)["main"](np.ones(4, "float32")).numpy().tolist() == [3] * 4


def test_numbers_of_registered_functions():
    given = []

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        size: R.Prim("float16") = 1.5
        R.call_packed("tests.numbers", 0.1, 3, True, T.float32(0.5), size)
        return x

    assert from_source(main.script()).script() == main.script()
    xrelax.register_global_func("tests.numbers", lambda *args: given.extend(args), override=True)
    relax.build(main, check=False)(np.ones(2, "float32"))
    assert given == [0.1, 3, True, 0.5, 1.5] and isinstance(given[2], bool)
    call = relax.op.call_packed("tests.numbers", 0.5, tir.IntImm("int64", 4))
    assert (
        str(call) == 'R.call_packed("tests.numbers", R.prim_value(T.float64(0.5)), R.prim_value(4))'
    )
    assert [relax.PrimValue(v).value for v in (0.5, True, 4)] == [0.5, True, 4]
    with pytest.raises(ValueError, match="expected numbers of int64, got 9223372036854775808"):
        relax.PrimValue(1 << 63)


def test_a_kernel_may_be_named_by_a_string():
    text = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    _ = R.vm.call_tir_dyn({}, (x, R.shape([n])))
    return x
"""
    assert_structural_equal(from_source(text.format("'fill'")), from_source(text.format("fill")))


def test_shapes_as_tensors():
    func = from_source("""
@R.function
def main(x: R.Tensor(("n", 3), "float32"), s: R.Shape([4, 5])):
    return (R.shape_to_tensor(R.shape_of(x)), R.shape_to_tensor(s))
""")
    sizes, known = relax.build(func, check=True)(np.ones((2, 3), "float32"), (4, 5))
    assert (sizes.numpy().tolist(), known.numpy().tolist()) == ([2, 3], [4, 5])
    assert str(R.shape_to_tensor(relax.ShapeExpr((2, 3))).struct_info).startswith("R.Tensor((2,)")


def test_results_of_unknown_shape_are_cast():
    func = from_source("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    y = R.call_pure_packed("f", x, sinfo_args=R.Tensor(ndim=1, dtype="float32"))
    z = R.match_cast(y, R.Tensor((4,), "float32"))
    return z
""")
    assert relax.analysis.well_formed(func)
    xrelax.register_global_func("f", lambda x: x, override=True)
    assert relax.build(func)(np.ones(4, "float32")).numpy().tolist() == [1] * 4


@pytest.mark.parametrize(
    ("sugared", "plain"),
    [
        ("T.func_attr({'target': T.target('llvm')})", "T.func_attr({'target': 'llvm'})"),
        ("X[0] = T.Select(T.boolean(True), X[1], X[2])", "X[0] = T.Select(True, X[1], X[2])"),
    ],
)
def test_forms_in_kernels(sugared, plain):
    def parsed(line):
        return from_source(
            f"@T.prim_func\ndef main(X: T.Buffer((4,), 'float32')):\n    {line}\n    X[3] = 1.0"
        )

    assert_structural_equal(parsed(sugared), parsed(plain))


def test_variables_outside_of_scripts():
    n = T.Var("n", "int64")
    assert (str(n), n.dtype) == ("n", "int64")

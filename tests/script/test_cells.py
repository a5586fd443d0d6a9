"""Programs as cells of notebooks, in the spellings of 2022 and of today."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.script import ScriptError, from_source

ROWS, INNER, COLUMNS = 2, 6, 4


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype("float32") for s in shapes]


KERNELS_2022 = """
    @T.prim_func
    def scale0(X: T.Buffer[(2, 6), "float32"], Y: T.Buffer[(2, 6), "float32"]):
        # function attr dict
        T.func_attr({"global_symbol": "scale0", "tir.noalias": True})
        for i, j in T.grid(2, 6):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(3)

    @T.prim_func
    def dense0(X: T.Buffer[(2, 6), "float32"], W: T.Buffer[(4, 6), "float32"],
               B: T.Buffer[(4,), "float32"], Z: T.Buffer[(2, 4), "float32"]):
        T.func_attr({"global_symbol": "dense0", "tir.noalias": True})
        Y = T.alloc_buffer((2, 4), "float32")
        for i, j, k in T.grid(2, 4, 6):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(2, 4):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]
"""
MAIN_2022 = """
    @R.function
    def main(x: Tensor((2, 6), "float32"), w: Tensor((4, 6), "float32"),
             b: Tensor((4,), "float32")):
        with R.dataflow():
            lv0 = R.call_tir(scale0, (x,), (2, 6), dtype="float32")
            out = R.call_tir(dense0, (lv0, w, b), (2, 4), dtype="float32")
            R.output(out)
        return out
"""
KERNELS_2024 = """
    @T.prim_func
    def scale0(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m))
        for i, j in T.grid(n, m):
            with T.sblock("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = X[vi, vj] * T.float32(3)

    @T.prim_func
    def dense0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        n, m, k = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        W = T.match_buffer(w, (k, m), "float32")
        B = T.match_buffer(b, (k,), "float32")
        Z = T.match_buffer(z, (n, k), "float32")
        Y = T.alloc_buffer((n, k), "float32")
        for i, j, l in T.grid(n, k, m):
            with T.block("Y"):
                vi, vj, vl = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vl] * W[vj, vl]
        for i, j in T.grid(n, k):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]
"""


def graph_2024(first, second, declare="n, m, k = T.int64(), T.int64(), T.int64()"):
    return f"""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("k", "m"), "float32"),
             b: R.Tensor(("k",), "float32")):
        {declare}
        with R.dataflow():
            lv0 = {first}
            out = {second}
            R.output(out)
        return out
"""


def module(name, *parts, decorator="@tvm.script.ir_module"):
    return f"{decorator}\nclass {name}:{''.join(parts)}\n"


def check(program, call, round_trip):
    x, w, b = arrays((ROWS, INNER), (COLUMNS, INNER), (COLUMNS,))
    (out,) = call(program, x, w, b, name="main")
    np.testing.assert_allclose(out, (3 * x) @ w.T + b, rtol=1e-5, atol=1e-5)
    return round_trip(program)


def test_2022(notebook, call, round_trip):
    notebook.run("x = 1\nfrom __future__ import annotations\n")
    notebook.run(module("MyModule", KERNELS_2022, MAIN_2022))
    text = check(notebook["MyModule"], call, round_trip)
    assert 'X: T.Buffer((2, 6), "float32")' in text
    assert 'T.func_attr({"global_symbol": "scale0", "tir.noalias": True})' in text
    assert isinstance(notebook["MyModule"], tvm.IRModule)


def test_2022_needs_annotations_that_are_not_evaluated(notebook):
    with pytest.raises(NameError, match="Tensor"):
        notebook.run(module("MyModule", KERNELS_2022, MAIN_2022))


FIRST = 'R.call_tir(cls.scale0, (x,), out_sinfo=R.Tensor((n, m), dtype="float32"))'
DENSE_FORMS = {
    "string": 'R.call_dps_packed("dense0", (lv0, w, b), R.Tensor((n, k), "float32"))',
    "dtype keyword": 'R.call_dps_packed("dense0", (lv0, w, b), R.Tensor((n, k), dtype="float32"))',
    "out_sinfo": 'R.call_dps_packed("dense0", (lv0, w, b), out_sinfo=R.Tensor((n, k), "float32"))',
    "shape": 'R.call_dps_packed(dense0, (lv0, w, b), (n, k), dtype="float32")',
    "shape and default dtype": 'R.call_dps_packed("dense0", (lv0, w, b), (n, k))',
    "list": 'R.call_dps_packed("dense0", [lv0, w, b], [R.Tensor((n, k), "float32")])',
    "bare name": 'R.call_tir(dense0, (lv0, w, b), (n, k), dtype="float32")',
    "cls": 'R.call_tir(cls.dense0, (lv0, w, b), out_sinfo=R.Tensor((n, k), dtype="float32"))',
    "out_ty": 'R.call_tir(cls.dense0, (lv0, w, b), out_ty=R.Tensor((n, k), dtype="float32"))',
    "module name": 'R.call_tir(MyModule.dense0, (lv0, w, b), R.Tensor((n, k), "float32"))',
    "keywords": 'R.call_tir(func=dense0, args=(lv0, w, b), shape=(n, k), dtype="float32")',
    "call_tir on a string": 'R.call_tir("dense0", (lv0, w, b), (n, k), dtype="float32")',
}


@pytest.mark.parametrize("second", DENSE_FORMS.values(), ids=DENSE_FORMS)
def test_calls_of_today(notebook, call, round_trip, second):
    notebook.run(module("MyModule", KERNELS_2024, graph_2024(FIRST, second)))
    text = check(notebook["MyModule"], call, round_trip)
    printed = [line.strip() for line in text.splitlines() if "dense0" in line]
    assert printed[1].startswith(
        ("out = R.call_tir(cls.dense0", 'out = R.call_dps_packed("dense0"')
    )


def test_the_name_of_the_module_in_a_variable(notebook, call, round_trip):
    body = graph_2024(FIRST, DENSE_FORMS["cls"], "m, n, k = T.int64(), T.int64(), T.int64()")
    body = body.replace("with R.dataflow", "cls = Program\n        with R.dataflow")
    notebook.run(module("Program", KERNELS_2024, body, decorator="@I.ir_module"))
    check(notebook["Program"], call, round_trip)


def test_the_printed_text_in_a_cell(notebook, call, round_trip):
    notebook.run(module("MyModule", KERNELS_2024, graph_2024(FIRST, DENSE_FORMS["cls"])))
    text = notebook["MyModule"].script()
    notebook.run(text)
    notebook.run(f"again = Module\nassert again.script() == {text!r}")
    check(notebook["again"], call, round_trip)


def test_registered_functions(notebook, round_trip):
    notebook.run(
        module(
            "Mixed",
            KERNELS_2024,
            graph_2024(FIRST, 'R.call_tir("env.dense", (lv0, w, b), (n, k), dtype="float32")'),
        )
    )
    assert 'R.call_dps_packed("env.dense", (lv0, w, b), out_sinfo=R.Tensor((n, k)' in round_trip(
        notebook["Mixed"]
    )


def test_one_kernel_for_two_shapes(notebook, call, round_trip):
    notebook.run(
        module(
            "Twice",
            KERNELS_2024,
            """
    @R.function
    def main(x: R.Tensor((1, 6), "float32"), w0: R.Tensor((5, 6), "float32"),
             b0: R.Tensor((5,), "float32"), w1: R.Tensor((3, 5), "float32"),
             b1: R.Tensor((3,), "float32")) -> R.Tensor((1, 3), "float32"):
        with R.dataflow():
            lv0 = R.call_dps_packed("dense0", (x, w0, b0), R.Tensor((1, 5), "float32"))
            out = R.call_dps_packed("dense0", (lv0, w1, b1), R.Tensor((1, 3), "float32"))
            R.output(out)
        return out
""",
        )
    )
    x, w0, b0, w1, b1 = given = arrays((1, 6), (5, 6), (5,), (3, 5), (3,))
    (out,) = call(notebook["Twice"], *given, name="main")
    np.testing.assert_allclose(out, (x @ w0.T + b0) @ w1.T + b1, rtol=1e-4, atol=1e-5)
    round_trip(notebook["Twice"])


def test_two_dataflow_blocks_and_a_value_used_outside(notebook, call, round_trip):
    notebook.run(
        module(
            "Blocks",
            """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")):
        with R.dataflow():
            lv0 = relax.op.multiply(x, y)
            gv0 = relax.op.add(lv0, y)
            R.output(gv0)
        gv1 = R.add(gv0, x)
        with R.dataflow():
            lv1 = R.nn.relu(gv1)
            gv2, gv3 = lv1, lv1 * 2.0 - 1
            R.output(gv0, lv1)
        return lv1
""".replace("            gv2, gv3 = lv1, lv1 * 2.0 - 1\n", ""),
        )
    )
    x, y = arrays((3, 4), (3, 4))
    (out,) = call(notebook["Blocks"], x, y, name="main")
    np.testing.assert_allclose(out, np.maximum(x * y + y + x, 0), rtol=1e-6)
    text = round_trip(notebook["Blocks"])
    assert "R.multiply(x, y)" in text and "relax.op" not in text.replace("xrelax", "")
    assert text.count("with R.dataflow():") == 2


def test_numbers_tuples_and_annotated_bindings(notebook, call, round_trip):
    notebook.run(
        module(
            "Numbers",
            """
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tuple(R.Tensor((2, 3)), R.Tensor(ndim=2)):
        a: R.Tensor((2, 3), "float32") = x * 2.0 + R.const(0.5, "float32")
        pair = (a, -1.5 * x)
        first, second = pair
        third = R.add(lhs=pair[0], rhs=second)
        return (third, first / 4)
""",
        )
    )
    (x,) = arrays((2, 3))
    third, quarter = call(notebook["Numbers"], x, name="main")
    np.testing.assert_allclose(third, x * 2 + 0.5 - 1.5 * x, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(quarter, (x * 2 + 0.5) / 4, rtol=1e-6)
    round_trip(notebook["Numbers"])


def test_calls_between_graph_functions(notebook, call, round_trip):
    notebook.run(
        module(
            "Calls",
            """
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        gv = cls.shifted(x)
        return later(gv)

    @R.function
    def later(x: R.Tensor(("a", "b"), "float32")) -> R.Tensor(("a", "b"), "float32"):
        return R.nn.relu(x)

    @R.function(private=True)
    def shifted(x: R.Tensor(("n", "m"), "float32")):
        return x + 1.0
""",
        )
    )
    (x,) = arrays((2, 3))
    np.testing.assert_allclose(call(notebook["Calls"], x, name="main")[0], np.maximum(x + 1, 0))
    text = round_trip(notebook["Calls"])
    assert "@R.function(private=True)" in text and "gv = cls.shifted(x)" in text


def test_alloc_tensor_outside_of_dataflow(notebook, round_trip):
    notebook.run(
        module(
            "Allocates",
            """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        gv = R.alloc_tensor((2, 3), dtype="float32")
        _ = R.call_packed("env.copy", x, gv)
        return gv
""",
        )
    )
    assert 'R.alloc_tensor((2, 3), dtype="float32")' in round_trip(notebook["Allocates"])


def test_constants_through_metadata(notebook, call, round_trip):
    notebook.run(
        "weights = np.arange(12, dtype='float32').reshape(3, 4)\n"
        + module(
            "Weights",
            """
    @R.function
    def main(x: R.Tensor((2, 4), "float32")):
        with R.dataflow():
            w = R.const(weights, "float32")
            out = R.add(R.linear(x, w), R.const(2.5, "float32"))
            R.output(out)
        return out
""",
        )
    )
    (x,) = arrays((2, 4))
    weights = notebook["weights"]
    expected = x @ weights.T + 2.5
    program = notebook["Weights"]
    np.testing.assert_allclose(call(program, x, name="main")[0], expected, rtol=1e-5, atol=1e-5)
    text = round_trip(program)
    assert 'metadata["relax.expr.Constant"][0]' in text and "base64" in text
    assert program.script().endswith("show it.")
    notebook.run(text)
    np.testing.assert_allclose(
        call(notebook["Module"], x, name="main")[0], expected, rtol=1e-5, atol=1e-5
    )


def test_names_that_the_user_rebinds(notebook, call, round_trip):
    notebook.run("R = 'something else'\nT = 3\nTensor = np.ndarray\nrelax = None\n")
    notebook.run(
        "from xrelax.script import relax as Rx, tir as Tx\n"
        + module(
            "MyModule",
            KERNELS_2024.replace("T.", "Tx."),
            graph_2024(FIRST, DENSE_FORMS["cls"]).replace("R.", "Rx.").replace("T.", "Tx."),
        )
    )
    check(notebook["MyModule"], call, round_trip)
    notebook.run("n, m, k, x, i, vi = 1.5, 'm', None, 2, 3, 4\n")
    check(from_source(notebook["MyModule"].script(), notebook.names), call, round_trip)


def test_python_values_in_programs(notebook, call, round_trip):
    notebook.run(
        "rows, columns = 3, 4\nshape = (rows, columns)\ndtype = 'float64'\nfactor = 2.5\n"
        "names = ['first', 'second']\ndef twice(x):\n    return x * 2\n"
    )
    notebook.run("""
@T.prim_func
def kernel(X: T.Buffer(shape, dtype), Y: T.Buffer((rows, columns), dtype)):
    for i, j in T.grid(*shape):
        with T.block(f"{names[0]}_{len(shape)}"):
            vi, vj = T.axis.remap("SS", [i, j])
            if factor > 2:
                Y[vi, vj] = twice(X[vi, vj]) * factor + np.pi
            else:
                Y[vi, vj] = 0
""")
    (x,) = arrays((3, 4))
    x = x.astype("float64")
    _, y = call(notebook["kernel"], x, np.empty_like(x))
    np.testing.assert_allclose(y, x * 5 + np.pi)
    assert 'with T.block("first_2"):' in round_trip(notebook["kernel"])


def test_functions_of_a_module(notebook, capsys):
    notebook.run(module("MyModule", KERNELS_2024, graph_2024(FIRST, DENSE_FORMS["cls"])))
    program = notebook["MyModule"]
    assert [str(v) for v, _ in program.functions.items()] == [
        f'I.GlobalVar("{n}")' for n in ("scale0", "dense0", "main")
    ]
    assert type(program["dense0"]).__name__ == "PrimFunc"
    assert type(program["main"]).__name__ == "Function"
    program["main"].show()
    program.show()
    shown = capsys.readouterr().out
    assert shown.count("def main(") == 2 and shown.count("def dense0(") == 1
    with pytest.raises(ValueError, match=r"of the module \(scale0, dense0, main\), got 'nothing'"):
        program["nothing"]


def test_print_order(notebook):
    notebook.run(module("MyModule", KERNELS_2024, graph_2024(FIRST, DENSE_FORMS["cls"])))
    lines = [line.strip() for line in notebook["MyModule"].script().splitlines()]
    assert [n.split("(")[0] for n in lines if n.startswith("def ")] == [
        "def dense0",
        "def scale0",
        "def main",
    ]
    start = lines.index(
        'def main(x: R.Tensor(("n", "m"), dtype="float32"), w: R.Tensor(("k", "m"), '
        'dtype="float32"), b: R.Tensor(("k",), dtype="float32")) -> '
        'R.Tensor(("n", "k"), dtype="float32"):'
    )
    assert lines[start + 1 : start + 4] == ["k = T.int64()", "m = T.int64()", "n = T.int64()"]


def test_annotations_outside_of_programs(notebook):
    notebook.run(
        "from xrelax.script.namespace import ScriptName\n"
        "parts = [T.handle, T.Buffer[(1, 128), 'float32'], R.Tensor((1, 'm'), 'float32'), "
        "T.int64(), R.Tuple(R.Tensor), T.axis.spatial(1, 2)]\n"
        "assert all(isinstance(p, ScriptName) for p in parts)\n"
        "assert repr(T.axis.spatial) == 'T.axis.spatial'\n"
    )
    with pytest.raises(TypeError, match=r"'T\.grid' is only meaningful inside a script function"):
        notebook.run("for i in T.grid(1, 2):\n    pass\n")


def test_dims_that_repeat_are_one_symbol(notebook):
    notebook.run(
        module(
            "Square",
            """
    @R.function
    def main(x: R.Tensor(("n", "n * 2"), "float32"), y: R.Tensor(("n", 1), "float32")):
        n = T.int64()
        return R.add(x, y)
""",
        )
    )
    assert '-> R.Tensor(("n", "n * 2"), dtype="float32")' in notebook["Square"].script()


def test_wrong_shapes_around_alloc_tensor_are_refused(notebook):
    with pytest.raises(ScriptError, match=r"call of 'scale0'.*got") as error:
        notebook.run(
            module(
                "Wrong",
                KERNELS_2022,
                """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 6), "float32")):
        gv1 = R.alloc_tensor((2, 5), dtype="float32")
        return R.call_tir(scale0, (gv1,), (2, 6), dtype="float32")
""",
            )
        )
    assert 'return R.call_tir(scale0, (gv1,), (2, 6), dtype="float32")' in str(error.value)


def test_a_tuple_of_one_result_is_not_that_result(notebook, call, round_trip):
    notebook.run(
        module(
            "One",
            KERNELS_2022,
            """
    @R.function
    def main(x: R.Tensor((2, 6), "float32")):
        pair = R.call_tir(cls.scale0, (x,), out_sinfo=R.Tuple(R.Tensor((2, 6), "float32")))
        single = R.call_tir(cls.scale0, (pair[0],), out_sinfo=[R.Tensor((2, 6), "float32")])
        return single
""",
        )
    )
    (x,) = arrays((2, 6))
    np.testing.assert_allclose(call(notebook["One"], x, name="main")[0], x * 9, rtol=1e-6)
    assert "out_sinfo=R.Tuple(R.Tensor((2, 6), " in round_trip(notebook["One"])

"""Values and names around programs in cells of notebooks: constants, Python values, functions."""

import numpy as np
import pytest
from cell_programs import (
    DENSE_FORMS,
    FIRST,
    KERNELS_2022,
    KERNELS_2024,
    arrays,
    check,
    graph_2024,
    module,
)

from xrelax.script import ScriptError, from_source


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
        "R.Tuple(R.Tensor), T.axis.spatial(1, 2)]\n"
        "assert all(isinstance(p, ScriptName) for p in parts)\n"
        "assert repr(T.axis.spatial) == 'T.axis.spatial'\n"
        "assert T.int64().dtype == 'int64', 'a scalar, as builders take it'\n"
    )
    with pytest.raises(TypeError, match=r"'T\.grid' is only meaningful inside a script function"):
        notebook.run("for i in T.grid(1, 2):\n    pass\n")
    for value in ("4 * T.vscale()", "T.ceildiv(128, T.vscale() * 4)", "-T.vscale()"):
        with pytest.raises(TypeError, match=r"'T\.vscale' is only meaningful inside a script"):
            notebook.run(value)


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

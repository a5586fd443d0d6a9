"""Programs as cells of notebooks have them, in the spellings of 2022, of 2024 and of today."""

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

import xrelax as tvm

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
    assert "@R.function(private=True)" in text and '"float32") = cls.shifted(x)' in text

"""Reductions that are the same in every iteration, and fills, are not unrolled: LLVM takes long."""

import subprocess
import sys

import pytest

from xrelax.backend.llvm_module import emit_module
from xrelax.backend.target import Target
from xrelax.dialects import get_context
from xrelax.inspection import module_of
from xrelax.pipeline import STAGES, run_passes
from xrelax.script import from_source

PROGRAM = """
@T.prim_func
def main(b: T.handle, y: T.handle):
    T.func_attr({{"tir.is_scheduled": True, "tir.noalias": True}})
    n = T.int64()
    B = T.match_buffer(b, (128,), "{dtype}")
    Y = T.match_buffer(y, ({rows},), "{dtype}")
    for j in {loop}({rows}):
        for o, p, r in T.grid(2, 8, 2):
            with T.block("Y"):
                T.where(o * 8 + p < 15)
                vj = T.axis.spatial({rows}, j)
                r0 = T.axis.reduce(15, o * 8 + p)
                r1 = T.axis.reduce(2, r)
                with T.init():
                    Y[vj] = T.{dtype}(-1)
                Y[vj] = {value}
"""
LEAST = "T.min(Y[vj], B[r1 + 2])"


def program(value=LEAST, dtype="float32", loop="T.serial", rows="4"):
    text = PROGRAM.format(value=value, dtype=dtype, loop=loop, rows=rows)
    return text if rows == "n" else text.replace("    n = T.int64()\n", "")


def llvm_ir(text):
    module = module_of(from_source(text)).clone()
    for stage in STAGES:
        run_passes(module, stage, get_context())
    return emit_module(module, Target("llvm"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "float64"},
        {"rows": "n"},
        {"rows": "64", "loop": "T.parallel"},
        {"value": LEAST.replace("min", "max")},
        {"value": "Y[vj] * Y[vj] + B[r1]", "dtype": "int32"},
    ],
    ids=str,
)
def test_the_same_in_every_row(options):
    assert "llvm.loop.unroll.disable" in llvm_ir(program(**options))


@pytest.mark.parametrize("value", ["T.min(Y[vj], B[vj + r1])", "Y[vj] + B[r1 + 2]"])
def test_rows_that_differ_and_chains_without_forks_are_unrolled(value):
    assert "llvm.loop.unroll.disable" not in llvm_ir(program(value))


FILL = """
@T.prim_func
def main(y: T.Buffer((256, 81), "int8")):
    T.func_attr({"tir.is_scheduled": True, "tir.noalias": True})
    for i, j in T.grid(ROWS, 81):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = T.int8(0)
"""


@pytest.mark.parametrize("rows, is_kept", [(65, True), (64, False)])
def test_fills_of_many_rows(rows, is_kept):
    """LLVM makes a row a `memset`, and unrolled them all."""
    ir = llvm_ir(FILL.replace("ROWS", str(rows)))
    assert ("llvm.loop.unroll.disable" in ir) == is_kept


@pytest.mark.parametrize("operation", ["min", "max"])
def test_a_build_ends(operation, tmp_path):
    """The loop vectorizer asked 2³⁰ times and more whether the lanes of a value are equal."""
    script = tmp_path / "script.py"
    function = program(LEAST.replace("min", operation))
    script.write_text(
        "import xrelax\nfrom xrelax.script import tir as T\n"
        f"{function}\nexecutable = xrelax.build(main)\n"
        "import numpy as np\nx = np.arange(128, dtype=np.float32) - 3\n"
        "y = np.zeros(4, np.float32)\nexecutable['main'](x, y)\nprint(y.tolist())\n"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240)
    assert run.stdout.strip() == str([{"min": -1.0, "max": 0.0}[operation]] * 4), run.stderr

"""Executables, profiles, schedules, traces and tensors in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_check import text_of

import xrelax
from xrelax import relax
from xrelax.display import executables
from xrelax.runtime.executable import Executable, load
from xrelax.runtime.tensor import array
from xrelax.script import from_source
from xrelax.tir import Schedule

SOURCE = """
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((4, 8), "float32"), Y: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + X[vi, vj]

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, "n"), "float32")):
        cls = Module
        lv = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((4, 8), "float32"))
        return R.matmul(lv, w)
"""


@pytest.fixture(scope="module")
def executable() -> Executable:
    return relax.build(from_source(SOURCE))


def html(shown: Any) -> str:
    return shown._repr_html_()


def test_an_executable_has_its_stages_as_tabs(executable: Executable):
    shown = html(executable)
    text = text_of(shown)
    assert text.startswith("Executable2 functions, 2 kernels")
    names = ("functions", "kernels", "relax", "tir", "rt", "loops", "llvm", "asm")
    assert [f">{name}</label>" in shown for name in names] == [True] * 8
    assert shown.count(" checked>") == 1 and shown.count('type="radio"') == len(names)
    assert "x: float32 (4, 8), w: float32 (8, n)" in text
    assert "double32128128float32" in text  # operations, bytes read and written
    assert "relax.call_tir" in text and ".globl" in text
    assert "<table>" in shown and html(executable) != shown  # the names of radios are its own


def test_kernels_have_the_cost_of_their_profile():
    """Which schedules do not change."""
    source = from_source("""
@R.function
def main(x: R.Tensor((64, 256), "float32"), w: R.Tensor((256, 64), "float32")):
    with R.dataflow():
        product = R.matmul(x, w)
        y = R.tanh(product)
        R.output(y)
    return y
""")
    built = relax.build(source)
    (kernel,) = built.profile("main", np.ones((64, 256), "f"), np.ones((256, 64), "f"), repeat=1)
    read, written = 2 * 64 * 256 * 4, 64 * 64 * 4
    assert (kernel.operations, kernel.bytes) == (64 * 64 * (2 * 256 + 1), read + written)
    assert f"{kernel.operations:,}{read:,}{written:,}float32" in text_of(html(built))


def test_a_large_executable_is_not_lowered_again(
    executable: Executable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(executables, "MOST_OPERATIONS", 3)
    assert "the module is large: use its .show(stage=…)" in text_of(html(executable))


def test_an_executable_of_a_file(executable: Executable, tmp_path: Path):
    executable.save(tmp_path / "module.xr")
    text = text_of(html(load(tmp_path / "module.xr")))
    assert "known in the process that built it" in text and "main" in text


def test_a_profile(executable: Executable):
    report = executable.profile("main", np.ones((4, 8), "f"), np.ones((8, 3), "f"), repeat=2)
    text = text_of(html(report))
    assert text.startswith("main") and "the median of 2 calls" in text
    assert "roofline %" in text and "(rest of the call)" in text and "GB/s" in text


def test_a_debug_report(executable: Executable):
    x, w = np.ones((4, 8), "f"), np.ones((8, 3), "f")
    good = text_of(html(executable.debug("main", x, w)))
    assert good.startswith("maincompared with float64no bad operation: ")
    assert "max error" in good and "ok" in good and "BAD" not in good
    bad = text_of(html(executable.debug("main", x, w, reference={"lv": np.zeros((4, 8), "f")})))
    assert "first bad: 'lv'" in bad and "BAD" in bad


def test_a_compiled_model():
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(8, 4).eval()
    compiled = xrelax.compile(model, (torch.zeros(2, 8),))
    text = text_of(html(compiled))
    assert text.startswith("CompiledModel") and "relax.func @main" in text


def test_schedules_and_traces():
    schedule = Schedule(from_source(SOURCE))
    schedule.split(schedule.get_loops(schedule.get_block("Y", "double"))[0], [2, 2])
    text = text_of(html(schedule))
    assert text.startswith("ScheduleModule: 1 graph function, 1 kernel")
    assert "T.grid(2, 2, 8)" in text and "trace3 instructions" in text and "sch.split(" in text
    assert text_of(html(schedule.trace)).startswith("Trace3 instructions# from xrelax import tir")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool"])
def test_a_matrix_has_a_picture(dtype: str):
    shown = html(array(np.arange(12).reshape(3, 4) % 2, dtype=dtype))
    assert text_of(shown).startswith(f"Tensor (3, 4) {dtype}") and "0 to 1" in text_of(shown)
    assert shown.count("<rect ") == 12 and shown.count('fill-opacity="1.00"') == 6


def test_other_tensors():
    assert "<rect" not in html(array(np.arange(5))) and "[0 1 2 3 4]" in html(array(np.arange(5)))
    assert html(array(np.ones((500, 500)))).count("<rect") == 16 * 64
    assert html(array(np.array([[np.nan, 1.0], [np.inf, 3.0]]))).count("<rect") == 2
    for shape in ((0, 3), (), (2, 2, 2)):
        assert "<rect" not in html(array(np.zeros(shape)))
    assert "<rect" not in html(array(np.full((2, 2), np.nan)))

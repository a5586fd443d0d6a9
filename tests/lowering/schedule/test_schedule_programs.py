"""Default schedules are programs: as Python, run on the kernel, they make the same IR."""

import runpy
import subprocess
import sys

import numpy as np
import pytest
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

from xrelax import relax, tir
from xrelax.dialects import get_context
from xrelax.dialects import tir as ir
from xrelax.dialects.diagnostics import verify
from xrelax.dialects.tir.func import LAYOUT_FREE
from xrelax.inspection import module_of
from xrelax.ir.equality import assert_structural_equal
from xrelax.lowering.functions import PRIVATE
from xrelax.lowering.schedule.blocks import IS_SCHEDULED
from xrelax.pipeline import make_pass, passes_before
from xrelax.schedules import default_schedules, schedule_text
from xrelax.script import from_source

LEFT_OUT = (IS_SCHEDULED, LAYOUT_FREE, PRIVATE)
TARGETS = {
    "avx512": "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4 -num-cores=2",
    "neon": "llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=cortex-a76 -num-cores=4",
}
GRAPHS = {
    "products": """
@R.function
def main(
    x: R.Tensor((100, 77), "float32"),
    w: R.Tensor((77, 130), "float32"),
    b: R.Tensor((130,), "float32"),
):
    with R.dataflow():
        h = R.nn.relu(R.add(R.matmul(x, w), b))
        y = R.matmul(h, R.permute_dims(w))
        z = R.matmul(x, R.permute_dims(x))
        R.output(y, z)
    return (y, z)
""",
    "symbols": """
@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 96), "float32")):
    with R.dataflow():
        y = R.nn.softmax(R.nn.gelu(R.matmul(x, w)), axis=-1)
        s = R.sum(x, axis=[0])
        R.output(y, s)
    return (y, s)
""",
    "images": """
@R.function
def main(x: R.Tensor((1, 16, 30, 30), "float32"), w: R.Tensor((32, 16, 3, 3), "float32")):
    with R.dataflow():
        c = R.nn.relu(R.nn.conv2d(x, w, padding=(1, 1)))
        p = R.nn.max_pool2d(c, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
        m = R.mean(p, axis=[2, 3])
        R.output(m)
    return m
""",
    "reductions": """
@R.function
def main(x: R.Tensor((300, 1000), "float32"), g: R.Tensor((1000,), "float32")):
    with R.dataflow():
        n = R.nn.layer_norm(x, g, g, axes=[-1])
        a = R.argmax(n, axis=1)
        s = R.sum(n, axis=[0])
        t = R.permute_dims(n)
        c = R.concat((t, t), axis=1)
        R.output(a, s, c)
    return (a, s, c)
""",
    "large": """
@R.function
def main(
    x: R.Tensor((1, 4096), "float32"),
    w: R.Tensor((4096, 4096), "float32"),
    y: R.Tensor((9000000,), "float32"),
):
    with R.dataflow():
        v = R.matmul(x, w)
        z = R.nn.relu(R.add(y, y))
        s = R.sum(y)
        R.output(v, z, s)
    return (v, z, s)
""",
}

CONSTANTS = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 550), "float32"),
        w: R.Tensor((550, 550), "float32"),
        b: R.Tensor((550,), "float32"),
    ):
        with R.dataflow():
            y = R.matmul(R.add(R.matmul(x, w), b), w)
            R.output(y)
        return y
"""


def functions(module: ModuleOp) -> dict[str, ir.PrimFuncOp]:
    """The kernels, without the marks of those that are scheduled, or private, or neither."""
    found: dict[str, ir.PrimFuncOp] = {}
    for op in module.body.block.ops:
        if isinstance(op, ir.PrimFuncOp):
            attrs = {} if op.attrs is None else dict(op.attrs.data)
            kept = {k: attrs[k] for k in sorted(attrs) if k not in LEFT_OUT}
            op.properties["attrs"] = DictionaryAttr(kept)
            found[op.sym_name.data] = op
    return found


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_the_same_ir(graph, target):
    verify_replay(module_of(from_source(graph)), target)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("names", ["w", "bw"])
def test_constants(names, target):
    """What lays out constants, 1.2 MB of them on load, is scheduled as well, and calls fit."""
    mod = from_source(CONSTANTS)
    shapes = {"w": (550, 550), "b": (550,)}
    values = {name: np.ones(shapes[name], np.float32) for name in names}
    module = relax.transform.BindParams("main", values)(mod).op
    wanted = verify_replay(module, target)
    assert sorted(wanted) == ["fused_matmul_add", "layout_transform", "matmul"]


def verify_replay(original: ModuleOp, target: str) -> list[str]:
    """Compare the module with scheduled kernels with replays; returns the names of kernels."""
    module = original.clone()
    for step in (*passes_before("schedule-default", target), make_pass("schedule-default", target)):
        step.apply(get_context(), module)
    verify(module)
    wanted = functions(module)
    names = list(wanted)
    for name, kernel, text in default_schedules(original, target):
        scope = {"tir": tir}
        exec(text, scope)
        sch = tir.Schedule(from_source(kernel), debug_mask="all")
        scope["schedule"](sch)
        assert_structural_equal(functions(sch.mod.op)[name], wanted.pop(name))
    assert not wanted
    return names


def test_scripts(tmp_path):
    """What is written runs by itself and prints the scheduled kernel."""
    mod = from_source(GRAPHS["symbols"])
    relax.build(mod, dump_schedules=tmp_path / "schedules")
    scripts = sorted((tmp_path / "schedules").glob("*.py"))
    assert [s.stem for s in scripts] == ["fused_matmul_gelu", "softmax", "sum"]
    scope = runpy.run_path(str(scripts[1]))
    sch = tir.Schedule(scope["Module"])
    scope["schedule"](sch)
    run = subprocess.run([sys.executable, scripts[1]], capture_output=True, text=True, check=True)
    assert run.stdout == f"{sch.mod.script()}\n"
    x, y = np.ones((3, 96), np.float32), np.empty((3, 96), np.float32)
    relax.build(sch.mod)["softmax"](x, y)
    np.testing.assert_allclose(y, x / 96, rtol=1e-6)


def test_shown(capsys):
    mod = from_source(GRAPHS["symbols"])
    mod.show(stage="schedule")
    assert "# softmax\ndef schedule(sch: tir.Schedule) -> None:\n" in capsys.readouterr().out
    only = schedule_text(module_of(mod), function="sum")
    assert only.startswith("# sum\n") and "softmax" not in only
    with pytest.raises(ValueError, match=r"kernel with a default schedule \(.*\), got 'nothing'"):
        schedule_text(module_of(mod), function="nothing")

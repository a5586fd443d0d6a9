"""`vm.profile`: every kernel of a call, what it does, and what is printed of it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.backend.target import Target
from xrelax.backend.targets.x86_64 import AVX2
from xrelax.script import from_source

MODULE = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.nn.softmax(R.sort(y))
            R.output(z)
        return z
""")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 64), np.float32)
W = RNG.standard_normal((64, 32), np.float32)


@pytest.fixture(scope="module")
def vm():
    return relax.VirtualMachine(relax.build(MODULE), tvm.cpu())


@pytest.fixture(scope="module")
def report(vm):
    return vm.profile("main", X, W, repeat=5)


def test_every_kernel_of_the_module_appears(report):
    names = [kernel.name for kernel in report]
    assert sorted(names) == ["matmul", "softmax", "sort"] and len(report) == 3
    assert all(kernel.calls == 1 and len(kernel.seconds) == 5 for kernel in report)
    assert len(report.seconds) == 5


def test_the_result_is_that_of_the_call(vm, report):
    np.testing.assert_array_equal(report.result.numpy(), vm["main"](X, W).numpy())


def test_work_is_that_of_the_sizes_of_the_call(vm, report):
    assert report["matmul"].operations == 2 * 20 * 32 * 64
    assert report["matmul"].bytes == 4 * (20 * 64 + 64 * 32 + 20 * 32)
    longer = vm.profile("main", np.tile(X, (3, 1)), W, repeat=1)
    assert longer["matmul"].operations == 2 * 60 * 32 * 64


def test_shares_are_parts_of_the_call(report):
    assert 0 < sum(report.share(kernel) for kernel in report) <= 1.05
    for kernel in report:
        assert 0 <= kernel.min <= kernel.median


def test_an_unknown_kernel_or_function_is_one_line(vm, report):
    with pytest.raises(ValueError, match=r"^expected a kernel of 'main' \(.*\), got 'relu'$"):
        report["relu"]
    with pytest.raises(ValueError, match=r"^expected a function \(main\), got 'side'$"):
        vm.profile("side", X)
    with pytest.raises(ValueError, match="expected repeat of at least 1, got 0"):
        vm.profile("main", X, W, repeat=0)
    with pytest.raises(TypeError, match="expected repeat to be an int, got str"):
        vm.profile("main", X, W, repeat="3")


def test_arguments_are_checked_as_in_a_call(vm):
    with pytest.raises(ValueError, match=r"symbol|shape|argument 'w'"):
        vm.profile("main", X, W[:5])


def test_what_a_kernel_comes_from(report, capsys):
    report["matmul"].show()
    assert "def matmul(" in capsys.readouterr().out
    report["matmul"].show("asm")
    assert "xrelax.matmul." in capsys.readouterr().out
    assert report["matmul"].scheduled.name == "matmul"


def test_what_a_kernel_became_for_another_target(capsys):
    if not isinstance(Target("llvm").isa, AVX2):
        pytest.skip("code for another processor must run here, and differ")
    executable = relax.build(MODULE, "llvm -mcpu=x86-64")
    kernel = executable.profile("main", X, W, repeat=1)["matmul"]
    kernel.show("asm")
    assert "%ymm" not in (baseline := capsys.readouterr().out) and "%xmm" in baseline
    kernel.show("asm", target="llvm")
    assert "%ymm" in (own := capsys.readouterr().out) or "%zmm" in own


@pytest.mark.parametrize("with_tabulate", [True, False])
def test_the_table_has_a_line_for_each(report, monkeypatch, with_tabulate):
    if with_tabulate:
        pytest.importorskip("tabulate")
    else:
        monkeypatch.setitem(sys.modules, "tabulate", None)
    lines = report.table().splitlines()
    assert lines[0].split()[:2] == ["kernel", "calls"]
    firsts = [line.split("  ")[0] for line in lines[2:]]
    assert sorted(firsts) == ["(rest of the call)", "matmul", "softmax", "sort"]
    assert "GFLOP/s of fused multiply-adds" in str(report)


def test_the_picture_has_every_kernel(report, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    report.plot(path := tmp_path / "roofline.svg")
    labels = re.findall(r"<!-- (.*) -->", path.read_text())
    kernels = [label for label in labels if label.endswith("%")]
    assert sorted(re.sub(r", \d+%$", "", k) for k in kernels) == ["matmul", "softmax"]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ValueError, match="expected matplotlib to be installed"):
        report.plot(path)


def test_the_picture_cuts_long_names(report, tmp_path):
    pytest.importorskip("matplotlib")
    kernel = replace(report["matmul"], name="fused_" + "add_" * 20)
    replace(report, kernels=(kernel,)).plot(path := tmp_path / "roofline.svg")
    assert re.search(r"<!-- fused_(add_)+ad?d?…, \d+% -->", path.read_text())


def test_registered_functions_are_timed(capsys):
    @tvm.register_func("test.profile.twice", override=True)
    def twice(x, out):
        out.copyfrom(x.numpy() * 2)

    module = from_source("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    y = R.call_dps_packed("test.profile.twice", (x,), R.Tensor((4,), "float32"))
    return R.add(y, y)
""")
    report = relax.build(module).profile("main", np.ones(4, np.float32), repeat=2)
    assert report.result.numpy().tolist() == [4, 4, 4, 4]
    assert report["test.profile.twice"].operations is None
    with pytest.raises(ValueError, match=r"got the registered function 'test\.profile\.twice'"):
        report["test.profile.twice"].show()


def test_a_kernel_by_itself():
    function = from_source("""
@T.prim_func
def double(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("y"):
            v = T.axis.spatial(8, i)
            y[v] = x[v] + x[v]
""")
    y = np.zeros(8, np.float32)
    report = relax.build(function).profile("double", np.ones(8, np.float32), y, repeat=2)
    assert report["double"].operations == 8 and y.tolist() == [2] * 8


def test_code_from_a_file_has_no_kernels_to_show(vm, tmp_path):
    vm.executable.save(path := tmp_path / "main.xrelax")
    with pytest.raises(ValueError, match="expected an executable that this process has built"):
        tvm.runtime.load(path).profile("main", X, W)


def test_calls_of_functions_that_call_themselves():
    module = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((4,), "float32"), n: R.Tensor((), "int64")
    ) -> R.Tensor((4,), "float32"):
        c = R.greater(n, R.const(0, "int64"))
        if c:
            y = R.add(x, x)
            z = Module.main(y, R.subtract(n, R.const(1, "int64")))
        else:
            z = x
        return z
""")
    report = relax.build(module).profile("main", np.ones(4, np.float32), np.array(3), repeat=2)
    assert report.result.numpy().tolist() == [8, 8, 8, 8]
    assert report["add"].calls == 3 and report["add"].operations == 12


def test_profiles_of_a_compiled_model():
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.ReLU()).eval()
    x = torch.randn(2, 16)
    compiled = tvm.compile(model, (x,))
    report = compiled.profile(x, repeat=2)
    assert sum(k.operations for k in report) >= 2 * 2 * 16 * 8


def test_kernels_of_a_loop_are_counted_for_every_iteration():
    module = from_source("""
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), h: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
        i = T.int64()
        return (R.matmul(h, w),)

    @R.function
    def main(
        h: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32"), x: R.Tensor(("n",), "bool")
    ):
        n = T.int64()
        r = R.loop(cls.step, (h,), given=(w,), trips=n)
        return R.nn.relu(r[0])
""")
    h, w = RNG.standard_normal((4, 8), np.float32), RNG.standard_normal((8, 8), np.float32)
    for trips in (0, 3):
        report = relax.build(module).profile("main", h, w, np.zeros(trips, bool), repeat=2)
        calls = {kernel.name: kernel.calls for kernel in report}
        assert calls == {"relu": 1} | ({"matmul": trips} if trips else {})
    assert report["matmul"].operations == trips * 2 * 4 * 8 * 8

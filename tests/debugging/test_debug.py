"""`vm.debug`: the error after every operation, and the first one that goes wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.backend.target import Target
from xrelax.debugging.captured import captured_build
from xrelax.dialects.relax.operators.gelu import GeluOp
from xrelax.lowering.graph.convert_layout import CHANNELS_LAST
from xrelax.script import from_source

MODULE = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            g = R.nn.gelu(y)
            s = R.sort(g)
            r = R.reshape(s, (n * 32,))
            z = R.exp(r)
            R.output(z)
        return z
""")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 64), np.float32)
W = RNG.standard_normal((64, 32), np.float32) / 8


@pytest.fixture(scope="module")
def vm():
    return relax.VirtualMachine(relax.build(MODULE), tvm.cpu())


@pytest.fixture(scope="module")
def report(vm):
    return vm.debug("main", X, W)


def graph(body: str, params: str = 'x: R.Tensor((8,), "float32")'):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return relax.build(from_source(f"@R.function\ndef main({params}):\n{lines}\n"))


def test_every_operation_is_reported(report):
    assert [o.name for o in report] == ["y", "g", "s", "r", "z"]
    assert report["s"].operator == "sort" and report["s"].source == "<script>:9"
    assert (report["g"].shapes, report["g"].dtypes) == (((20, 32),), ("float32",))
    assert report.first_bad is None and "no bad operation" in str(report)


def test_operations_are_compared_where_kernels_end(report):
    assert report["y"].error is None and report["y"].kernel == "fused_matmul_gelu"
    assert report["g"].operations == ("y", "g")
    for name in ("g", "s", "r", "z"):
        assert report[name].verdict == "ok"
        assert 0 < report[name].error.relative < 1e-6


def test_errors_are_those_of_numpy(report):
    wide = X.astype(np.float64) @ W.astype(np.float64)
    from math import erf

    gelu = np.sort(wide * 0.5 * (1 + np.vectorize(erf)(wide / 2**0.5)))
    error = np.abs(report.result.numpy() - np.exp(gelu).ravel())
    assert report["z"].error.largest == pytest.approx(error.max(), rel=1e-6)
    assert report["z"].error.mean == pytest.approx(error.mean(), rel=1e-6)
    assert report["z"].error.relative == pytest.approx(error.max() / np.exp(gelu).max(), rel=1e-6)


def test_results_are_bit_identical_to_the_plain_build(vm, report):
    np.testing.assert_array_equal(report.result.numpy(), vm["main"](X, W).numpy())
    # A reference of the plain build's own values, one output a kernel, differs nowhere.
    result = vm["main"](X, W).numpy()
    again = vm.debug("main", X, W, reference={"z": result}, rtol=0, atol=0)
    assert again["z"].error.largest == 0 and again.first_bad is None


@pytest.fixture
def wrong_gelu(monkeypatch):
    """The kernels of gelu are 1 % off."""
    right = GeluOp.compute.__func__

    def wrong(cls, te, tensors, attributes):
        x = right(cls, te, tensors, attributes)
        return te.elementwise(lambda v: v * te.const(1.01, v.dtype), x, name="T_wrong")

    monkeypatch.setattr(GeluOp, "compute", classmethod(wrong))


@pytest.mark.usefixtures("wrong_gelu")
def test_a_wrong_kernel_is_named_with_its_line():
    report = relax.build(MODULE).debug("main", X, W)
    assert report.first_bad is report["g"]
    summary = report.summary()
    assert summary.startswith("first bad: 'g' (nn.gelu) at <script>:8: expected ")
    assert "kernel 'fused_matmul_gelu" in summary and "'y' (matmul) at <script>:7" in summary
    assert str(report).count("BAD") == sum(o.is_bad for o in report) > 1


@pytest.mark.parametrize("stage", ["relax", "tir", "rt", "loops"])
def test_a_stage_is_run_by_the_reference_evaluator(vm, report, stage: str):
    found = vm.debug("main", X, W, stage=stage)
    assert found.first_bad is None
    assert str(found).startswith(f"main at stage {stage} compared with float64\n")
    assert (found["y"].error is None) == (stage != "relax"), "matmul and gelu are fused later"
    for name in ("g", "s", "r", "z"):
        assert found[name].verdict == "ok"
        np.testing.assert_array_equal(found[name].expected[0], report[name].expected[0])
        np.testing.assert_allclose(found[name].values[0], report[name].values[0], 1e-4, 1e-5)
    np.testing.assert_array_equal(found["z"].values[0], found.result)


@pytest.mark.usefixtures("wrong_gelu")
def test_the_stage_of_a_wrong_kernel():
    executable = relax.build(MODULE)
    assert executable.debug("main", X, W, stage="relax").first_bad is None
    assert executable.debug("main", X, W, stage="tir").first_bad.name == "g"


def test_two_builds(vm):
    other = relax.build(MODULE, target="llvm -mcpu=haswell")
    report = vm.debug("main", X, W, reference=other)
    assert report.reference == "the build for llvm -mcpu=haswell"
    assert report.first_bad is None and report["z"].verdict == "ok"
    changed = relax.build(relax.transform.BindParams("main", {"w": W})(MODULE))
    scaled = relax.build(relax.transform.BindParams("main", {"w": W * 1.01})(MODULE))
    assert changed.debug("main", X, reference=scaled).first_bad.name == "g"


def test_given_values(vm):
    values = {"s": np.zeros((20, 32), np.float32)}
    report = vm.debug("main", X, W, reference=values)
    assert report.first_bad.name == "s" and report["g"].error is None
    assert vm.debug("main", X, W, reference=values, atol=100.0).first_bad is None


@pytest.mark.parametrize(
    "call, given",
    [
        ("R.argsort(a, axis=0)", lambda: np.array([[2] * 3, [1] * 3, [0] * 3])),
        ("R.topk(a, 2, axis=0, ret_type='indices')", lambda: np.array([[1] * 3, [0] * 3])),
        ("R.argmax(a, axis=0)", lambda: np.full(3, 1)),
        ("R.argmax(a, axis=0, keepdims=True)", lambda: np.full((1, 3), 1)),
        ("R.argmax(a)", lambda: np.array(3)),
    ],
)
def test_indices_of_equal_elements_are_explained(call, given):
    """They differ from the reference, and so do later operations, but none is wrong."""
    function = graph(f"a = R.abs(x)\ni = {call}\nreturn i", 'x: R.Tensor((3, 3), "float32")')
    x = np.array([[2, 2, 2], [2, 2, 2], [1, 1, 1]], np.float32)
    tied = {"i": given().astype(function.debug("main", x)["i"].dtypes[0])}
    bad = function.debug("main", x, reference=tied).first_bad
    assert bad.name == "i"
    assert bad.error.problem.endswith("both select elements that are equal up to rounding")
    wrong = {"i": np.full_like(tied["i"], 2 if tied["i"].ndim else 8)}
    bad = function.debug("main", x, reference=wrong).first_bad
    assert bad.name == "i" and "equal up to rounding" not in bad.error.problem


def test_given_tolerances(vm):
    assert vm.debug("main", X, W, atol=1e-12).first_bad.name == "g"
    assert vm.debug("main", X, W, rtol=1e-2, atol=1e-3).first_bad is None


def test_nan_is_bad_where_it_appears_first():
    function = graph("a = R.sqrt(x)\nb = R.sort(a)\nreturn R.cumsum(b, axis=0)")
    report = function.debug("main", np.arange(-2, 6, dtype=np.float32))
    assert report.first_bad.name == "a" and report.first_bad.error.problem == (
        "NaN appears here first"
    )
    assert [o.is_bad for o in report] == [True, False, False]
    given = function.debug("main", np.full(8, np.nan, np.float32))
    assert given.first_bad is None


def test_overflow_is_bad_where_it_appears_first():
    function = graph("a = R.sort(x)\nb = R.multiply(a, a)\nc = R.cumsum(b, axis=0)\nreturn c")
    report = function.debug("main", np.full(8, 1.5e19, np.float32))  # a square is finite
    assert report.first_bad.name == "c" and report["b"].verdict == "ok"
    assert report["c"].error.problem == "an infinity appears here first, float64 is finite"
    given = function.debug("main", np.full(8, np.inf, np.float32))
    assert given.first_bad is None


def test_channels_last_results_are_compared_in_the_order_of_the_graph():
    source = """
@R.function
def main(x: R.Tensor((2, 3, 9, 9), "float32"), w: R.Tensor((8, 3, 3, 3), "float32")):
    with R.dataflow():
        c = R.nn.conv2d(x, w)
        r = R.nn.relu(c)
        p = R.nn.max_pool2d(r, (2, 2))
        e = R.exp(p)
        R.output(e)
    return e
"""
    weights = RNG.standard_normal((8, 3, 3, 3), np.float32)
    module = relax.transform.BindParams("main", {"w": weights})(
        tvm.IRModule({"main": from_source(source)})
    )
    image = RNG.standard_normal((2, 3, 9, 9), np.float32)
    executable = relax.build(module)
    for stage in ("relax", "tir", "rt", "loops"):
        assert executable.debug("main", image, stage=stage)["e"].verdict == "ok"
    report = executable.debug("main", image)
    assert report.first_bad is None
    assert report["r"].verdict == report["e"].verdict == "ok"
    assert report["r"].values[0].shape == (2, 8, 7, 7)
    sites = captured_build(module.op, "main", Target("llvm")).sites.values()
    assert [mark.layout for site in sites for mark in site.marks].count(CHANNELS_LAST) == 1


def test_weights_in_another_layout_are_no_results():
    source = """
@R.function
def main(x: R.Tensor((2, 3, 9, 9), "float32"), w: R.Tensor((3, 1, 3, 3), "float32")):
    with R.dataflow():
        c = R.nn.conv2d(x, w, groups=3)
        r = R.nn.relu(c)
        R.output(r)
    return r
"""
    weights = RNG.standard_normal((3, 1, 3, 3), np.float32)
    module = relax.transform.BindParams("main", {"w": weights})(
        tvm.IRModule({"main": from_source(source)})
    )
    report = relax.build(module).debug("main", RNG.standard_normal((2, 3, 9, 9), np.float32))
    assert not report["c"].values and report["r"].verdict == "ok"


def test_tuples_packed_calls_and_integers():
    @tvm.register_func("test.debug.twice", override=True)
    def twice(x, y):
        np.from_dlpack(y)[:] = 2 * np.from_dlpack(x)

    function = graph(
        'a = R.call_dps_packed("test.debug.twice", (x,), R.Tensor((8,), "float32"))\n'
        "b = R.split(a, 2)\nc = R.argsort(b[1])\nreturn c"
    )
    report = function.debug("main", RNG.standard_normal(8).astype(np.float32))
    assert report.first_bad is None
    assert report["a"].error.largest == 0 and report["a"].kernel == "test.debug.twice"
    assert len(report["b"].shapes) == 2
    assert report["c"].error.largest == 0
    assert not [n for n in tvm.runtime.list_global_func_names() if n.startswith("xrelax.debug")]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes(dtype):
    function = graph(
        "a = R.matmul(x, x)\nb = R.nn.softmax(a)\nreturn b", f'x: R.Tensor((16, 16), "{dtype}")'
    )
    x = tvm.nd.array(RNG.standard_normal((16, 16), np.float32), dtype=dtype)
    report = function.debug("main", x)
    assert report.first_bad is None and report["b"].verdict == "ok"


def test_a_branch_that_is_not_taken_has_no_values():
    function = graph(
        "if c:\n    y = R.exp(x)\nelse:\n    y = R.sin(x)\nreturn y",
        'x: R.Tensor((8,), "float32"), c: R.Tensor((), "bool")',
    )
    report = function.debug("main", np.ones(8, np.float32), np.array(True))
    taken = {o.operator: o.shapes for o in report}
    assert taken == {"exp": ((8,),), "sin": ()} and report.first_bad is None


LOOPS = from_source("""
@I.ir_module
class Module:
    @R.function(private=True)
    def scan(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32"), x: R.Tensor((), "float32")):
        i, n = T.int64(), T.int64()
        a = R.tanh(R.add(h, x))
        return (a, R.sum(a), R.exp(a))

    @R.function(private=True)
    def until(i: R.Prim(value="i"), c: R.Tensor((), "bool"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        a = R.multiply(h, R.const(0.5, "float32"))
        return (R.less(R.const(0.1, "float32"), R.max(a)), a)

    @R.function
    def main(
        c: R.Tensor((), "bool"), h: R.Tensor(("n",), "float32"), x: R.Tensor(("m",), "float32")
    ):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            r = R.loop(cls.scan, (h,), scanned=(x,))
            y = R.nn.relu(r[2])
            w = R.loop(cls.until, (c, r[0]), trips=m, is_while=True)
            z = R.multiply(w[1], h)
            R.output(y, z)
        return (y, z)
""")


@pytest.mark.parametrize("stage", ["relax", "tir", "rt", "loops", "asm"])
def test_loops_are_rows_with_the_tensors_of_all_iterations(stage):
    executable = relax.build(LOOPS)
    for trips in (0, 1, 4, 5):
        h, x = RNG.standard_normal(3, np.float32), RNG.standard_normal(trips, np.float32)
        report = executable.debug("main", np.array(True), h, x, stage=stage)
        assert [o.name for o in report] == ["r", "y", "w", "z"] and report.first_bad is None
        assert report["r"].operator == "loop @scan"
        assert report["r"].shapes == ((3,), (trips,), (trips, 3))
        assert {o.name: o.verdict for o in report} == dict.fromkeys("rywz", "ok")
        state, sums, rows = report["r"].values.values()
        for row, total, number in zip(rows, sums, x, strict=True):
            h = np.tanh(h + number)
            np.testing.assert_allclose(row, np.exp(h), rtol=1e-5)
            np.testing.assert_allclose(total, h.sum(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(state, h, rtol=1e-5)
        goes_on, halved = report["w"].values.values()
        assert bool(goes_on) == (trips == 0 or halved.max() > 0.1)


def test_picture(report, tmp_path):
    pytest.importorskip("matplotlib")
    report.plot(tmp_path / "errors.svg")
    text = (tmp_path / "errors.svg").read_text()
    assert "relative" not in text and "<svg" in text
    labels = re.findall("<!-- (.*) -->", text)
    assert {"g", "s", "r", "z"} <= {*labels} and "y" not in labels


def test_the_picture_ends_a_decade_below_the_smallest_error(vm, report, tmp_path):
    """So that errors of 0 do not hide the others."""
    pytest.importorskip("matplotlib")
    exact = {"s": report["s"].values[0].astype("float32"), "g": report["g"].values[0] + 1e-3}
    vm.debug("main", X, W, reference=exact).plot(tmp_path / "errors.svg")
    powers = re.findall(r"10\^\{(.*?)\}", (tmp_path / "errors.svg").read_text())
    assert powers and all(int(power.replace("\u2212", "-")) >= -6 for power in powers)


def test_wrong_requests_are_one_line(vm, report, tmp_path):
    params = 'x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")'
    other = graph("y = R.exp(x)\nreturn y", params)
    another = graph("q = R.exp(x)\nreturn q", params)
    vector = graph("y = R.exp(x)\nreturn y")
    for reference, message in (
        ("f32", "expected reference 'f64', another build, or values by name, got 'f32'; 'torch'"),
        (3, "got int; 'torch' is for models that were imported from PyTorch"),
        (other, "expected a reference of the same graph with 'y' as matmul, got one with 'y' as"),
        (vector, "expected a reference with parameters (x: (n, 64), w: (64, 32)), got (x: (8))"),
        (another, "expected a reference of the same graph, got one with other names"),
        ({"q": X}, "expected values by the names of operations (y, g, s, r, z), got none of them"),
        ({"s": X}, "expected the reference of 's' to have shape (20, 32), got (20, 64)"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)) as caught:
            vm.debug("main", X, W, reference=reference)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"^expected an operation of 'main' \(y, .*\), got 'q'$"):
        report["q"]
    with pytest.raises(ValueError, match=r"^expected a function \(main\), got 'side'$"):
        vm.debug("side", X)
    with pytest.raises(ValueError, match="argument 'w'"):
        vm.debug("main", X, W[:5])
    with pytest.raises(
        ValueError, match=r"^expected a stage that can run \(relax, .*, got 'llvm'$"
    ):
        vm.debug("main", X, W, stage="llvm")
    relax.build(MODULE).save(tmp_path / "module.xr")
    with pytest.raises(ValueError, match="got one from a file"):
        tvm.runtime.load(tmp_path / "module.xr").debug("main", X, W)

"""Bad input of every kind gives one line that names the place, what was expected and what came."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import ScriptError, from_source

KERNEL = """
@T.prim_func
def double(x: T.handle, y: T.handle):
    m, n = T.int64(), T.int64()
    X = T.match_buffer(x, (m, n), "float32")
    Y = T.match_buffer(y, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + X[vi, vj]
"""

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, "m"), "float32"), w0: R.Tensor((128, 784), "float32"),
             b: R.Tensor(("m",), "float32")):
        with R.dataflow():
            out = R.linear(x, w0)
            R.output(out)
        return out
"""


def linear_module():
    return from_source(MODULE.replace('(1, "m")', '("k", 784)').replace('("m",)', '("k",)'))


@pytest.fixture(scope="module")
def main():
    return relax.build(linear_module())["main"]


@pytest.fixture(scope="module")
def double():
    return relax.build(from_source(KERNEL))["double"]


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


CALLS = [
    (
        (zeros(1, 784), zeros(784, 128), zeros(1)),
        r"expected argument 'w0' to have shape \(128, 784\), got \(784, 128\)",
    ),
    ((zeros(1, 784), zeros(128, 784)), r"'?main'? expects 3 arguments \(x, w0, b\), got 2"),
    (
        (zeros(1, 784, dtype="float64"), zeros(128, 784), zeros(1)),
        "expected argument 'x' to have dtype float32, got float64",
    ),
    ((zeros(784), zeros(128, 784), zeros(1)), "argument 'x'.*got"),
    (
        (zeros(2, 784), zeros(128, 784), zeros(3)),
        "expected symbol 'k' to be 2 as in argument 'x', got 3 in argument 'b'",
    ),
    (([1.0], zeros(128, 784), zeros(1)), "argument 'x'.*list"),
]


@pytest.mark.parametrize(("args", "message"), CALLS)
def test_wrong_arguments(main, args, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        main(*args)
    assert "\n" not in str(error.value)


def test_a_read_only_output_is_refused(double):
    out = zeros(2, 3)
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"argument 'y'.*read-only"):
        double(zeros(2, 3), out)


def test_an_unknown_function_name_is_found_at_build():
    mod = from_source(
        MODULE.replace(
            "R.linear(x, w0)", 'R.call_dps_packed("env.nothing", (x,), R.Tensor((1, m), "float32"))'
        ).replace("with R.dataflow", "m = T.int64()\n        with R.dataflow")
    )
    with pytest.raises(
        Exception,
        match=r"expected 'env.nothing' to be a PrimFunc of the module or a registered function",
    ) as error:
        relax.build(mod)
    assert "\n" not in str(error.value)


def test_a_misspelt_parameter_is_named():
    with pytest.raises(Exception, match=r"parameter of 'main' \(x, w0, b\), got 'w1'"):
        relax.transform.BindParams("main", {"w1": zeros(128, 784)})(linear_module())


SCRIPTS = [
    (KERNEL.replace("T.grid(m, n)", "T.grid(m, n, 3)"), "expected 3 loop variables, got 2"),
    (KERNEL.replace("X[vi, vj] + X", "X[vi] + X"), "expected 2 indices for 'X', got 1"),
    (
        KERNEL.replace('(m, n), "float32")\n    for', '(2, 3), "float32")\n    for')
        .replace("T.grid(m, n)", "T.grid(2, 2)")
        .replace('T.axis.remap("SS", [i, j])', "(T.axis.spatial(2, i), T.axis.spatial(1, j))"),
        "binding of axis 'vj' takes values in [0, 2), outside its range [0, 1)",
    ),
    (KERNEL.replace("T.block", "T.blok"), "T.blok"),
]


@pytest.mark.parametrize(("text", "message"), SCRIPTS)
def test_a_wrong_script_shows_its_line(text, message):
    with pytest.raises(ScriptError) as error:
        from_source(text)
    first, line, caret = str(error.value).split("\n")
    assert message in first and ": error: " in first
    assert line in text and caret.strip() == "^"


SECOND_LAYER = """
@I.ir_module
class Module:
    @T.prim_func
    def linear1(X: T.Buffer((1, 128), "float32"), W: T.Buffer((10, 128), "float32"),
                B: T.Buffer((10,), "float32"), Z: T.Buffer((1, 10), "float32")):
        for j in range(10):
            with T.block("Z"):
                vj = T.axis.spatial(10, j)
                Z[0, vj] = X[0, vj] * W[vj, 0] + B[vj]

    @R.function
    def main(gv0: R.Tensor((1, 128), "float32"), b0: R.Tensor((128,), "float32")):
        gv1 = R.alloc_tensor((1, 128), dtype="float32")
        with R.dataflow():
            out = R.call_tir(linear1, (gv0, gv1, b0), (1, 128), dtype="float32")
            R.output(out)
        return out
"""


def test_shapes_that_do_not_fit_the_callee_are_named():
    with pytest.raises(
        Exception,
        match=r"'linear1'.*expected argument 'W' to have shape \(10, 128\), got \(1, 128\)",
    ):
        relax.build(from_source(SECOND_LAYER))


def opt(tmp_path: Path, text: bytes, *args: str):
    path = tmp_path / "input.mlir"
    path.write_bytes(text)
    command = [sys.executable, "-m", "xrelax.tools.opt", str(path), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


GOOD = b"""relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
  %y = relax.nn.relu %x : !relax.tensor<[n], f32> -> !relax.tensor<[n], f32>
  relax.return %y : !relax.tensor<[n], f32>
}
"""


SHUFFLE = b"""func.func @main(%x: vector<4xf32>) {
  %y = vector.shuffle %x, %x [0] : vector<4xf32>, vector<4xf32>
  func.return
}
"""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (GOOD[:100], ":2:"),
        (b"relax.func garbage }{ %%", ":1:"),
        (GOOD.replace(b"%x :", b"%z :"), ":"),
        (bytes(range(256)), ""),
        (SHUFFLE.replace(b"[0]", b"[99999999999999999999]"), ":2:"),
    ],
)
def test_bad_ir_files_end_in_one_line(tmp_path, text, place):
    done = opt(tmp_path, text)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and place in done.stderr and "rror" in done.stderr


def nested(depth: int) -> bytes:
    loops = "".join(f"tir.for %i{i} in (0, 1) {{\n" for i in range(depth))
    return f"tir.prim_func @f(%X: !tir.buffer<[1], f32>) {{\n{loops}{'}' * depth}\n}}\n".encode()


def test_a_thousand_nested_regions_work(tmp_path):
    done = opt(tmp_path, nested(1000), "--emit=loops")
    assert (done.returncode, done.stderr) == (0, "")
    assert "rt.func @f" in done.stdout


def test_building_checks_the_kind_of_its_argument():
    with pytest.raises(TypeError, match="expected a module or a function to build, got str"):
        tvm.build("not a module")

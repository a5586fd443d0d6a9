"""`benchmarks/compile_time.py`: the table of steps, of a model that needs nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "compile_time.py"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, PROGRAM, *options], capture_output=True, text=True)


def test_the_table_has_each_step_and_the_whole():
    done = run("mlp", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    rows = dict(line.split("|")[1:3] for line in done.stdout.splitlines())
    found = {step.strip(): cell.strip() for step, cell in rows.items()}
    assert found["CPU seconds"] == "mlp"
    steps = ("verifiers", "schedule-default", "passes of 'loops'", "text of LLVM IR", "LLVM: emit")
    parts = [float(found[step]) for step in (*steps, "build from the cache, new process")]
    assert 0 < sum(parts[:-1]) <= float(found["build"]) + 0.05 and parts[-1] < float(found["build"])


def test_an_unknown_model_is_refused():
    assert "expected models (mlp, resnet18," in run("resnet19").stderr

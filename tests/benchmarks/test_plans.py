"""`benchmarks/plans.py` and `calibrate.py`: plans are timed, and a model comes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from xrelax.backend.target import Target

FOLDER = Path(__file__).parents[2] / "benchmarks"


def run(name: str, *options: str) -> str:
    command = [sys.executable, FOLDER / name, *options]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "XRELAX_CACHE": "1"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plans_are_compared_and_a_model_is_fitted(tmp_path):
    times = tmp_path / "plans.jsonl"
    text = run("plans.py", "--shapes", "1", "--rounds", "1", "--budget", "0.01", "--seed", "5",
               "--output", str(times))  # fmt: skip
    assert "chosen over best: mean" in text
    (record,) = map(json.loads, times.read_text().splitlines())
    assert record["seconds"].keys() == record["predicted"].keys() and len(record["seconds"]) > 3
    assert record["chosen"] in record["seconds"] and record["ratio"] >= 1
    model = run("calibrate.py", str(times)).splitlines()[-1]
    assert model.startswith("-model=") and Target(f"llvm {model}").model.clock_ghz > 0.5

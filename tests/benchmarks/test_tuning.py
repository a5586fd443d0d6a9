"""`benchmarks/tuning.py`: the table of what a search gains."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "tuning.py"


def test_a_row_of_the_table():
    options = ("--trials", "2", "--only", "layer norm", "--rounds", "1")
    done = subprocess.run(
        [sys.executable, PROGRAM, *options],
        capture_output=True,
        text=True,
        env={**os.environ, "XRELAX_CACHE": "1"},
    )
    assert done.returncode in (0, 1), done.stderr  # 1 on a machine whose clock jumps
    rows = [line for line in done.stdout.splitlines() if line.startswith("| layer norm 1024x768")]
    assert len(rows) == 1 and rows[0].count("|") == 6
    assert "Geometric mean of 1 workloads" in done.stdout or "(reached)" in rows[0]

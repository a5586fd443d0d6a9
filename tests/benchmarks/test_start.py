"""`benchmarks/start.py`: the rows of each way, of a model of one operator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "start.py"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of ONNX files, in which a model of one operator has the name of a network."""
    onnx = pytest.importorskip("onnx")
    text = """
    <ir_version: 8, opset_import: ["": 17]>
    network (float[1, 3, 224, 224] x) => (float[1, 3, 224, 224] y) { y = Relu (x) }
    """
    path = tmp_path / "exported" / "resnet50.onnx"
    path.parent.mkdir()
    onnx.save(onnx.parser.parse_model(text), path)
    return tmp_path


def run(files: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XRELAX_ONNX_FILES": str(files)}
    command = [sys.executable, PROGRAM, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_the_table_has_a_row_for_each_way(files):
    done = run(files, "--rounds", "1")
    assert done.returncode == 0, done.stderr
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    assert cells[0] == ["model", "way", "ready", "ratio", "first call", "memory"]
    found = {row[1]: row for row in cells[2:]}
    assert {"with an empty cache", "from the cache", "from its modules"} <= {*found}
    assert {row[0] for row in found.values()} == {"resnet50"}
    assert found["from the cache"][3] == "1.0"


def test_an_unknown_model_is_refused(files):
    assert "expected exported models (resnet50), got 'resnet51'" in run(files, "resnet51").stderr

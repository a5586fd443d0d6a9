"""Runs the FileCheck suite through lit, once, and reports each of its files as one test."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "filecheck"
FILES = sorted(path.relative_to(SUITE).as_posix() for path in SUITE.rglob("*.mlir"))
PASSED = {"PASS", "XFAIL", "FLAKYPASS"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """lit's verdict on every file of the suite, by the file's path in the suite."""
    report = tmp_path_factory.mktemp("lit") / "results.json"
    lit = Path(sys.executable).parent / "lit"
    command = [str(lit), "-q", "--output", str(report), str(SUITE)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert report.exists(), run.stdout + run.stderr
    tests = json.loads(report.read_text())["tests"]
    return {test["name"].split(" :: ")[1]: test for test in tests}


@pytest.mark.parametrize("file", FILES)
def test_filecheck(file: str, results: dict[str, dict[str, str]]):
    verdict = results[file]
    if verdict["code"] == "UNSUPPORTED":
        pytest.skip(f"lit calls {file} unsupported here")
    assert verdict["code"] in PASSED, verdict["output"]


def test_every_file_is_run(results: dict[str, dict[str, str]]):
    assert sorted(results) == FILES

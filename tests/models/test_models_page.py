"""docs/models.md lists the operators that the importers know, and every model."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
pytest.importorskip("torch")

from operator_states import onnx_operators, onnx_state
from table import MEASURES, PAGE, models_of


def test_operators_are_up_to_date():
    """In a process of its own, where no test has registered converters."""
    program = "from table import operator_sections; print(operator_sections(), end='')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=PAGE.parents[1] / "tests" / "models", capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    page = PAGE.read_text()
    expected = f"{models_of(page)}\n{done.stdout.decode()}"
    assert page == expected, "run `python tests/models/table.py --operators`"


def test_every_model_has_a_row():
    rows = re.findall(r"^\| `([\w.-]+)` \|", models_of(PAGE.read_text()), re.MULTILINE)
    assert rows == [*MEASURES], "run `python tests/models/table.py`"


def test_states_of_operators():
    assert onnx_state("Conv") == "converter"
    assert onnx_state("HannWindow") == onnx_state("CastLike") == "function"
    assert onnx_state("StringSplit") == "none"
    assert set(map(onnx_state, onnx_operators())) == {"converter", "function", "none"}

"""The programs of docs/pytorch.md run, one after the other in one file."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs" / "pytorch.md"


def test_programs_run(tmp_path: Path):
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(programs))
    command = [sys.executable, "-W", "ignore", "page.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "expected dim 0 ('batch') of argument 'x' to be in [1, 64], got 65" in result.stdout
    assert "aten.special_bessel_j0.default ('special_bessel_j0') at " in result.stdout

"""The programs of docs/onnx.md run, one after the other in one file."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"


def test_programs_run(tmp_path: Path):
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(programs))
    command = [sys.executable, "-W", "ignore", "page.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "<OnnxModel (pixels) -> (logits, hidden)>" in result.stdout
    assert "expected argument 'pixels' to have shape (4, 64), got (3, 64)" in result.stdout
    assert "LeakyRelu ('narrow') at the model, node 2: expected attribute 'alpha'" in result.stdout

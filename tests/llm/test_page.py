"""The programs of docs/llm.md run, on a tiny model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import gguf_models
from test_model_folder import write

PAGE = Path(__file__).parents[2] / "docs" / "llm.md"


def test_programs_of_the_page_run(tmp_path, monkeypatch, capsys):
    gguf_models.write(gguf_models.model_of("llama"), "llama", "Q4_1", tmp_path / "model.gguf")
    write(tmp_path / "SmolLM2-135M-Instruct", "llama")
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for program in programs:
        exec(compile(program, str(PAGE), "exec"), names)
    assert "(2, 300)" in capsys.readouterr().out
    assert names["model"].pool.free == len(names["model"].pool.arrays[0])

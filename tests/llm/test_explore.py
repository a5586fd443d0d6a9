"""`xrelax-explore` of the steps of a language model."""

from __future__ import annotations

from xrelax.explore.command import run


def test_the_step_of_a_token(tiny_file, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run([str(tiny_file), "--export", str(page)]) == 0
    text = page.read_text()
    assert "decode of tiny.gguf" in text and "paged_attention" in text
    assert '"name": "prefill"' not in text and '"name": "choose"' not in text


def test_mistakes_are_one_line(tiny_file, tmp_path, capsys):
    assert run([str(tiny_file), "--module", "x"]) == 1
    assert capsys.readouterr().err == (
        "error: expected a function of decode, prefill, choose, got 'x'\n"
    )
    (tmp_path / "model.gguf").write_bytes(b"GGUX")
    assert run([str(tmp_path / "model.gguf")]) == 1
    assert capsys.readouterr().err.startswith("error: ")

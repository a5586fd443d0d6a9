"""Highlighted code: the text is kept, line by line, and nothing in it is HTML."""

from __future__ import annotations

import html
import re
import sys

import pytest

from xrelax.display import highlight
from xrelax.display.highlight import KINDS, highlighted_lines, stylesheet

TEXTS = {
    "python": '"""Two\nlines <b>."""\n\n@T.prim_func\ndef f(x: T.int64):  # no\n    return 1.5\n',
    "mlir": '%0 = tir.load %X[%i] : !tir.buffer<[4, n], f32>  // "a" & b\nfunc @f(%x_1: i32) {}\n',
    "llvm": "define float @f(ptr %0) {\n  %2 = fadd float 1.0, 2.0\n  ret float %2\n}",
    "asm": "f:\n        vaddps  %ymm0, %ymm1, %ymm2\n        retq\n",
    "text": "a < b\n",
}


def plain(line: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", line))


@pytest.mark.parametrize("language", TEXTS)
def test_the_text_is_kept_line_by_line(language: str):
    lines = highlighted_lines(TEXTS[language], language)
    assert [plain(line) for line in lines] == TEXTS[language].split("\n")
    for line in lines:
        assert line.count("<span") == line.count("</span>")
    assert any("<span" in line for line in lines) == (language != "text")


def test_kinds_of_tokens():
    (line,) = highlighted_lines('%0 = tir.load %X[2] : f32 // "c"', "mlir")
    assert '<span class="x-name">%0</span>' in line
    assert '<span class="x-keyword">tir.load</span>' in line
    assert '<span class="x-number">2</span>' in line
    assert '<span class="x-type">f32</span>' in line
    assert '<span class="x-comment">// "c"</span>' in line


def test_without_pygments_text_is_escaped(monkeypatch: pytest.MonkeyPatch):
    highlight.lexer_of.cache_clear()
    for name in [*sys.modules]:
        if name.startswith("pygments"):
            monkeypatch.setitem(sys.modules, name, None)
    for name in ("pygments.lexer", "pygments.lexers.python"):
        monkeypatch.setitem(sys.modules, name, None)
    assert highlighted_lines("a < b\n%0 = x", "python") == ["a &lt; b", "%0 = x"]
    assert highlighted_lines("%0 = tir.load", "mlir") == ["%0 = tir.load"]
    highlight.lexer_of.cache_clear()


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", KINDS)
def test_colours_have_contrast(kind: str):
    for colour, background in zip(KINDS[kind], ("#ffffff", "#0f1318"), strict=True):
        light, dark = sorted([luminance(colour), luminance(background)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
    assert stylesheet().count(f".x-{kind} {{ color: light-dark({', '.join(KINDS[kind])}); }}") == 1

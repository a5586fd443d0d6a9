"""Elements of HTML that outputs of notebooks are made of: self-contained, light and dark."""

from __future__ import annotations

from functools import cache
from html import escape

from .highlight import highlighted_lines, stylesheet

SCOPE = ".xrelax"


@cache
def _style() -> str:
    from importlib.resources import files

    text = (files(__package__ or "") / "notebook.css").read_text("utf-8")
    return text + stylesheet(SCOPE)


def document(title: str, note: str, *content: str, theme: str = "") -> str:
    """An output: a head of two texts, and elements. The theme may be fixed: "light" or "dark"."""
    head = f"<header><b>{escape(title)}</b><small>{escape(note)}</small></header>" if title else ""
    name = f"{SCOPE[1:]} {theme}".strip()
    return f'<div class="{name}"><style>{_style()}</style>{head}{"".join(content)}</div>'


def code(text: str, language: str = "python") -> str:
    """A block of highlighted code."""
    lines = "\n".join(highlighted_lines(text, language))
    return f'<pre tabindex="0"><code>{lines}</code></pre>'


def inline_code(text: str, language: str = "python") -> str:
    """Highlighted code within a line."""
    return f"<code>{' '.join(highlighted_lines(text, language))}</code>"


def short_code(text: str, language: str, limit: int, rest: str) -> str:
    """A block of at most `limit` lines; `rest` says how to see what is left out."""
    lines = text.split("\n")
    if len(lines) <= limit:
        return code(text, language)
    left = len(lines) - limit
    return code("\n".join(lines[:limit]), language) + paragraph(f"… {left:,} more lines: {rest}")


def paragraph(text: str) -> str:
    """A note of plain text."""
    return f"<p>{escape(text)}</p>"


def folded(summary: str, content: str, *, is_open: bool = False) -> str:
    """Content that folds under a summary, both HTML."""
    start = "<details open>" if is_open else "<details>"
    return f"{start}<summary>{summary}</summary>{content}</details>"

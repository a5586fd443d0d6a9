"""Elements of HTML that outputs of notebooks are made of: self-contained, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from uuid import uuid4

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


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of plain texts; columns of numbers are aligned at the right."""
    filled = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
    numeric = [bool(c) and all(map(_is_number, c)) for c in filled] or [False] * len(head)

    def line(tag: str, cells: Sequence[str]) -> str:
        starts = [f'<{tag} class="number">' if n else f"<{tag}>" for n in numeric]
        pairs = zip(starts, cells, strict=True)
        return "".join(("<tr>", *(f"{s}{escape(c)}</{tag}>" for s, c in pairs), "</tr>"))

    body = "".join(line("td", row) for row in rows)
    return f'<div class="wide" tabindex="0"><table>{line("th", head)}{body}</table></div>'


def tabs(panels: Mapping[str, str]) -> str:
    """Elements of which one is shown, by name; it works without scripts."""
    group = f"xrelax-{uuid4().hex[:12]}"
    parts: list[str] = []
    for number, (name, content) in enumerate(panels.items()):
        key, checked = f"{group}-{number}", "" if number else " checked"
        parts.append(f'<input type="radio" name="{group}" id="{key}"{checked}>')
        parts.append(f'<label for="{key}">{escape(name)}</label>')
        parts.append(f'<div class="panel">{content}</div>')
    return f'<div class="tabs">{"".join(parts)}</div>'


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").isdecimal()

"""The explorer's page as one self-contained text of HTML."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files

from ..display.highlight import stylesheet
from .exploration import Exploration

STYLES = ("page.css",)
PROGRAMS = ("page.js", "stages.js", "passes.js", "kernels.js", "values.js", "start.js")
"""Files of the page, in order."""


def page_text(exploration: Exploration, token: str | None = None) -> str:
    """The page with everything in it; with a token it can ask its server to run actions."""
    folder = files(__package__ or "") / "static"
    style, program, frame = (
        "\n".join((folder / name).read_text("utf-8") for name in names)
        for names in (STYLES, PROGRAMS, ("page.html",))
    )
    data = json.dumps({**exploration.page(), "token": token}, separators=(",", ":"))
    parts = {
        "TITLE": escape(exploration.title),
        "STYLE": stylesheet() + style,
        "DATA": data.replace("<", "\\u003c"),  # so that no text in it ends the element
        "PROGRAM": program,
    }
    for name, text in parts.items():
        frame = frame.replace(f"<!--{name}-->", text, 1)
    return frame

"""Indented lines of Python."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


class Writer:
    """Collects lines at the current indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._margin = ""

    def line(self, text: str = "") -> None:
        """Add one line."""
        self.lines.append(self._margin + text if text else "")

    @contextmanager
    def indented(self, header: str | None = None) -> Generator[None]:
        """Lines added inside stand one level deeper, below `header` if there is one."""
        if header is not None:
            self.line(header)
        margin, self._margin = self._margin, self._margin + "    "
        try:
            yield
        finally:
            self._margin = margin

    def text(self) -> str:
        """All lines, without a newline at the end."""
        return "\n".join(self.lines)

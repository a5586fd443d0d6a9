"""Indented lines of Python, and unique names for the values of a function."""

from __future__ import annotations

import keyword
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from .options import Options


class Writer:
    """Collects lines at the current indentation."""

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
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
        margin, self._margin = self._margin, self._margin + " " * self.options.indent_spaces
        try:
            yield
        finally:
            self._margin = margin

    def text(self) -> str:
        """All lines, without a newline at the end."""
        return "\n".join(self.lines)


RESERVED = frozenset({*keyword.kwlist, "T", "R", "I", "cls", "metadata", "range", "float", "_"})
"""Names that printed programs use themselves."""


def identifier(text: str) -> str:
    """The nearest Python identifier."""
    name = re.sub(r"\W", "_", text)
    return name if name and not name[0].isdigit() else f"v{name}"


def without_suffix(name: str) -> str:
    """The name as an SSA name hint keeps it: xDSL drops a trailing ``_1``."""
    return re.sub(r"(_\d+)+$", "", name)


class Names:
    """Assigns names that are not taken; the names of a scope become free when it ends."""

    def __init__(self, reserved: Iterable[str] = ()):
        self._taken: set[str] = {*RESERVED, *reserved}
        self._suffixes: dict[str, int] = {}
        self._scopes: list[list[tuple[str, str, int]]] = [[]]

    def fresh(self, wanted: str) -> str:
        """A name like `wanted`: itself if it is free, else with the first free suffix ``_1``, …"""
        base = identifier(wanted)
        name, suffix = base, self._suffixes.get(base, 0)
        while name in self._taken:
            suffix += 1
            name = f"{base}_{suffix}"
        self._taken.add(name)
        self._suffixes[base] = suffix
        self._scopes[-1].append((name, base, suffix))
        return name

    def numbered(self, stem: str) -> str:
        """The first free name of ``lv``, ``lv1``, ``lv2``, …"""
        key = f"{stem}#"
        count = self._suffixes.get(key, 0)
        while (name := stem if count == 0 else f"{stem}{count}") in self._taken:
            count += 1
        self._suffixes[key] = count
        return self.fresh(name)

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names that are taken inside are free again afterwards."""
        self._scopes.append([])
        try:
            yield
        finally:
            for name, base, suffix in reversed(self._scopes.pop()):
                self._taken.discard(name)
                self._suffixes[base] = max(suffix - 1, 0)

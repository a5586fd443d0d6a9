"""The programs of the reference's pages of names, and what they print.

They are in the folder examples, after lines ``# %% NAME …`` with the names, those of
`xrelax.names.NAMES`, that a program is the example of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from update import Page

from xrelax.name_lookup import resolve
from xrelax.names import NAMES

FOLDER = Path(__file__).parent / "examples"
_CELL = re.compile(r"^# %% (.+)\n((?:(?!# %% ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A program, and the names that it is the example of."""

    names: tuple[str, ...]
    text: str

    def printed(self) -> str:
        """Run the program in a namespace of its own, and return what it prints."""
        page = Page()
        try:
            page.run(self.text)
        except Exception as error:
            error.add_note(f"in the example of {', '.join(self.names)}")
            raise
        return page.printed

    def markdown(self) -> str:
        """The program and what it prints, as a section of a page."""
        output = self.printed()
        shown = f"\n```text\n{output}```\n" if output else ""
        return f"## Example\n\n```python\n{self.text}```\n{shown}"


def programs() -> list[Program]:
    """All programs."""
    cells = [c for path in sorted(FOLDER.glob("*.py")) for c in _CELL.findall(path.read_text())]
    return [Program(tuple(names.split()), f"{text.strip()}\n") for names, text in cells]


def value_of(name: str) -> object:
    """The object of a name."""
    prefix, _, last = name.rpartition(".")
    return resolve(f"{prefix}." if prefix else "", last)


def first_names() -> dict[str, str]:
    """The first name of each name's object: today's spelling."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(value_of(name)), name) for name in NAMES}

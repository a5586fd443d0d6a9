"""Names that a builder makes up: ``lv``, ``lv1``, ``lv2``, …"""

from __future__ import annotations

from collections.abc import Container, Iterable


def numbered_name(stem: str, taken: Container[str], start: int = 0) -> str:
    """The stem, or the first of ``stem1``, ``stem2``, … that is not taken."""
    name, number = stem if start == 0 else f"{stem}{start}", start
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    return name


class Names:
    """The names of the values of one function."""

    def __init__(self, taken: Iterable[str]):
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def fresh(self, stem: str) -> str:
        """A name like the stem that no other value has."""
        name = numbered_name(stem, self._taken, self._counts.get(stem, 0))
        self._counts[stem] = int(name.removeprefix(stem) or 0)
        self._taken.add(name)
        return name

    def free(self, name: str) -> None:
        """Let a name be given again."""
        self._taken.discard(name)
        self._counts.clear()

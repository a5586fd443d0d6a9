"""Drawn dims of programs: numbers, and symbols that several tensors share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from choices import Choices


@dataclass(frozen=True)
class Dim:
    """A size as the script writes it, and its number."""

    text: str
    size: int

    def plus(self, shift: int) -> Dim:
        if self.text.isdigit():
            return Dim(str(self.size + shift), self.size + shift)
        return Dim(f"{self.text} + {shift}", self.size + shift)

    def times(self, other: Dim) -> Dim:
        size = self.size * other.size
        both = self.text.isdigit() and other.text.isdigit()
        return Dim(str(size) if both else f"({self.text}) * ({other.text})", size)


class DimChoices(Choices):
    """Draws dims with `symbols`, which a subclass has with their numbers; at most three of them."""

    SIZES: ClassVar[Sequence[int]]
    SHARED: ClassVar[int]
    """Percent of the dims that are a symbol of before, where there is one."""

    symbols: dict[str, int]

    def dim(self) -> Dim:
        """A dim; only a symbol may be 0."""
        if self.symbols and self.chance(self.SHARED):
            name = self.pick(sorted(self.symbols))
            return Dim(name, self.symbols[name])
        size = self.pick(self.SIZES)
        if len(self.symbols) < 3 and self.chance(50):
            name = "nmk"[len(self.symbols)]
            self.symbols[name] = size
            return Dim(name, size)
        return Dim(str(max(size, 1)), max(size, 1))

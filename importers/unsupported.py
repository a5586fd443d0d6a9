"""The errors of importers: what a converter refuses, and all of a model's problems at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Unsupported(Exception):
    """Raised by a converter for unsupported arguments; the importer adds the place.

    `reason` says what is not supported, `advice` what to do about it.
    """

    def __init__(self, reason: str, advice: str = ""):
        super().__init__(reason)
        self.reason = reason
        self.advice = advice


class Problem(NamedTuple):
    """A node that cannot be imported, with the converter's error if it was not `Unsupported`."""

    target: str
    name: str
    place: str
    reason: str
    advice: str
    cause: Exception | None = None

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        advice = f"; {self.advice}" if self.advice else ""
        place = f" at {self.place}" if self.place else ""
        return f"{self.target} ('{self.name}'){place}{reason}{advice}"


class UnsupportedError(ValueError):
    """A graph has operations that cannot be imported; the message has a line for each.

    `problems` has the nodes' targets, names, source lines, and advice. `message` replaces these
    lines if the problems are not operations. `failed` has the names of all nodes without a value:
    those of the problems, and their users if there is no placeholder value. The cause is the first
    unexpected error of a converter.
    """

    def __init__(
        self, problems: Sequence[Problem], message: str = "", failed: Collection[str] = ()
    ):
        self.problems = tuple(problems)
        self.failed = frozenset(failed)
        count = f"{len(problems)} operation{'' if len(problems) == 1 else 's'}"
        head = f"expected a model of supported operations, got {count} without a conversion:"
        super().__init__(message or "\n  ".join([head, *map(str, problems)]))
        self.__cause__ = next((p.cause for p in problems if p.cause is not None), None)

"""The interfaces by which an executable shows its calls and its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Profiler(Protocol):
    """Times the kernels of a function in calls of it, by a build of its own."""

    def profile(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], repeat: int
    ) -> Any:
        """The report of `repeat` calls of a function of the executable."""
        ...


class Debugger(Protocol):
    """Compares the results of operations of a function with a reference."""

    def debug(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], **options: Any
    ) -> Any:
        """The report of a call of a function of the executable."""
        ...


class Inspector(Protocol):
    """Has the texts of the code of an executable."""

    def text(self, stage: str) -> str:
        """The module at the stage "llvm-opt" or "asm"."""
        ...

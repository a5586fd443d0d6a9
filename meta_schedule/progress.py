"""The progress of a search: a bar on terminals, where tqdm is installed."""

from __future__ import annotations

from importlib import import_module
from types import TracebackType
from typing import Any


class Progress:
    """A bar over trials with the best speedup so far; it disappears at the end."""

    def __init__(self, total: int, is_shown: bool = True):
        self._bar: Any = None
        if is_shown:
            try:
                module: Any = import_module("tqdm")
            except ModuleNotFoundError:  # an optional package
                return
            self._bar = module.tqdm(total=total, desc="tuning", leave=False, disable=None)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, trials: int, task: str, best: float) -> None:
        """Count trials; `best` is the best speedup of the kernel `task`."""
        if self._bar is not None:
            self._bar.update(trials)
            self._bar.set_postfix_str(f"{task}: best {best:.2f}x the default")

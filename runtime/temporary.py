"""Folders that are removed when nothing needs them; TVM's ``support.utils``."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from types import TracebackType


class TempDirectory:
    """A temporary folder, which a ``with`` block, `remove` or its last reference removes."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="xrelax-")
        """The path of the folder."""
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def relpath(self, name: str) -> str:
        """The path of a file in the folder."""
        return os.path.join(self.path, name)

    def listdir(self) -> list[str]:
        """The names of what is in the folder."""
        return os.listdir(self.path)

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        self._remove()

    def __enter__(self) -> TempDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()


def tempdir() -> TempDirectory:
    """A new temporary folder."""
    return TempDirectory()

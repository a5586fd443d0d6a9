"""What was compiled before, as plain files by key in a folder of bounded size.

``XRELAX_CACHE_DIR`` names the folder, ``XRELAX_CACHE=0`` turns the cache off. Any number of
processes may use one folder: a file appears complete, a damaged one counts as missing, and nothing
is kept where the folder cannot be written to.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..runtime.package import Package, PackageError, Part, write_package

DEFAULT_LIMIT = 1 << 30
"""Bytes that a folder may hold."""

_ABANDONED_AFTER = 3600.0
"""Seconds after which an incomplete file belongs to no process that still writes it."""


@dataclass(frozen=True)
class Cache:
    """A folder of packages, from which those unused for longest go when it gets too large."""

    root: Path
    limit: int = DEFAULT_LIMIT

    def path(self, key: str) -> Path:
        """Where the package of a key is, if it is there."""
        return self.root / key[:2] / key[2:]

    def get(self, key: str) -> Package | None:
        """The package of a key; `None` if there is none, or a damaged one, which then goes away."""
        path = self.path(key)
        try:
            package = Package(path)
            os.utime(path)
        except PackageError:
            self.drop(key)
            return None
        except OSError:
            return None
        return package

    def put(self, key: str, manifest: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        """Keep a package under a key, if the folder can be written to; `trim` bounds the whole."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_package(path, manifest, parts)
        except OSError:
            pass  # there is no cache where none can be written

    def drop(self, key: str) -> None:
        """Forget a package."""
        _unlink(self.path(key))

    def trim(self) -> None:
        """Remove what is unused for longest until the rest fits, and what was left half-written."""
        stats = {
            file.path: stat
            for folder in _entries(self.root)
            for file in _entries(Path(folder.path))
            if (stat := _stat(file)) is not None
        }
        now, size = time.time(), sum(s.st_size for s in stats.values())
        for path, stat in sorted(stats.items(), key=lambda item: item[1].st_mtime):
            is_partial = Path(path).name.startswith(".")
            if size > self.limit if not is_partial else now - stat.st_mtime > _ABANDONED_AFTER:
                _unlink(Path(path))
                size -= stat.st_size


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # another process has removed it meanwhile
        return None


def _unlink(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        pass  # another process has removed it, or has it open where that forbids removal


def default_cache() -> Cache | None:
    """The cache that the environment asks for; `None` if it is off or there is no place for it."""
    if os.environ.get("XRELAX_CACHE", "1") == "0":
        return None
    if given := os.environ.get("XRELAX_CACHE_DIR"):
        return Cache(Path(given))
    try:
        return Cache(_user_folder() / "xrelax")
    except RuntimeError:  # there is no home
        return None


def _user_folder() -> Path:
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and (folder := os.environ.get("LOCALAPPDATA")):
        return Path(folder)
    return Path.home() / ".cache"

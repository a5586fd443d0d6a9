"""What was compiled before, as plain files by key in a folder of bounded size.

``XRELAX_CACHE_DIR`` names the folder, ``XRELAX_CACHE=0`` turns the cache off. Any number of
processes may use one folder: a file appears complete, a damaged one counts as missing, and nothing
is kept where the folder cannot be written to.

The files are native code, which runs as the user does. So the folder and its files are the user's
alone (see `private_folder`), and a folder that others can write to is not used.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..runtime.package import Package, PackageError, Part, write_archive
from ..runtime.warning import XRelaxWarning
from .private_folder import NotPrivateError, PrivateFolder, private_folder

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
        try:
            with (
                private_folder(self.root) as root,
                root.folder(key[:2]) as folder,
                folder.open(key[2:]) as file,
            ):
                os.utime(file.name if folder.descriptor is None else file.fileno())
                return Package(self.path(key), file)
        except PackageError:
            self.drop(key)
        except OSError:
            pass  # there is none
        except NotPrivateError as error:
            _warn(error)
        return None

    def put(self, key: str, manifest: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        """Keep a package under a key, if the folder can be written to; `trim` bounds the whole."""
        try:
            with (
                private_folder(self.root, create=True) as root,
                root.folder(key[:2], create=True) as folder,
                folder.replacing(key[2:]) as file,
            ):
                write_archive(file, manifest, parts)
        except OSError:
            pass  # there is no cache where none can be written
        except NotPrivateError as error:
            _warn(error)

    def drop(self, key: str) -> None:
        """Forget a package."""
        try:
            with private_folder(self.root) as root, root.folder(key[:2]) as folder:
                folder.unlink(key[2:])
        except (OSError, NotPrivateError):
            pass  # there is none

    def trim(self) -> None:
        """Remove what is unused for longest until the rest fits, and what was left half-written."""
        try:
            with private_folder(self.root) as root:
                self._trim(root)
        except OSError:
            pass  # there is none, or another process removes it
        except NotPrivateError as error:
            _warn(error)

    def _trim(self, root: PrivateFolder) -> None:
        found = [(e.name, f.name, s) for e in root.entries() for f, s in _files(root, e)]
        now, size = time.time(), sum(s.st_size for _, _, s in found)
        for folder, name, stat in sorted(found, key=lambda f: f[2].st_mtime):
            is_partial = name.startswith(".")
            if size > self.limit if not is_partial else now - stat.st_mtime > _ABANDONED_AFTER:
                with root.folder(folder) as opened:
                    opened.unlink(name)
                size -= stat.st_size


def _files(
    root: PrivateFolder, entry: os.DirEntry[str]
) -> list[tuple[os.DirEntry[str], os.stat_result]]:
    """The files in a folder of the cache; none where another process has removed it meanwhile."""
    try:
        with root.folder(entry.name) as folder:
            return [(f, s) for f in folder.entries() if (s := _stat(f)) is not None]
    except (OSError, NotPrivateError):
        return []


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # another process has removed it meanwhile
        return None


def _warn(error: NotPrivateError) -> None:
    warnings.warn(f"the cache is not used: {error}", XRelaxWarning, stacklevel=3)


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

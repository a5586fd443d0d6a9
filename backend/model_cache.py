"""The model cache: models of files, compiled and with their weights packed.

The key of a model hashes the state of its file, which every write changes, and the options of the
compilation; the file is not read. An entry is the file of an executable (`runtime.saving`) whose
constants are all that calls read: values that were computed on load, and no constants that only
they need. Processes map it, and share its memory.

    manifest.json · code/N.o · constants/N.npy
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..runtime.executable import Executable
from ..runtime.package import PackageError
from ..runtime.saving import check_format, object_files, packed_parts, sealed, unpacked
from .build_key import DISABLED, build_key, cache_for
from .cache import Cache
from .jit import Library
from .target import Target

SETTLED = 2_000_000_000
"""Nanoseconds between the last change of a file and its reading. A write that follows the reading
has then another time, also where clocks are as coarse as on FAT.
"""


class CachedModel(NamedTuple):
    """A model of the cache: its code with weights, what the front end noted, and its files."""

    executable: Executable
    notes: Mapping[str, Any]
    files: Mapping[str, Any]
    """The state of each file that the model was read from."""

    def verify_files(self) -> None:
        """Raise ValueError if the files are not those that the model was compiled from."""
        if changed := _changed(self.files):
            raise ValueError(f"expected '{changed[0]}' as it was compiled, got another file since")


@dataclass(frozen=True)
class ModelEntry:
    """The entry of a file's model in the cache."""

    cache: Cache
    target: Target
    path: str
    state: list[int]
    key: str
    began: int
    """The time in nanoseconds before the file was read."""

    def load(self) -> CachedModel | None:
        """The cached model, or `None`; raises NativeError for code that cannot be linked."""
        package = self.cache.get(self.key)
        if package is None:
            return None
        try:
            check_format(package)
            library = Library(object_files(package), self.target)
            with package.reading():
                notes, files = package.manifest["notes"], package.manifest["files"]
            if _changed(files):
                return None
            executable = Executable(*unpacked(package, library))
        except PackageError:
            self.cache.drop(self.key)
            return None
        executable.link()
        return CachedModel(executable, notes, files)

    def store(
        self, executable: Executable, notes: Mapping[str, Any], others: Iterable[str]
    ) -> None:
        """Store a model with `notes` for the front end; it was read from the file and `others`.

        A file that changed shortly before it was read, or since, is not taken for what was read.
        """
        files = {path: file_state(path) for path in (self.path, *others)}
        if files[self.path] != self.state or not all(map(self._is_settled, files.values())):
            return
        contents = executable.after_load()
        manifest, parts = packed_parts(contents, {})
        manifest = sealed({**manifest, "notes": notes, "files": files}, contents.library.objects)
        self.cache.put(self.key, manifest, parts)
        self.cache.trim()

    def _is_settled(self, state: list[int] | None) -> bool:
        return state is not None and state[-1] < self.began - SETTLED


def model_entry(path: str, target: Target, *options: str) -> ModelEntry | None:
    """The entry of a file's model for a target and options.

    `None` if caching is off, for code that this process cannot run, and for a file that cannot be
    examined.
    """
    cache, path = cache_for(target), os.path.realpath(path)
    state = file_state(path)
    if cache is None or state is None or not target.is_host:
        return None
    disabled = repr(sorted(DISABLED.get()))
    key = build_key(target, "model", path, repr(state), disabled, *options)
    return ModelEntry(cache, target, path, state, key, time.time_ns())


def file_state(path: str) -> list[int] | None:
    """Numbers of which one changes with every write to a file, the time of its last change.

    Programs cannot set this time. `None` where there is none (Windows), or no such file.
    """
    if sys.platform == "win32":
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _changed(files: Mapping[str, Any]) -> list[str]:
    return [path for path, state in files.items() if file_state(path) != state]

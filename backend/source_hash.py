"""A hash of the compiler: its own source, and the versions of what it is built on."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

_ROOT = str(Path(__file__).parents[1])
_BUILT_ON = ("llvmlite", "numpy", "xdsl")


@cache
def source_hash() -> str:
    """The hash, computed once in a process."""
    found = hashlib.blake2b(digest_size=16)
    for name in _BUILT_ON:
        found.update(f"{name} {import_module(name).__version__}\0".encode())
    for path in source_files(_ROOT):
        with open(path, "rb") as file:
            found.update(f"{path[len(_ROOT) :]}\0".encode() + file.read())
    return found.hexdigest()


def sources_are_loaded() -> bool:
    """Whether the source is still what this process has imported, so that its hash says so."""
    started: float = sys.modules[__name__.partition(".")[0]].imported_at
    return all(os.stat(path).st_mtime < started for path in source_files(_ROOT))


def source_files(root: str) -> list[str]:
    """The modules of a package and of the packages in it, in an order of their own."""
    entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    found = [e.path for e in entries if e.name.endswith(".py")]
    for entry in entries:
        if os.path.isfile(os.path.join(entry.path, "__init__.py")):
            found += source_files(entry.path)
    return found

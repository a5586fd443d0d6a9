"""What a build depends on besides its program: the compiler's source and what it was extended by.

This imports neither xDSL nor the compiler: a process that finds all of its code in the cache needs
none of them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path

from .cache import Cache, default_cache
from .target import Target

EXTENSIONS: set[str] = set()
"""What changes builds and was registered from outside the compiler: passes and schedule rules."""

DISABLED: ContextVar[frozenset[str]] = ContextVar("disabled_passes", default=frozenset())
"""The passes that the pipeline leaves out, by `plain_name`; ``PassContext`` sets them."""

_KNOWN = (__name__.partition(".")[0], "xdsl")


def cache_for(target: Target) -> Cache | None:
    """The cache for builds for a target; `None` if caching is off.

    Builds with passes, rules or instruction sets from outside the compiler are not cached, nor if
    its source changed after the import.
    """
    found = default_cache()
    if found is None or EXTENSIONS or not are_known([target.isa]) or not sources_are_loaded():
        return None
    return found


def build_key(target: Target, *texts: str) -> str:
    """The key of what texts describe, built for a target by this compiler."""
    return text_hash(source_hash(), repr(target), *texts)


def text_hash(*texts: str) -> str:
    """A hash of texts as 40 hexadecimal digits, the same in every process."""
    found = hashlib.blake2b(digest_size=20)
    for text in texts:
        found.update(f"{len(text)} {text}".encode())
    return found.hexdigest()


def are_known(parts: Sequence[object]) -> bool:
    """Whether objects are of classes of the compiler, whose source is in every key."""
    return all(type(part).__module__.partition(".")[0] in _KNOWN for part in parts)


_ROOT = str(Path(__file__).parents[1])
_BUILT_ON = ("llvmlite", "numpy", "xdsl")


@cache
def source_hash() -> str:
    """The hash of the compiler's source and the versions of its dependencies, computed once."""
    found = hashlib.blake2b(digest_size=16)
    for name in _BUILT_ON:
        found.update(f"{name} {import_module(name).__version__}\0".encode())
    for path in source_files(_ROOT):
        with open(path, "rb") as file:
            found.update(f"{path[len(_ROOT) :]}\0".encode() + file.read())
    return found.hexdigest()


def sources_are_loaded() -> bool:
    """Whether the source files are unchanged since the import, so that `source_hash` is right."""
    started: float = sys.modules[__name__.partition(".")[0]].imported_at
    return all(os.stat(path).st_mtime < started for path in source_files(_ROOT))


def source_files(root: str) -> list[str]:
    """The modules of a package and its subpackages, in a fixed order."""
    entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    found = [e.path for e in entries if e.name.endswith(".py")]
    for entry in entries:
        if os.path.isfile(os.path.join(entry.path, "__init__.py")):
            found += source_files(entry.path)
    return found

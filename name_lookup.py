"""Attributes and import statements by the table of names, whose modules are imported when used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from .names import NAMES


class Namespace(ModuleType):
    """Attributes of the table that share a prefix, each imported when it is first used."""

    def __init__(self, prefix: str):
        super().__init__(
            f"{__package__}.{prefix.rstrip('.')}",
            f"The names `{prefix}…` of the table in `names.py`.",
        )
        self.__dict__["_prefix"] = prefix

    def __getattr__(self, name: str) -> Any:
        return resolve(self.__dict__["_prefix"], name)

    def __dir__(self) -> list[str]:
        return known(self.__dict__["_prefix"])


def known(prefix: str) -> list[str]:
    """The attributes under a prefix."""
    return sorted({n[len(prefix) :].split(".")[0] for n in NAMES if n.startswith(prefix)})


def resolve(prefix: str, name: str) -> Any:
    """The object of a name under a prefix; raises AttributeError for an unknown one."""
    entry = NAMES.get(prefix + name)
    if entry is not None:
        module, _, attribute = entry.partition(":")
        loaded = import_module(module, __package__)
        return getattr(loaded, attribute) if attribute else loaded
    if any(n.startswith(f"{prefix}{name}.") for n in NAMES):
        return Namespace(f"{prefix}{name}.")
    from difflib import get_close_matches  # which programs without a wrong name do not need

    owner = f"{__package__}.{prefix}".rstrip(".")
    close = get_close_matches(name, known(prefix), 1)
    hint = f", did you mean '{close[0]}'?" if close else ""
    raise AttributeError(f"module '{owner}' has no attribute '{name}'{hint}")


class NameFinder(MetaPathFinder, Loader):
    """Lets import statements reach what the table names: ``relax.dpl``, ``s_tir.schedule``.

    A module has one object under all names, also where only the package is in the table.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __package__ or not (_module_of(name) or self._is_namespace(fullname, path)):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def _is_namespace(self, fullname: str, path: Sequence[str] | None) -> bool:
        is_prefix = f"{fullname.partition('.')[2]}." in _PREFIXES
        return is_prefix and PathFinder.find_spec(fullname, path) is None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = spec.name.partition(".")[2]
        actual = _module_of(name)
        found = resolve("", name) if actual is None else import_module(f"{__package__}.{actual}")
        self._own_spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the spec of this name on a module that has one of its own.
        module.__spec__ = self._own_spec


def _module_of(name: str) -> str | None:
    """The module that another name of the table, or one below it, stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        entry = NAMES.get(".".join(parts[:count]))
        if entry is not None and ":" not in entry:
            actual = ".".join([entry.removeprefix("."), *parts[count:]])
            is_there = actual != name and find_spec(f"{__package__}.{actual}") is not None
            return actual if is_there else None
    return None


_PREFIXES = {n[: i + 1] for n in NAMES for i, c in enumerate(n) if c == "."}

sys.meta_path.insert(0, NameFinder())

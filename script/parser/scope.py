"""Names in a script: what the script itself binds, the Python values around it, and the script namespaces."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..errors import Source
from ..namespace import ScriptName, root_of

_ALLOWED_BUILTINS = (
    "int",
    "float",
    "bool",
    "len",
    "min",
    "max",
    "abs",
    "sum",
    "tuple",
    "list",
    "str",
    "range",
)
_MISSING = object()


class Scope:
    """Nested script scopes over the Python names in which the decorated definition stands."""

    def __init__(self, source: Source, python: Mapping[str, Any]):
        self.source = source
        self.python = python
        self.frames: list[dict[str, Any]] = [{}]
        self.loop_depth: dict[int, int] = {}

    @contextmanager
    def nested(self):
        """A scope inside the current one."""
        self.frames.append({})
        try:
            yield
        finally:
            self.frames.pop()

    def bind(self, name: str, value: Any) -> None:
        """Bind a name in the innermost scope."""
        self.frames[-1][name] = value

    def bound_outside(self, name: str) -> bool:
        """Whether an enclosing scope, and not the innermost one, binds the name."""
        return name not in self.frames[-1] and any(name in f for f in self.frames[:-1])

    def lookup(self, node: ast.Name) -> Any:
        """The value of a name; a script error where there is none."""
        for frame in reversed(self.frames):
            if node.id in frame:
                return frame[node.id]
        default = root_of(node.id)
        value = self.python.get(node.id, _MISSING)
        if value is _MISSING:
            value = (
                getattr(builtins, node.id, _MISSING) if node.id in _ALLOWED_BUILTINS else _MISSING
            )
        script = as_script_name(value)
        if script is not None:
            return script
        if default is not None:
            return default
        if value is _MISSING:
            raise self.source.error(node, f"name '{node.id}' is not defined")
        return value


def as_script_name(value: Any) -> ScriptName | None:
    """The script namespace that a Python object is, if it is one."""
    if isinstance(value, ScriptName):
        return value
    path = (
        getattr(value, "__script_path__", None)
        if isinstance(value, ModuleType) or callable(value)
        else None
    )
    return ScriptName(path) if isinstance(path, str) else None

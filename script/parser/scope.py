"""Names in a script: its own bindings, the Python values around it, the script namespaces."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

from xdsl.ir import Operation

from ...dialects.diagnostics import suggestion
from ...te.arithmetic import symbol
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


class ModuleName:
    """The module itself, as in ``cls = Module`` and ``cls.linear0``."""


class FunctionName(str):
    """A function of the module under another name, as in ``f = cls.linear0``."""


class Scope:
    """Nested script scopes over the Python names in which the decorated definition stands."""

    def __init__(self, source: Source, python: Mapping[str, Any]):
        self.source = source
        self.python = python
        self.frames: list[dict[str, Any]] = [{}]
        self.kernels: dict[Any, tuple[str, Operation]] | None = None
        """The kernels that graph functions of a module have made; `None` outside of modules."""
        self.function_names: set[str] = set()
        """The names of the functions that the module defines."""
        self.results: dict[str, ast.expr | None] = {}
        """The annotations of the results of the module's kernels."""

    @contextmanager
    def nested(self) -> Generator[dict[str, Any]]:
        """A scope inside the current one."""
        self.frames.append({})
        try:
            yield self.frames[-1]
        finally:
            self.frames.pop()

    def bind(self, name: str, value: Any) -> None:
        """Bind a name in the innermost scope."""
        self.frames[-1][name] = value

    def bound(self, name: str) -> Any:
        """What the script binds a name to; `None` where it does not."""
        return next((f[name] for f in reversed(self.frames) if name in f), None)

    def enclosing(self, name: str) -> Any:
        """What an enclosing scope, and not the innermost one, binds the name to; else `None`."""
        if name in self.frames[-1]:
            return None
        return next((f[name] for f in reversed(self.frames) if name in f), None)

    def lookup(self, node: ast.Name) -> Any:
        """The value of a name, a symbol for a type variable; a script error where there is none."""
        for frame in reversed(self.frames):
            if node.id in frame:
                return frame[node.id]
        value = self.python.get(node.id, _MISSING)
        if value is _MISSING and node.id in _ALLOWED_BUILTINS:
            value = getattr(builtins, node.id)
        script = as_script_name(value)
        if script is None:
            script = root_of(node.id)
        if script is not None:
            return script
        if isinstance(value, TypeVar):
            return symbol(value.__name__)
        if value is _MISSING:
            known = [name for frame in self.frames for name in frame]
            raise self.source.error(
                node, f"name '{node.id}' is not defined{suggestion(node.id, known)}"
            )
        return value


def as_script_name(value: Any) -> ScriptName | None:
    """The script namespace that a Python object is, if it is one."""
    if isinstance(value, ScriptName):
        return value
    if not isinstance(value, ModuleType) and not callable(value):
        return None
    path = getattr(value, "__script_path__", None)
    return ScriptName(path) if isinstance(path, str) else None

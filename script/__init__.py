"""TVMScript: programs written as decorated Python classes and functions, parsed and printed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_LAZY = {
    "ir_module": (".decorate", "ir_module"),
    "from_source": (".decorate", "from_source"),
    "ScriptError": (".errors", "ScriptError"),
    "ir": (".ir", None),
    "relax": (".relax", None),
    "tir": (".tir", None),
    "tirx": (".tir", None),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module, attribute = _LAZY[name]
    loaded = import_module(module, __package__)
    return loaded if attribute is None else getattr(loaded, attribute)

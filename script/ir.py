"""Modules in Python syntax, imported as `I`: ``I.ir_module`` and the names module bodies use."""

from __future__ import annotations

from typing import Any

from .decorate import ir_module as ir_module
from .namespace import ScriptName

__script_path__ = "I"
ir_module.__script_path__ = "I.ir_module"  # pyright: ignore[reportFunctionMemberAccess]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return ScriptName(f"I.{name}")

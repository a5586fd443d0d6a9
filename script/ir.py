"""Modules in Python syntax, imported as `I`: ``I.ir_module`` and the names module bodies use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .decorate import ir_module as ir_module
from .namespace import ScriptName
from .outside import meta_var as meta_var

__script_path__ = "I"


def pyfunc(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a Python function in a module, which graph functions may call."""
    return function


pyfunc.__script_path__ = "I.pyfunc"  # pyright: ignore[reportFunctionMemberAccess]
ir_module.__script_path__ = "I.ir_module"  # pyright: ignore[reportFunctionMemberAccess]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return ScriptName(f"I.{name}")

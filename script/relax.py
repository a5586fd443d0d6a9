"""Relax in Python syntax, imported as `R`: ``R.function`` and the names its functions use."""

from __future__ import annotations

from typing import Any

from .decorate import function_decorator
from .namespace import ScriptName

__script_path__ = "R"

function = function_decorator("function")
function.__script_path__ = "R.function"  # pyright: ignore[reportFunctionMemberAccess]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return ScriptName(f"R.{name}")

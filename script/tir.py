"""TensorIR in Python syntax, imported as `T`: ``T.prim_func`` and the names its functions use."""

from __future__ import annotations

from typing import Any

from .decorate import function_decorator
from .namespace import ScriptName

__script_path__ = "T"

prim_func = function_decorator("prim_func")
prim_func.__script_path__ = "T.prim_func"  # pyright: ignore[reportFunctionMemberAccess]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return ScriptName(f"T.{name}")

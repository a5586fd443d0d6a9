"""TensorIR in Python syntax, imported as `T`: ``T.prim_func`` and the names its functions use.

Outside of scripts, functions on scalars and dtypes make expressions: ``T.int64()`` is a new symbol.
"""

from __future__ import annotations

from typing import Any

from .decorate import function_decorator
from .decorate import macro as macro
from .outside import meta_var as meta_var
from .outside import scalar_name

__script_path__ = "T"

prim_func = function_decorator("prim_func")
prim_func.__script_path__ = "T.prim_func"  # pyright: ignore[reportFunctionMemberAccess]

inline = macro
macro.__script_path__ = "T.inline"  # pyright: ignore[reportFunctionMemberAccess]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return scalar_name(name)

"""Relax in Python syntax, imported as `R`: ``R.function`` and the names its functions use.

`typing` is not imported by name, since ``R.Any`` is an annotation of scripts.
"""

from __future__ import annotations

import typing

from ..name_lookup import known, resolve
from .decorate import function_decorator
from .decorate import macro as macro
from .outside import graph_name

__script_path__ = "R"

function = function_decorator("function")
function.__script_path__ = "R.function"  # pyright: ignore[reportFunctionMemberAccess]

inline = macro


def __getattr__(name: str) -> typing.Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in known("script.relax."):
        return resolve("script.relax.", name)
    return graph_name(name)

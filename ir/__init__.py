"""Modules and functions under the names that TVM gives them: thin views of xDSL operations."""

from __future__ import annotations

from typing import Any

from ..name_lookup import known, resolve
from . import calls as calls  # these show operations, where `expr.view` meets them
from . import shapes as shapes
from . import strings as strings


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("ir.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("ir.")]

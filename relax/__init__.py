"""The `relax` namespace of the Python API: building, running and transforming graph modules."""

from __future__ import annotations

from typing import Any

from ..names import known, resolve

__script_path__ = "relax"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("relax.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("relax.")]

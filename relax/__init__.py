"""The `relax` namespace of the Python API: building, running and transforming graph modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..name_lookup import known, resolve

if TYPE_CHECKING:
    from ..driver import build as build
    from ..ir.function import Function as Function
    from ..runtime import Executable as Executable
    from ..runtime import VirtualMachine as VirtualMachine

__script_path__ = "relax"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("relax.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("relax.")]

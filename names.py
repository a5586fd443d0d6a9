"""Every name of the Python API and where it lives: today's and all historical spellings.

A value is ``module`` or ``module:attribute``, relative to the package. Names with a common prefix
form a namespace: ``nd.array`` is the attribute `array` of ``xrelax.nd``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

NAMES: dict[str, str] = {
    # today's spellings
    "IRModule": ".ir.module:IRModule",
    "build": ".driver:build",
    "compile": ".driver:build",
    "cpu": ".runtime:cpu",
    "device": ".runtime:device",
    "Device": ".runtime:Device",
    "get_global_func": ".runtime:get_global_func",
    "register_global_func": ".runtime:register_global_func",
    "stages": ".driver:stages",
    "target.Target": ".backend.target:Target",
    "ir": ".ir",
    "relax": ".relax",
    "runtime": ".runtime",
    "script": ".script",
    "te": ".te",
    "topi": ".te.topi",
    "relax.Executable": ".runtime:Executable",
    "relax.Function": ".ir.function:Function",
    "relax.VirtualMachine": ".runtime:VirtualMachine",
    "relax.build": ".driver:build",
    "relax.transform": ".relax.transform",
    "tir.PrimFunc": ".ir.function:PrimFunc",
    # spellings of 2022 to 2025
    "nd.NDArray": ".runtime:NDArray",
    "nd.array": ".runtime:array",
    "nd.cpu": ".runtime:cpu",
    "nd.empty": ".runtime:empty",
    "register_func": ".runtime:register_func",
    "relax.vm.VirtualMachine": ".runtime:VirtualMachine",
    "relax.vm.build": ".driver:build",
    "relax.vm_build.Executable": ".runtime:Executable",
    "relax.vm_build.build": ".driver:build",
}


class Namespace(ModuleType):
    """Attributes of the table that share a prefix, each imported when it is first used."""

    def __init__(self, prefix: str):
        super().__init__(
            f"{__package__}.{prefix.rstrip('.')}",
            f"The names `{prefix}…` of the table in `names.py`.",
        )
        self.__dict__["_prefix"] = prefix

    def __getattr__(self, name: str) -> Any:
        return resolve(self.__dict__["_prefix"], name)

    def __dir__(self) -> list[str]:
        return known(self.__dict__["_prefix"])


def known(prefix: str) -> list[str]:
    """The attributes under a prefix."""
    return sorted({n[len(prefix) :].split(".")[0] for n in NAMES if n.startswith(prefix)})


def resolve(prefix: str, name: str) -> Any:
    """The object of a name under a prefix; raises AttributeError for an unknown one."""
    entry = NAMES.get(prefix + name)
    if entry is not None:
        module, _, attribute = entry.partition(":")
        loaded = import_module(module, __package__)
        return getattr(loaded, attribute) if attribute else loaded
    if any(n.startswith(f"{prefix}{name}.") for n in NAMES):
        return Namespace(f"{prefix}{name}.")
    owner = f"{__package__}.{prefix}".rstrip(".")
    raise AttributeError(f"module '{owner}' has no attribute '{name}'")

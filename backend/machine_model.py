"""The machine of a target: cache sizes, and the text form of a `MachineModel`."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from .errors import BackendError
from .targets.machine_model import MachineModel

_LINUX_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_MAC_NAMES = ("hw.l1dcachesize", "hw.l2cachesize", "hw.l3cachesize")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """Bytes of one core's L1 data and L2 cache, and of the L3 cache that it shares."""

    l1: int = 32 << 10
    l2: int = 1 << 20
    l3: int = 8 << 20


@cache
def host_caches() -> CacheSizes:
    """The sizes that the operating system reports; defaults of `CacheSizes` for missing levels."""
    if sys.platform == "linux":
        sizes = _linux_sizes(_LINUX_CACHES)
    elif sys.platform == "darwin":
        sizes = _mac_sizes()
    else:
        sizes = {}
    default = CacheSizes()
    return CacheSizes(sizes.get(1, default.l1), sizes.get(2, default.l2), sizes.get(3, default.l3))


def _linux_sizes(root: Path) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for index in sorted(root.glob("index*")):
        try:
            kind = (index / "type").read_text().strip()
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and size[:-1].isdigit() and size[-1] in _UNITS:
            sizes[level] = int(size[:-1]) * _UNITS[size[-1]]
    return sizes


def _mac_sizes() -> dict[int, int]:
    query = ctypes.CDLL(None).sysctlbyname
    sizes: dict[int, int] = {}
    for level, name in enumerate(_MAC_NAMES, start=1):
        value, length = ctypes.c_uint64(), ctypes.c_size_t(8)
        failed = query(name.encode(), ctypes.byref(value), ctypes.byref(length), None, 0)
        if not failed and value.value:
            sizes[level] = value.value
    return sizes


LINE = 64
"""Bytes in a cache line."""


def model_text(model: MachineModel, usual: MachineModel) -> str:
    """The fields that differ from the `usual` model, as ``NAME=VALUE,…``."""
    texts = ((f.name, getattr(model, f.name)) for f in fields(model))
    changed = ((name, value) for name, value in texts if value != getattr(usual, name))
    return ",".join(f"{name.replace('_', '-')}={value:g}" for name, value in changed)


def parse_model(text: str, usual: MachineModel) -> MachineModel:
    """The `usual` model with the fields of a text; raises BackendError for an invalid one."""
    known = [f.name.replace("_", "-") for f in fields(usual)]
    values: dict[str, float] = {}
    for word in filter(None, text.split(",")):
        name, _, number = word.partition("=")
        if name not in known:
            expected = ", ".join(known)
            raise BackendError(f"expected a field of -model ({expected}), got '{name}'")
        values[name.replace("-", "_")] = _positive(name, number)
    return replace(usual, **values)


def _positive(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise BackendError(f"expected '{name}' of -model to be positive, got '{text}'")
    return value

"""What the cost model knows of a processor: the sizes of its caches, and how long its work takes.

`benchmarks/calibrate.py` measures the times of a machine and prints them as the text that
``Target("llvm -model=…")`` takes: fields with hyphens, as in ``fma-latency=4,l2-panel=1.3``.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from .errors import BackendError

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
    """What the operating system reports; the defaults of `CacheSizes` for a level it does not."""
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
"""Bytes of a line of the cache."""


@dataclass(frozen=True, slots=True)
class MachineModel:
    """Times are cycles of a core. A vector is one register; rates do not depend on its dtype.

    The defaults are fits to kernels on Zen 4 and Zen 5 with AVX-512; LLVM's scheduling models of
    both, and of Zen 3, have the rates and the latency of multiply-adds.
    """

    clock_ghz: float = 3.0
    """Cycles in a nanosecond."""

    # The core.
    fma_rate: float = 2.0
    """Vectors multiplied and added in a cycle, which is also how many are loaded in one."""
    fma_latency: float = 5.0
    """Cycles until the result of a multiplication or an addition can be added to."""
    load: float = 0.15
    """A load beside multiplications that it does not wait for."""
    unaligned_load: float = 1.2
    """A load of a vector that may be in two cache lines, beside others."""
    loop_start: float = 20.0
    """Starting a loop over steps and leaving it, beside what its body does."""
    operation: float = 0.036
    """An operation on one element in a loop, which LLVM may vectorize."""
    lane_operation: float = 0.012
    """An operation on one lane of a vector."""

    # Memory: of each vector, beside the multiplications that use it.
    copy: float = 3.5
    """Copying a vector into a packed panel."""
    l2_gap: float = 1.15
    """The time between two vectors of a panel that come from the second cache."""
    l2_panel: float = 0.03
    """A vector of a panel from the second cache, beside multiplications that hide the rest."""
    l3_panel: float = 0.5
    """A vector of a panel that the second cache has no room for."""
    strided_panel: float = 0.05
    """A vector of a matrix that is read in place: its rows are on different pages."""
    l2_operand: float = 0.8
    """A vector of an operand of inner products from the second cache."""
    l3_operand: float = 1.3
    """A vector of an operand of inner products that the second cache has no room for."""
    l3_update: float = 16.0
    """Adding a vector of a tile to results in the last cache."""
    stream: float = 0.45
    """A multiplication with its result in memory."""
    stream_row: float = 1.6
    """Loading and storing a vector of results, which several rows of an operand share."""
    stream_scalar: float = 0.3
    """A multiplication of one element with its result in memory."""
    access: float = 0.12
    """An access to memory, at most."""
    byte: float = 0.03
    """A byte that a loop reads or writes, from a cache that cores share."""

    # Threads.
    wake: float = 12_000.0
    """Work that is worth handing to threads that wait for it."""

    def __str__(self) -> str:
        default = MachineModel()
        texts = ((f.name, getattr(self, f.name)) for f in fields(self))
        changed = ((name, value) for name, value in texts if value != getattr(default, name))
        return ",".join(f"{name.replace('_', '-')}={value:g}" for name, value in changed)

    @staticmethod
    def parse(text: str) -> MachineModel:
        """The model of a target's text; raises BackendError for a field or value that is none."""
        known = [f.name.replace("_", "-") for f in fields(MachineModel)]
        values: dict[str, float] = {}
        for word in filter(None, text.split(",")):
            name, _, number = word.partition("=")
            if name not in known:
                expected = ", ".join(known)
                raise BackendError(f"expected a field of -model ({expected}), got '{name}'")
            values[name.replace("-", "_")] = _positive(name, number)
        return replace(MachineModel(), **values)


def _positive(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise BackendError(f"expected '{name}' of -model to be positive, got '{text}'")
    return value

"""Devices of tensors, as `tvm.runtime.Device`; the CPU is the only one that exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

CPU_TYPE = 1
"""DLPack's kDLCPU."""

_NAMES = {1: "cpu", 2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 15: "webgpu"}
"""DLPack's types of devices."""

ONLY = "xrelax runs on CPUs only"


@dataclass(frozen=True, slots=True)
class Device:
    """A device by type and index; `Device()` is `cpu(0)`, the only one that exists.

    Raises ValueError for another index of the CPU, and for an unknown type.
    """

    device_type: int = CPU_TYPE
    index: int = 0

    def __post_init__(self) -> None:
        if self.device_type not in _NAMES:
            raise ValueError(f"expected device cpu:0, got device type {self.device_type}: {ONLY}")
        if self.device_type == CPU_TYPE and self.index != 0:
            raise ValueError(f"expected device cpu:0, got {self}: {ONLY}")

    @property
    def type(self) -> str:
        """The name of the device type."""
        return _NAMES[self.device_type]

    @property
    def exist(self) -> bool:
        """Whether tensors and functions can be on the device: it is the CPU."""
        return self.device_type == CPU_TYPE

    def dlpack_device_type(self) -> int:
        """The number of the device type in DLPack."""
        return self.device_type

    def sync(self) -> None:
        """Wait for the device; a no-op, since calls on the CPU are synchronous."""

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"


def cpu(index: int = 0) -> Device:
    """The CPU; raises ValueError for an index other than 0."""
    return Device(CPU_TYPE, index)


def device(name: str | Device, index: int = 0) -> Device:
    """The device of a name ("cpu", "cpu:0", or the target's "llvm"), or itself.

    Raises ValueError for all but the CPU.
    """
    if isinstance(name, Device):
        if not name.exist:
            raise ValueError(f"expected device 'cpu', got '{name}': {ONLY}")
        return name
    base, _, suffix = name.partition(":")
    if base not in ("cpu", "llvm") or suffix not in ("", "0"):
        raise ValueError(f"expected device 'cpu', got '{name}': {ONLY}")
    return cpu(index)


def device_from_target(target: object, index: int = 0) -> Device:
    """The device that code for a target runs on; `target` is one, its text or its dict.

    TVM's ``tvm.device_from_target``. Raises ValueError for a target other than the CPU.
    """
    kind: object = getattr(target, "kind", target)
    if isinstance(target, Mapping):
        kind = cast("Mapping[str, object]", target).get("kind", "")
    return device(str(getattr(kind, "name", kind)).partition(" ")[0], index)


def _absent(name: str) -> Callable[..., Device]:
    (device_type,) = (number for number, known in _NAMES.items() if known == name)

    def function(index: int = 0) -> Device:
        """A device of TVM that does not exist here; whatever takes one raises ValueError."""
        return Device(device_type, index)

    function.__name__ = function.__qualname__ = name
    return function


cuda, rocm, opencl = _absent("cuda"), _absent("rocm"), _absent("opencl")
metal, vulkan, webgpu = _absent("metal"), _absent("vulkan"), _absent("webgpu")

"""Devices of tensors, as `tvm.runtime.Device`; the CPU is the only one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

CPU_TYPE = 1
"""DLPack's kDLCPU."""

ONLY = "xrelax runs on CPUs only"


@dataclass(frozen=True, slots=True)
class Device:
    """A device by type and index; the CPU is the only one, so `Device()` is `cpu(0)`."""

    device_type: int = CPU_TYPE
    index: int = 0

    def __post_init__(self) -> None:
        if (self.device_type, self.index) != (CPU_TYPE, 0):
            got = _text(self.device_type, self.index)
            raise ValueError(f"expected device cpu:0, got {got}: {ONLY}")

    @property
    def type(self) -> str:
        """The name of the device type."""
        return "cpu"

    def sync(self) -> None:
        """Wait for the device; a no-op, since calls on the CPU are synchronous."""

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"


def cpu(index: int = 0) -> Device:
    """The CPU; raises ValueError for an index other than 0."""
    return Device(CPU_TYPE, index)


def device(name: str | Device, index: int = 0) -> Device:
    """The device of a name ("cpu", "cpu:0", or the target's "llvm"); ValueError for others."""
    if isinstance(name, Device):
        return name
    base, _, suffix = name.partition(":")
    if base not in ("cpu", "llvm") or suffix not in ("", "0"):
        raise ValueError(f"expected device 'cpu', got '{name}': {ONLY}")
    return cpu(index)


def device_from_target(target: object, index: int = 0) -> Device:
    """The device that code for a target runs on; `target` is one or its text.

    TVM's ``tvm.device_from_target``. Raises ValueError for a target other than the CPU.
    """
    kind = getattr(target, "kind", target)
    return device(str(getattr(kind, "name", kind)).partition(" ")[0], index)


def _absent(name: str) -> Callable[..., Device]:
    def function(index: int = 0) -> Device:
        """A device type of TVM; raises ValueError, since only CPUs are supported."""
        return device(name)

    function.__name__ = function.__qualname__ = name
    return function


cuda, rocm, opencl = _absent("cuda"), _absent("rocm"), _absent("opencl")
metal, vulkan, webgpu = _absent("metal"), _absent("vulkan"), _absent("webgpu")


def _text(device_type: int, index: int) -> str:
    return f"cpu:{index}" if device_type == CPU_TYPE else f"device type {device_type}"

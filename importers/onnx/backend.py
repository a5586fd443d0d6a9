"""ONNX's backend interface, `onnx.backend.base.Backend`, so that its tests run on compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from onnx.backend.base import Backend, BackendRep

from .compiled_model import OnnxModel, compile_onnx


class XRelaxRep(BackendRep):
    """A compiled model, as ONNX's interface calls it."""

    def __init__(self, compiled: OnnxModel):
        self.compiled = compiled

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs as NumPy arrays, for inputs by position or by name."""
        if isinstance(inputs, Mapping):
            return tuple(self.compiled.run(None, cast("Mapping[str, Any]", inputs)))
        several = isinstance(inputs, list | tuple)
        positional = cast("Sequence[Any]", inputs) if several else [inputs]
        return tuple(self.compiled.run(None, self.compiled.named(positional)))


class XRelaxBackend(Backend):
    """Compiles ONNX models for the CPU of this process."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> XRelaxRep:
        """Compile a model; raises as `compile_onnx`."""
        super().prepare(model, device, **kwargs)
        return XRelaxRep(compile_onnx(model))

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> Any:
        """Compile a model and run it once."""
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether a device is the CPU."""
        return device.partition(":")[0] == "CPU"


prepare = XRelaxBackend.prepare
run_model = XRelaxBackend.run_model
supports_device = XRelaxBackend.supports_device

"""The compilations of an ONNX model: one, or one for each of the values that it depends on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...dialects.relax import TensorData
from ...driver import build
from ...ir.module import IRModule
from ...runtime.executable import Executable
from ...runtime.tensor import as_tensor
from .frontend import NeedsValues, OnnxImport

MAX_VERSIONS = 32
"""Compilations for different values of inputs that a model keeps."""


class Versions:
    """The versions of a model, the last of which is the newest; `module` is one for all values."""

    def __init__(
        self, imported: OnnxImport, options: Mapping[str, Any], module: IRModule | None = None
    ):
        self.imported, self._module = imported, module
        self.constant_inputs: tuple[str, ...] = ()
        """The inputs for whose values a version is compiled."""
        self.constant_sizes: tuple[str, ...] = ()
        """The symbols of shapes for whose numbers a version is compiled."""
        self._options = options
        self._versions: OrderedDict[Any, tuple[IRModule, Executable]] = OrderedDict()
        try:
            self._version({}, {})
        except NeedsValues as needs:
            self._need(needs)

    def last(self) -> tuple[IRModule, Executable]:
        """The module and its code of the last call; raises ValueError before one gave values."""
        if not self._versions:
            names = ", ".join([*self.constant_inputs, *self.constant_sizes])
            raise ValueError(f"expected a call first, which gives the values of {names}")
        return next(reversed(self._versions.values()))

    def executable(self, given: Mapping[str, Any]) -> Executable:
        """The code for a call with inputs by name."""
        while True:
            constants = {name: as_tensor(given[name]) for name in self.constant_inputs}
            values = {n: TensorData.of(t.view().copy(), t.dtype) for n, t in constants.items()}
            try:
                return self._version(values, self._sizes(given))[1]
            except NeedsValues as needs:
                self._need(needs)

    def _need(self, needs: NeedsValues) -> None:
        names = {*self.constant_inputs, *needs.names}
        self.constant_inputs = tuple(name for name in self.imported.inputs if name in names)
        self.constant_sizes = tuple(sorted({*self.constant_sizes, *needs.symbols}))
        self._versions.clear()

    def _version(
        self, values: Mapping[str, TensorData], sizes: Mapping[str, int]
    ) -> tuple[IRModule, Executable]:
        """The module and its code for values and sizes; raises NeedsValues if more are needed."""
        key = (*values.items(), *sizes.items())
        if key not in self._versions:
            module = self._module or self._imported_for(values, sizes)
            self._versions[key] = module, build(module, **self._options)
            if len(self._versions) > MAX_VERSIONS:
                self._versions.popitem(last=False)
        self._versions.move_to_end(key)
        return self._versions[key]

    def _imported_for(self, values: Mapping[str, TensorData], sizes: Mapping[str, int]) -> IRModule:
        return IRModule(replace(self.imported, values=values, sizes=sizes).module())

    def _sizes(self, given: Mapping[str, Any]) -> Mapping[str, int]:
        if not self.constant_sizes:
            return {}
        shapes = {name: as_tensor(value).shape for name, value in given.items()}
        return self.imported.sizes_of(self.constant_sizes, shapes)

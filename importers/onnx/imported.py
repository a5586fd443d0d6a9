"""`import_onnx`: an ONNX model as a module, with the calls of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

from ...runtime.arguments import bind_names
from ..imported import Arguments, Imported
from .compiled_model import OnnxModel
from .frontend import OnnxImport
from .model import read_model
from .versions import Versions


@dataclass(frozen=True)
class OnnxImported(Imported):
    """An ONNX model with one module for all values of inputs."""

    source: OnnxImport

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
        """The tensors of a call with the file's names of inputs, or those of parameters."""
        names = self.source.names
        named = {names.get(name, name): value for name, value in kwargs.items()}
        return self.with_key(bind_names("the model", [*names.values()], args, named)), {}

    def names(self) -> Mapping[Operation, str]:
        """The names of nodes, or of their first outputs."""
        names = self.source.importer.names
        return {
            op: names[location.line.data]
            for op in self.module.op.walk()
            if isinstance(location := op.location, FileLineColLoc) and location.line.data in names
        }

    def compile(self, *, seed: int = 0, **options: Any) -> OnnxModel:
        """The model with the file's inputs and outputs; for `options` see `compile_onnx`."""
        return OnnxModel(lambda: Versions(self.source, options, self.module), seed)


def import_onnx(
    model: Any,
    shape_dict: Mapping[str, Sequence[Any]] | None = None,
    dtype_dict: str | Mapping[str, str] | None = None,
    opset: int | None = None,
) -> OnnxImported:
    """Import an ONNX model; for the arguments, and what it raises, see `from_onnx`."""
    source = OnnxImport(read_model(model, opset), shape_dict or {}, dtype_dict or {})
    return OnnxImported(source.one_module(), source)

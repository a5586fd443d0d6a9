"""`xrelax.compile`: compile modules, functions and models of other frameworks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .compilable import Compilable

if TYPE_CHECKING:
    from .imported import Imported


def compile(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Compile a module, a function, or a model.

    An `IRModule`, a function or an xDSL module is built, as by TVM's ``tvm.compile``, with the
    arguments of `build`. A `torch.nn.Module`, which is exported with example inputs, or an
    `ExportedProgram` becomes a `CompiledModel`, see `importers.torch.compile_model`: a callable
    with the signature of the model, on torch tensors and other arrays. The path of a file of ONNX,
    or a ``ModelProto``, becomes an `OnnxModel`, see `importers.onnx.compile_onnx`. What `quantize`
    returns is compiled as the model that it was made of.
    """
    if isinstance(mod, Compilable):
        return mod.compile(*args, **kwargs)
    if _is_torch_model(mod):
        from .torch.compiled_model import compile_model

        return compile_model(mod, *args, **kwargs)
    if _is_onnx_model(mod):
        from .onnx.compiled_model import compile_onnx

        return compile_onnx(mod, *args, **kwargs)
    from ..driver import build

    return build(mod, *args, **kwargs)


def import_model(mod: Any, **options: Any) -> Imported:
    """Import what `compile` compiles; `options` are its arguments that describe inputs.

    Those are `example_inputs`, `kwargs` and `dynamic_shapes` of a `torch.nn.Module`, and
    `shape_dict`, `dtype_dict` and `opset` of an ONNX model. Raises as the compilation.
    """
    if _is_torch_model(mod):
        _verify_options("PyTorch", ("example_inputs", "kwargs", "dynamic_shapes"), options)
        from .torch.compiled_model import import_torch

        return import_torch(mod, **options)
    if _is_onnx_model(mod):
        _verify_options("ONNX", ("shape_dict", "dtype_dict", "opset"), options)
        from .onnx.imported import import_onnx

        return import_onnx(mod, **options)
    if options:
        raise TypeError(f"expected no options for a module, got {', '.join(options)}")
    from ..inspection import module_of
    from ..ir.module import IRModule
    from .imported import Imported

    return Imported(IRModule(module_of(mod)))


def _verify_options(of: str, known: Sequence[str], options: Mapping[str, Any]) -> None:
    if unknown := [name for name in options if name not in known]:
        raise TypeError(
            f"expected options of {', '.join(known)} for a model of {of}, got '{unknown[0]}'"
        )


def needs_examples(value: Any) -> bool:
    """Whether a value is a `torch.nn.Module`, which is exported; does not import torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _is_torch_model(value: Any) -> bool:
    """Whether a value is a model of PyTorch; does not import torch."""
    export = sys.modules.get("torch.export")
    is_program = export is not None and isinstance(value, export.ExportedProgram)
    return is_program or needs_examples(value)


def _is_onnx_model(value: Any) -> bool:
    """Whether a value is the path of a file, or a model of ONNX; does not import onnx."""
    onnx = sys.modules.get("onnx")
    return isinstance(value, str | os.PathLike) or (
        onnx is not None and isinstance(value, onnx.ModelProto)
    )

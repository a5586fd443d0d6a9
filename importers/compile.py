"""`xrelax.compile`: compile modules, functions and models of other frameworks."""

from __future__ import annotations

import os
import sys
from typing import Any


def compile(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Compile a module, a function, or a model.

    An `IRModule`, a function or an xDSL module is built, as by TVM's ``tvm.compile``, with the
    arguments of `build`. A `torch.nn.Module`, which is exported with example inputs, or an
    `ExportedProgram` becomes a `CompiledModel`, see `importers.torch.compile_model`: a callable
    with the signature of the model, on torch tensors and other arrays. The path of a file of ONNX,
    or a ``ModelProto``, becomes an `OnnxModel`, see `importers.onnx.compile_onnx`.
    """
    if _is_torch_model(mod):
        from .torch.compiled_model import compile_model

        return compile_model(mod, *args, **kwargs)
    if _is_onnx_model(mod):
        from .onnx.compiled_model import compile_onnx

        return compile_onnx(mod, *args, **kwargs)
    from ..driver import build

    return build(mod, *args, **kwargs)


def _is_torch_model(value: Any) -> bool:
    """Whether a value is a model of PyTorch; does not import torch."""
    torch, export = (sys.modules.get(name) for name in ("torch", "torch.export"))
    if torch is not None and isinstance(value, torch.nn.Module):
        return True
    return export is not None and isinstance(value, export.ExportedProgram)


def _is_onnx_model(value: Any) -> bool:
    """Whether a value is the path of a file, or a model of ONNX; does not import onnx."""
    onnx = sys.modules.get("onnx")
    return isinstance(value, str | os.PathLike) or (
        onnx is not None and isinstance(value, onnx.ModelProto)
    )

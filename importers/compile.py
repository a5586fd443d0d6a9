"""`xrelax.compile`: one name for modules and for models of other frameworks."""

from __future__ import annotations

import sys
from typing import Any

from ..driver import build


def compile(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Compile a module, a function, or a model.

    An `IRModule`, a function or an xDSL module is built, as TVM's ``tvm.compile`` does, with the
    arguments of `build`. A `torch.nn.Module` is exported with example inputs, and an
    `ExportedProgram` taken as it is, see `importers.torch.compile_model`: the result is called as
    the model is, on torch tensors and other arrays.
    """
    if _is_torch_model(mod):
        from .torch.compiled_model import compile_model

        return compile_model(mod, *args, **kwargs)
    return build(mod, *args, **kwargs)


def _is_torch_model(value: Any) -> bool:
    """Whether a value is PyTorch's; where nothing has imported torch, none is."""
    torch, export = (sys.modules.get(name) for name in ("torch", "torch.export"))
    if torch is not None and isinstance(value, torch.nn.Module):
        return True
    return export is not None and isinstance(value, export.ExportedProgram)

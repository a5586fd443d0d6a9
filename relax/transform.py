"""Passes as the Python API has them: ``Pass(…)(mod)`` is a new module, the old one stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects.diagnostics import verify
from ..dialects.relax import TensorData
from ..ir.module import IRModule
from ..lowering.graph.bind_params import bind_params, bind_symbolic_vars
from ..runtime.tensor import as_tensor


def tensor_data(value: Any, key: str = "") -> TensorData:
    """A Tensor, NumPy or torch array as constant data, not copied where it is contiguous."""
    tensor = as_tensor(value)
    return TensorData.of(tensor.view(), tensor.dtype, key)


class BindParams:
    """Parameters of a function become constants, by name; symbols they determine become numbers.

    TVM's ``relax.transform.BindParams``. Calling it raises Diagnostic with one line for
    an unknown parameter, or a value that does not fit.
    """

    def __init__(self, func_name: str, params: Mapping[Any, Any]):
        self.func_name = func_name
        self.params = {getattr(k, "name_hint", k): v for k, v in params.items()}

    def __call__(self, mod: IRModule) -> IRModule:
        result = mod.clone()
        bind_params(
            result.op, self.func_name, {k: tensor_data(v, str(k)) for k, v in self.params.items()}
        )
        verify(result.op)
        return result


class BindSymbolicVars:
    """Symbols of a function become numbers; TVM's ``relax.transform.BindSymbolicVars``."""

    def __init__(self, binding_map: Mapping[Any, int], func_name: str = "main"):
        self.func_name = func_name
        self.values = {str(k): int(v) for k, v in binding_map.items()}

    def __call__(self, mod: IRModule) -> IRModule:
        result = mod.clone()
        bind_symbolic_vars(result.op, self.func_name, self.values)
        verify(result.op)
        return result

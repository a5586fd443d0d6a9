"""Weights of a model as constants that share its memory, and back to tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import fx

from ...dialects.relax import TensorData
from ...ir.operators import tensor_data
from ..unsupported import Unsupported
from .dtypes import dtype_name
from .tensors import real_tensor

if TYPE_CHECKING:
    from ...ir.module import IRModule
    from ...runtime.tensor import Tensor


def parameter_data(tensor: torch.Tensor, name: str) -> TensorData:
    """The data of a weight: its own memory if contiguous, else one copy.

    Complex numbers are pairs of real ones along a last dim.

    Raises ValueError for a tensor that is not on the CPU.
    """
    plain = tensor.detach()
    if plain.device.type != "cpu":
        raise ValueError(f"expected weight '{name}' on the cpu, got one on {plain.device}")
    if isinstance(plain, torch.nn.Parameter) or type(plain) is not torch.Tensor:
        plain = plain.as_subclass(torch.Tensor)
    return tensor_data(real_tensor(plain).resolve_neg().contiguous(), name)


def evaluated(node: fx.Node) -> TensorData:
    """The data of a node without inputs, such as ``torch.tril_indices(3, 3)``.

    Raises Unsupported for nodes that have inputs or are random.
    """
    target: Any = node.target
    tags = getattr(target, "tags", [torch.Tag.nondeterministic_seeded])
    result = node.meta.get("val")
    if node.all_input_nodes or torch.Tag.nondeterministic_seeded in tags or result is None:
        raise Unsupported("")
    if not isinstance(result, torch.Tensor) or result.device.type != "cpu":
        raise Unsupported("")
    dtype_name(result.dtype.to_real() if result.is_complex() else result.dtype)
    return parameter_data(target(*node.args, **node.kwargs), "")


def detach_params(mod: IRModule) -> tuple[IRModule, dict[str, list[Tensor]]]:
    """Remove the attribute "params" of functions; returns the module and the values by function.

    TVM's ``relax.frontend.detach_params``, for modules imported with `keep_params_as_input`.
    """
    result, found = mod.clone(), dict[str, list["Tensor"]]()
    for variable, function in mod.items():
        stored: Any = (function.attrs or {}).get("params")
        if isinstance(stored, list):
            found[variable.name_hint] = list(cast("list[Tensor]", stored))
            result[variable] = function.without_attr("params")
    return result, found

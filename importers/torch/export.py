"""Run `torch.export` with decompositions; data-dependent code is refused with its source line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import torch
from torch import _decomp, nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.modules import batchnorm, dropout, instancenorm

from ..unsupported import Problem, UnsupportedError
from .recurrent_operators import recurrent_operators
from .registry import KEEP_IN_TENSOR, overload_name
from .replaced_functions import replaced_functions
from .source_lines import frame_place

Table = dict[Any, Callable[..., Any]]

_FURTHER = "torch._decomp.decompositions"
"""The module of PyTorch's decompositions that its export does not apply by default.

Those of other modules end in operators of its own compiler, `prims`.
"""


def decompositions(known: Collection[str]) -> Table:
    """PyTorch's default and further decompositions, without those of the `known` overloads."""
    given: Any = _decomp  # its types are partly unknown
    known_to_pytorch: Table = given.decomposition_table
    further = {op: f for op, f in known_to_pytorch.items() if f.__module__ == _FURTHER}
    table: Any = torch.export.default_decompositions()
    for op, function in further.items():
        if op not in table and overload_name(op).startswith("aten."):
            table[op] = function
    for op in list(table):
        if overload_name(op) in known:
            table.pop(op)
    return table


_SHOWN = 3
"""Most modules that an error names; the rest is counted."""

_QUANTIZED = ("torch.ao.nn.quantized.", "torch.ao.nn.intrinsic.quantized.")
"""Prefixes of PyTorch's modules whose weights are packed objects instead of tensors."""


def verify_inference(model: nn.Module) -> None:
    """Raise UnsupportedError, naming the modules, for a model that is not ready for inference.

    Modules whose results differ in training mode must be in evaluation mode; others, such as
    `torch.nn.Linear`, may be in either. Models that were quantized in eager mode are unsupported.
    """
    modules: dict[str, nn.Module] = dict(cast(Any, model).named_modules())
    _refuse(
        {n: m for n, m in modules.items() if m.training and _differs(m)},
        "modules in evaluation mode where training gives other results",
        "call model.eval() first",
    )
    _refuse(
        {n: m for n, m in modules.items() if type(m).__module__.startswith(_QUANTIZED)},
        "modules with tensors as weights",
        "compile the model as it was before torch.ao.quantization",
    )


def _differs(module: nn.Module) -> bool:
    """Whether a module's results differ in training mode."""
    return any(isinstance(module, kind) and differs(module) for kind, differs in _RULES)


_RULES: tuple[tuple[type[nn.Module], Callable[[Any], bool]], ...] = (
    (dropout._DropoutNd, lambda m: m.p > 0),  # pyright: ignore[reportPrivateUsage]
    (batchnorm._BatchNorm, lambda m: m.running_mean is not None),  # pyright: ignore[reportPrivateUsage]
    (instancenorm._InstanceNorm, lambda m: m.running_mean is not None),  # pyright: ignore[reportPrivateUsage]
    (nn.RReLU, lambda m: m.lower != m.upper),
    (nn.RNNBase, lambda m: m.dropout > 0 and m.num_layers > 1),
    (nn.MultiheadAttention, lambda m: m.dropout > 0),
)
"""Modules of PyTorch that read their mode, and when that matters."""


def _refuse(found: dict[str, nn.Module], expected: str, advice: str) -> None:
    found = {n: m for n, m in found.items() if n.rpartition(".")[0] not in found or not n}
    if not found:
        return
    named = [f"{_path(name)} ({type(m).__name__})" for name, m in found.items()]
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    raise UnsupportedError(
        [
            Problem(type(m).__name__, name, _path(name), f"expected {expected}", advice)
            for name, m in found.items()
        ],
        f"expected {expected}, got {', '.join(named[:_SHOWN])}{more}: {advice}",
    )


def _path(name: str) -> str:
    return f"model.{name}" if name else "the model"


_DATA = (GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException)
_KINDS = (UnsupportedFakeTensorException, UnsupportedOperatorException)


def exported_program(
    model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> ExportedProgram:
    """The program of a model for inference, by example inputs.

    Raises UnsupportedError for a model in training mode where that matters, and for one whose
    Python code needs a value or a size that only data gives; and whatever else the export raises.
    """
    verify_inference(model)
    try:
        with torch.no_grad(), recurrent_operators(), replaced_functions():
            return torch.export.export(
                model, tuple(args), dict(kwargs), dynamic_shapes=dynamic_shapes
            )
    except _DATA as error:
        reason, advice = "Python code that depends on the values of a tensor", KEEP_IN_TENSOR
        raise _unsupported(error, reason, advice) from None
    except _KINDS as error:
        reason = f"a tensor or an operator that the export has not: {_first_line(error)}"
        raise _unsupported(error, reason, "pass dense tensors that are not quantized") from None


def _unsupported(error: Exception, reason: str, advice: str) -> UnsupportedError:
    where = frame_place(traceback.extract_tb(error.__traceback__))
    problem = Problem(type(error).__name__, "", where, reason, advice)
    message = f"expected a model that can be exported, got {reason} at {where}: {advice}"
    return UnsupportedError([problem], message)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]

"""What a model is before its export: one in evaluation mode, of modules that can be exported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from torch import nn
from torch.nn.modules import batchnorm, dropout, instancenorm

from .registry import Problem, UnsupportedError

_SHOWN = 3
"""Modules that an error names; of the rest it says how many there are."""

_QUANTIZED = ("torch.ao.nn.quantized.", "torch.ao.nn.intrinsic.quantized.")
"""Where PyTorch keeps modules whose weights are objects of its own instead of tensors."""


def verify_inference(model: nn.Module) -> None:
    """Raise UnsupportedError, naming the modules, for a model that computes something else.

    That is one with modules in training mode whose results differ in that mode: others, such as
    `torch.nn.Linear`, may be in any. It is also one that was quantized in eager mode.
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

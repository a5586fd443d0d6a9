"""torch tensors as arguments and results of compiled code, without copies."""

from __future__ import annotations

from typing import Any

import torch

from ...runtime.tensor import Tensor


def is_torch(value: Any) -> bool:
    """Whether a value is a torch tensor."""
    return isinstance(value, torch.Tensor)


def as_argument(name: str, value: Any) -> Any:
    """A tensor that compiled code can read; other values as they are.

    Raises ValueError for one on another device or of another layout, and for one that asks for a
    gradient while gradients are recorded.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if value.device.type != "cpu":
        raise ValueError(f"expected argument '{name}' on the cpu, got a tensor on {value.device}")
    if value.layout is not torch.strided:
        kind = str(value.layout).removeprefix("torch.")
        raise ValueError(f"expected argument '{name}' to be dense, got a tensor of layout {kind}")
    if value.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            f"expected argument '{name}' without a gradient, which compiled code does not "
            "compute: detach it, or call the model under torch.no_grad()"
        )
    return plain(value)


def plain(value: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor without gradient, subclass or pending negation."""
    if value.requires_grad:
        value = value.detach()
    if type(value) is not torch.Tensor:
        value = value.as_subclass(torch.Tensor)
    return value.resolve_neg() if value.is_neg() else value


def to_torch(result: Tensor) -> torch.Tensor:
    """A result as a torch tensor over its memory."""
    return torch.from_dlpack(result)  # pyright: ignore[reportPrivateImportUsage]

"""What a sweep compiles: a model with its inputs for any batch and length, and its dynamic dims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

BATCH, LENGTH = 2, 16
"""The batch and the length of the example inputs."""

SIZES = ((1, 7), (3, 21))
"""Further batches and lengths that programs of dynamic shapes run with."""

Inputs = dict[str, torch.Tensor]


@dataclass
class Subject:
    """A model, its tensors by the names of its arguments, and further `options` of calls."""

    model: torch.nn.Module
    inputs: Callable[[int, int], Inputs]
    options: dict[str, Any] = field(default_factory=lambda: dict[str, Any]())

    def arguments(self, batch: int = BATCH, length: int = LENGTH) -> dict[str, Any]:
        return {**self.inputs(batch, length), **self.options}

    def has_length(self) -> bool:
        """Whether a dim of an input depends on the length."""
        found = self._dims(True)
        return any("length" in dims.values() for dims in found.values())

    def dynamic_shapes(self, length: bool) -> dict[str, Any]:
        """The dims that depend on the batch, and with `length` those that depend on the length."""
        symbols = {
            "batch": torch.export.Dim("batch", min=1, max=8),
            "length": torch.export.Dim("length", min=2, max=32),
        }
        found = self._dims(length)
        shapes = {name: {a: symbols[d] for a, d in dims.items()} for name, dims in found.items()}
        return {**shapes, **dict.fromkeys(self.options)}

    def _dims(self, length: bool) -> dict[str, dict[int, str]]:
        given = self.inputs(BATCH, LENGTH)
        others = {"batch": self.inputs(BATCH + 1, LENGTH)}
        if length:
            others["length"] = self.inputs(BATCH, LENGTH - 3)
        return {
            name: {
                axis: dim
                for dim, other in others.items()
                for axis, size in enumerate(tensor.shape)
                if other[name].shape[axis] != size
            }
            for name, tensor in given.items()
        }


def perturb(model: torch.nn.Module) -> torch.nn.Module:
    """Add noise to parameters whose elements are equal, so that no layer is the identity.

    Layer scales of 1e-6 and biases of 0 would hide errors.
    """
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in model.parameters():
            if (
                value.is_floating_point()
                and value.numel()
                and bool((value == value.flatten()[0]).all())
            ):
                value += 0.1 * torch.randn(value.shape, generator=generator).to(value.dtype)
    return model.eval()


def noise(seed: int, *shape: int) -> torch.Tensor:
    """Normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def tokens(seed: int, *shape: int, most: int = 50) -> torch.Tensor:
    """Integers from 3 on: smaller ones are special tokens of many models."""
    return torch.randint(3, most, shape, generator=torch.Generator().manual_seed(seed))

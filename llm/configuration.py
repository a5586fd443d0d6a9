"""The sizes of a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pages import PageLayout


@dataclass(frozen=True)
class Configuration:
    """Sizes and constants; `size` is that of a head, `base` of the rotary frequencies."""

    architecture: str
    layers: int
    width: int
    heads: int
    key_heads: int
    size: int
    vocabulary: int
    context: int
    epsilon: float
    base: float
    factors: tuple[float, ...] = ()
    """Divisors of the rotary frequencies, if there are some (Llama 3's long contexts)."""
    activations: str = "int16"
    """What inputs of matrices in blocks are rounded to, block by block; "float32" for nothing."""
    cache: str = "float16"
    """The dtype of keys and values in the cache."""

    @property
    def pages(self) -> PageLayout:
        """The layout of the cache."""
        return PageLayout(self.layers, self.key_heads, self.size, self.cache)

    def rotations(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Cosines and sines (context, size / 2) of the angles of each position."""
        exponents = np.arange(0, self.size, 2) / self.size
        frequencies: NDArray[Any] = self.base**-exponents / (self.factors or 1.0)
        angles = np.outer(np.arange(self.context), frequencies)
        return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)

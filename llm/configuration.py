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
    magnitude: float = 1.0
    """A factor of rotated queries and keys (YaRN)."""
    windows: tuple[int, ...] = ()
    """The positions that each layer sees, 0 for all; without entries, all layers see all."""
    local_base: float | None = None
    """The base of layers with a window, whose frequencies are not divided; None for `base`."""
    scale: float | None = None
    """The factor of products of queries and keys, by default ``1 / sqrt(size)``."""
    softcap: float | None = None
    """The cap of scaled products of queries and keys: ``softcap * tanh(product / softcap)``."""
    logit_softcap: float | None = None
    """The cap of logits."""
    activations: str = "int16"
    """What inputs of matrices in blocks are rounded to, block by block; "float32" for nothing."""
    cache: str = "float16"
    """The dtype of keys and values in the cache."""

    @property
    def attention(self) -> str:
        """The dtype of queries, keys and values in the attention of a prompt."""
        return "bfloat16" if self.activations == "int8" else "float32"

    @property
    def pages(self) -> PageLayout:
        """The layout of the cache."""
        return PageLayout(self.layers, self.key_heads, self.size, self.cache)

    def window(self, layer: int) -> int:
        """The positions that a layer sees, 0 for all."""
        return self.windows[layer] if self.windows else 0

    @property
    def reaches(self) -> tuple[int, ...]:
        """What layers read of the cache: 0 for all positions, and the longest window."""
        windows = self.windows or (0,)
        return tuple(dict.fromkeys(self.reach(layer) for layer in range(len(windows))))

    def reach(self, layer: int) -> int:
        """Which of `reaches` a layer has."""
        return max(self.windows) if self.window(layer) else 0

    @property
    def kept(self) -> int:
        """The last positions that some layer still sees, 0 for all."""
        return 0 if 0 in self.reaches else max(self.reaches)

    def is_local(self, layer: int) -> bool:
        """Whether a layer has the rotations of `local_base`."""
        return self.local_base is not None and self.window(layer) > 0

    def rotations(self, local: bool = False) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Cosines and sines (context, size / 2) of the angles of each position."""
        base, factors, magnitude = self.base, self.factors or 1.0, self.magnitude
        if local and self.local_base is not None:
            base, factors, magnitude = self.local_base, 1.0, 1.0
        exponents = np.arange(0, self.size, 2) / self.size
        frequencies: NDArray[Any] = base**-exponents / factors
        angles = np.outer(np.arange(self.context), frequencies)
        cosines, sines = np.cos(angles) * magnitude, np.sin(angles) * magnitude
        return cosines.astype(np.float32), sines.astype(np.float32)

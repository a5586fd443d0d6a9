"""GGUF files: sizes, weights and the vocabulary of a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.dtype import bfloat16_to_float32
from .architectures.weights import Weights
from .configuration import Configuration
from .gguf_formats import packed
from .gguf_sizes import Metadata, configuration_of

FLOATS = ("F32", "F16", "BF16")
FREQUENCIES = "rope_freqs.weight"
"""Divisors of the rotary frequencies."""
INTERLEAVED = ("llama",)
"""Architectures whose query and key rows are in pairs, where halves of a head belong together."""


@dataclass(frozen=True)
class GgufFile:
    """A file that the package `gguf` reads; tensors are views of the mapped file."""

    path: Path
    metadata: Mapping[str, Any]
    tensors: Mapping[str, Any]

    @staticmethod
    def open(path: str | Path) -> GgufFile:
        """Read the header of a file.

        Raises ImportError without the package, FileNotFoundError, and ValueError with one line for
        what is no GGUF file.
        """
        try:
            from gguf import GGUFReader
        except ImportError:
            raise ImportError("expected the package gguf (pip install xrelax[llm])") from None
        if not Path(path).is_file():
            raise FileNotFoundError(f"expected a GGUF file, got no file '{path}'")
        try:
            reader = GGUFReader(str(path))
        except (ValueError, IndexError, KeyError, UnicodeDecodeError, OverflowError) as error:
            raise ValueError(f"expected a GGUF file, got '{path}': {error}") from None
        metadata = {name: field.contents() for name, field in reader.fields.items()}
        return GgufFile(Path(path), metadata, {t.name: t for t in reader.tensors})

    @property
    def others(self) -> list[Path]:
        """The files that the model is read from, besides `path`."""
        return []

    def configuration(self, activations: str, cache: str) -> Configuration:
        """The sizes of the model; raises ValueError with one line for other architectures."""
        metadata, factors = Metadata(self.metadata, self.path), self.tensors.get(FREQUENCIES)
        if (table := self.tensors.get("token_embd.weight")) is None:
            raise ValueError(f"expected a weight 'token_embd.weight' in '{self.path}', got none")
        divisors = () if factors is None else factors.data.tolist()
        return configuration_of(metadata, table.data.shape[0], divisors, activations, cache)

    def vocabulary(self) -> dict[str, Any]:
        """What `Tokenizer` needs."""
        return {n: v for n, v in self.metadata.items() if n.startswith("tokenizer.")}

    def weights(self, config: Configuration) -> Weights:
        """The weights: vectors in float32, matrices in blocks.

        Raises ValueError with one line for formats that are not supported.
        """
        found: dict[str, Any] = {}
        for name, tensor in self.tensors.items():
            kind = tensor.tensor_type.name
            if name == FREQUENCIES:
                continue
            data = tensor.data
            if config.architecture in INTERLEAVED and name.endswith(
                ("attn_q.weight", "attn_k.weight")
            ):
                data = data[_halves_of_heads(len(data), config.size)]
            if kind in FLOATS:
                found[name] = _floats(kind, data)
                continue
            try:
                found[name] = packed(kind, data)
            except ValueError as error:
                raise ValueError(f"'{name}' of '{self.path}': {error}") from None
        return Weights(found)


def _floats(kind: str, data: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers as float32; those of bfloat16 are given as bytes."""
    if kind != "BF16":
        return np.asarray(data, np.float32)
    return bfloat16_to_float32(np.ascontiguousarray(data).view(np.uint16))


def _halves_of_heads(rows: int, size: int) -> NDArray[np.int64]:
    """The order of rows in which the first of all pairs of a head come first, then the second."""
    return np.arange(rows).reshape(-1, size // 2, 2).swapaxes(1, 2).reshape(-1)

"""Model folders of `transformers`: configuration, weights and vocabulary of a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .architectures.weights import Weights
from .configuration import Configuration
from .folder_sizes import Settings, configuration_of
from .folder_vocabulary import vocabulary_of
from .json_file import read_json
from .safetensors_file import floats, tensors_of

IGNORED = (".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq")
"""Ends of names of tensors that follow from the configuration, such as masks."""
TRANSPOSED = ("attn_qkv.weight", "attn_output.weight", "ffn_up.weight", "ffn_down.weight")
"""Matrices of GPT-2, which are (columns, rows)."""


@dataclass(frozen=True)
class ModelFolder:
    """A folder with ``config.json``, safetensors and ``tokenizer.json``; tensors are mapped."""

    path: Path
    settings: Settings
    tensors: Mapping[str, NDArray[Any]]

    @staticmethod
    def open(path: str | Path) -> ModelFolder:
        """Read configuration and headers.

        Raises FileNotFoundError, and ValueError with one line for what is no such folder.
        """
        folder = Path(path)
        settings = Settings(read_json(folder / "config.json"), folder)
        return ModelFolder(folder, settings, tensors_of(folder))

    @property
    def others(self) -> list[Path]:
        """The files that the model is read from, besides `path`."""
        return sorted(
            p for p in self.path.iterdir() if p.suffix in (".json", ".jinja", ".safetensors")
        )

    def configuration(self, activations: str, cache: str) -> Configuration:
        """The sizes of the model; raises ValueError with one line for other architectures."""
        return configuration_of(self.settings, activations, cache)

    def vocabulary(self) -> dict[str, Any]:
        """What `Tokenizer` needs."""
        return vocabulary_of(self.path, self.settings)

    def weights(self, config: Configuration) -> Weights:
        """The weights in float32, under the names of GGUF files.

        Raises ValueError with one line for tensors without such a name.
        """
        from gguf import MODEL_ARCH, get_tensor_name_map

        kind = config.architecture
        names = get_tensor_name_map(MODEL_ARCH[kind.upper()], config.layers)
        found: dict[str, Any] = {}
        for key, tensor in self.tensors.items():
            if key.endswith(IGNORED) or (key == "lm_head.weight" and self.settings.is_tied):
                continue
            name = names.get_name(key, (".weight", ".bias"))
            if name is None and key == "lm_head.weight":  # Gemma's list of names has none
                name = "output.weight"
            if name is None:
                raise ValueError(f"expected weights that {kind} has in '{self.path}', got '{key}'")
            found[name] = _as_in_files(kind, name, floats(tensor))
        if not self.settings.is_tied and "output.weight" not in found:
            raise ValueError(f"expected a weight 'lm_head.weight' in '{self.path}', got none")
        return Weights(found)


def _as_in_files(kind: str, name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """A weight as GGUF files have it: norms multiply by it, and rows are those of the result."""
    if kind.startswith("gemma") and name.endswith("norm.weight"):
        return values + 1
    if kind == "gpt2" and name.endswith(TRANSPOSED):
        return np.ascontiguousarray(values.T)
    return values

"""The weights of a model."""

from typing import Any, TypeAlias

Weights: TypeAlias = "dict[str, Any]"
"""Arrays of float32, and matrices in blocks, under the names of GGUF files."""

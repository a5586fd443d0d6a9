"""The weights of a model."""

from __future__ import annotations

from typing import Any


class Weights(dict[str, Any]):
    """Arrays of float32, and matrices in blocks, under the names of GGUF files.

    `unread` are the names of those that no layer has taken yet.
    """

    def __init__(self, values: dict[str, Any]):
        super().__init__(values)
        self.unread = dict.fromkeys(values)

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        self.unread.pop(name, None)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """The weight of a name, or what replaces it."""
        return self[name] if name in self else default

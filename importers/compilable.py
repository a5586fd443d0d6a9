"""`Compilable`: models that `xrelax.compile` compiles by a method of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Compilable(ABC):
    """A model that knows how its calls become those of its module."""

    @abstractmethod
    def compile(self, **options: Any) -> Any:
        """Native code with the calls of the model; `options` are those of `build`."""

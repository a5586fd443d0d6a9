"""The key of the random numbers of a model, as a parameter of its function."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from xdsl.dialects.builtin import i64
from xdsl.ir import Block

from ..dialects import relax
from ..lowering.functions import unique_name
from .emitter import Value


class KeyParameter:
    """The last parameter of a function, which exists if an operator uses it."""

    def __init__(self, entry: Block):
        self._entry = entry
        self._value: Value | None = None
        self._streams = itertools.count()

    @property
    def is_used(self) -> bool:
        """Whether the function has the parameter."""
        return self._value is not None

    def reaches(self, parameters: Iterable[Value]) -> bool:
        """Whether the key is among parameters that a value depends on."""
        return any(parameter is self._value for parameter in parameters)

    def stream(self) -> tuple[Value, int]:
        """The key, and a stream that no other operator has."""
        if self._value is None:
            type_ = relax.TensorType.of([2], i64)
            self._value = self._entry.insert_arg(type_, len(self._entry.args))
        return self._value, next(self._streams)

    def names(self, others: list[str]) -> list[str]:
        """The names of all parameters, by those of the others."""
        return [*others, unique_name("random_key", others)] if self.is_used else others

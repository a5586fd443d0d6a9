"""The key of the random numbers of a model: a parameter of its function, and its values."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
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


class RandomKeys:
    """The keys of calls one after another: a seed, and the number of the call."""

    def __init__(self, seed: int):
        self.start(seed)

    def start(self, seed: int) -> None:
        """Start again with a seed, an integer modulo 2**64; raises TypeError for other values."""
        try:
            number = operator.index(seed)
        except TypeError:
            kind = type(seed).__name__
            raise TypeError(f"expected a seed to be an integer, got {kind}") from None
        self._seed = (number + (1 << 63)) % (1 << 64) - (1 << 63)
        self._calls = itertools.count()

    def next(self) -> NDArray[Any]:
        """The key of the next call."""
        return np.array([self._seed, next(self._calls)], np.int64)

    def __getstate__(self) -> int:
        return self._seed

    def __setstate__(self, seed: int) -> None:
        self.start(seed)

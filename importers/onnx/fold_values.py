"""What the evaluation of operators on known values shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import IntExpr
from .ratio import as_element
from .tensor import Known

MAX_ELEMENTS = 1024
"""Larger values are computed by operators; the compiler folds them."""


@dataclass(frozen=True)
class Given:
    """The attributes of a node, its opset, and which expressions are dims of tensors."""

    attributes: Mapping[str, Any] = field(default_factory=lambda: {})
    opset: int = 17
    sizes: Collection[IntExpr] = ()

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def is_size(self, value: IntExpr) -> bool:
        """Whether an expression is provably not negative."""
        return (
            is_non_negative(value)
            or value in self.sizes
            or any(is_non_negative(value - size) for size in self.sizes)
        )

    def listed(
        self, name: str, inputs: Sequence[Known | None], index: int, since: int
    ) -> list[int] | None:
        """Ints that are an attribute, and an input from an opset on; `None` where left out.

        Raises ValueError for an input that depends on symbols.
        """
        if self.opset < since:
            return self.get(name)
        found = inputs[index] if index < len(inputs) else None
        return None if found is None else numbers(found)


Fold: TypeAlias = Callable[[list[Any], Given], "Known | Sequence[Known] | None"]
"""A function of the inputs of a node; `None` where it cannot say.

It may raise ValueError, TypeError, IndexError, KeyError and ArithmeticError.
"""


def is_symbolic(values: Known) -> bool:
    """Whether values have expressions of symbols as elements."""
    return values.dtype == object


def numbers(values: Known) -> list[int]:
    """Values as ints; raises ValueError for those that depend on symbols."""
    if is_symbolic(values):
        raise ValueError("expected numbers")
    return [int(v) for v in values.reshape(-1)]


def elements(values: Known) -> Known:
    """Values as expressions; raises ValueError for a float that is no simple fraction."""
    if is_symbolic(values):
        return values
    return objects([as_element(v) for v in values.reshape(-1)], values.shape)


def objects(values: Iterable[Any], shape: Sequence[int]) -> Known:
    """An array of expressions."""
    listed = list(values)
    made = np.empty(len(listed), object)
    for index, value in enumerate(listed):
        made[index] = value
    return made.reshape(tuple(shape))


def alike(*arrays: Known) -> list[Known]:
    """All as expressions if one has them."""
    return [elements(a) for a in arrays] if any(map(is_symbolic, arrays)) else list(arrays)


def require_small(shape: Sequence[int]) -> None:
    """Raise ValueError for a shape of too many elements."""
    if prod(shape) > MAX_ELEMENTS:
        raise ValueError(f"expected at most {MAX_ELEMENTS} elements, got {prod(shape)}")

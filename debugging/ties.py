"""Indices of elements that are equal up to rounding: another order of them is no wrong result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from ..dialects.relax import TensorType
from ..dialects.relax.operators.scanning import ArgExtremumOp
from ..dialects.relax.operators.sorting import ArgsortOp, TopKOp
from ..reference.compare import mismatch
from ..reference.values import Array
from .captured import Stored, Value

EXPLANATION = "both select elements that are equal up to rounding"


@dataclass(frozen=True)
class Search:
    """An operator that returns indices into its operand along an axis."""

    data: Stored
    axis: int | None
    keeps_axis: bool

    def are_ties(self, found: Array, wanted: Array, terms: int) -> bool:
        """Whether two results select equal elements, which may have sums of so many terms."""
        first, second = self._selected(found), self._selected(wanted)
        if first is None or second is None:
            return False
        return mismatch(first, second, self.data.dtype, terms) is None

    def _selected(self, indices: Array) -> Array | None:
        """The elements at indices; `None` where there is none."""
        if self.axis is None:
            data, places = self.data.array.reshape(-1), indices.reshape(-1)
        else:
            data = np.moveaxis(self.data.array, self.axis, -1)
            places = np.moveaxis(indices, self.axis, -1) if self.keeps_axis else indices[..., None]
        if indices.size and not 0 <= indices.min() <= indices.max() < data.shape[-1]:
            return None
        return np.take_along_axis(data, places, -1)


def search_of(op: Operation, values: Mapping[object, Value], args: Sequence[Any]) -> Search | None:
    """What an operator searches, `None` for another operation.

    `values` are those of operations, and `args` are the arguments of the function.
    """
    if not isinstance(op, ArgExtremumOp | ArgsortOp | TopKOp):
        return None
    data, attributes = _value(op.operands[0], values, args), op.attribute_values()
    if data is None:
        return None
    keeps_axis = not isinstance(op, ArgExtremumOp) or attributes["keepdims"]
    return Search(data, attributes["axis"], keeps_axis)


def _value(value: SSAValue, values: Mapping[object, Value], args: Sequence[Any]) -> Stored | None:
    if isinstance(value, BlockArgument):
        given, type_ = args[value.index], value.type
        if not isinstance(type_, TensorType) or type_.dtype is None:
            return None
        return Stored(np.asarray(given), type_.dtype)
    found = values.get(value.owner, ())
    return found[0] if len(found) == 1 else None

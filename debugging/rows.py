"""The rows of a report: each operation's values beside those of the reference, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..dialects.dtypes import is_float
from ..lowering.graph.convert_layout import CHANNELS_LAST
from ..reference.compare import EPSILON, SLACK, as_float64, rounding_noise
from ..reference.values import Array
from .captured import Stored, Value
from .comparison import Error, Tolerance, compared, largest_of
from .operations import GraphOperation, Mark
from .report import OperationReport
from .ties import EXPLANATION, Search

Tensors: TypeAlias = dict[int, Stored]
"""The tensors of a result that are known, by number."""

NAN = "NaN appears here first"
OVERFLOW = "an infinity appears here first, float64 is finite"


@dataclass(frozen=True)
class Evaluated:
    """The value of an operation by the reference evaluator, in its own precision and in float64."""

    exact: Value
    wide: Value
    terms: int
    search: Search | None = None
    """What an operator that returns indices searches."""


@dataclass
class Seen:
    """What a call of the compiled code has shown of an operation."""

    kernel: str
    value: Tensors = field(default_factory=lambda: {})

    def add(self, value: Value, mark: Mark) -> None:
        """Add a tensor, or all of them."""
        for index, tensor in enumerate(value):
            self.value[mark.item or index] = _in_order(tensor, mark.layout)


@dataclass
class Rows:
    """The reports of operations, made in order."""

    wanted: Mapping[str, Tensors]
    tolerance: Tolerance
    is_build: bool
    """Whether another build is the reference."""
    has_nan: bool
    """Whether an argument or an earlier result has NaN."""
    epsilon: float = 0.0
    """The rounding of operands that a build asks for by its precision; 0 for that of dtypes."""
    has_overflow: bool = False
    """Whether an earlier result is infinite where float64 is finite."""

    def row(
        self,
        operation: GraphOperation,
        kernel: tuple[str, tuple[str, ...]],
        seen: Seen | None,
        known: Evaluated | None,
    ) -> OperationReport:
        """What is known of an operation; raises ValueError for a reference of other shapes."""
        exact = () if known is None else known.exact
        return OperationReport(
            operation.name,
            operation.operator,
            operation.source,
            operation.module,
            tuple(v.array.shape for v in exact),
            tuple(v.dtype for v in exact),
            *kernel,
            *self._compared(operation.name, seen, known),
        )

    def _compared(
        self, name: str, seen: Seen | None, known: Evaluated | None
    ) -> tuple[Error | None, dict[int, Array], dict[int, Array]]:
        """The error of an operation, its values and those of the reference."""
        if seen is None or known is None:
            return None, {}, {}
        found = {i: _shaped(v, known.exact[i].array.shape) for i, v in seen.value.items()}
        wanted = self.wanted.get(name, {})
        if self.is_build:  # whose views have the shapes of what they view
            wanted = {i: _shaped(v, known.exact[i].array.shape) for i, v in wanted.items()}
        error = self._error(name, found, wanted, known)
        return error, _all_wide(found), _all_wide(wanted)

    def _error(self, name: str, found: Tensors, wanted: Tensors, known: Evaluated) -> Error | None:
        errors = [self._of(name, v, wanted[i], known, i) for i, v in found.items() if i in wanted]
        if not self.has_nan and any(has_nan(_wide(v)) for v in found.values()):
            self.has_nan = True
            errors.insert(0, Error(0.0, 0.0, 0.0, NAN))
        if not self.has_overflow and any(_overflows(v, known.wide[i]) for i, v in found.items()):
            self.has_overflow = True
            errors.insert(0, Error(0.0, 0.0, 0.0, OVERFLOW))
        return largest_of(errors) if errors else None

    def _of(self, name: str, found: Stored, wanted: Stored, known: Evaluated, index: int) -> Error:
        if found.array.shape != wanted.array.shape:
            raise ValueError(
                f"expected the reference of '{name}' to have shape {found.array.shape}, "
                f"got {wanted.array.shape}"
            )
        noise = _noise(known.exact[index], known.wide[index], wanted)
        noise += self.epsilon * SLACK * _largest(known.wide[index])
        dtype = _dtype(found, wanted)
        error = compared(_wide(found), _wide(wanted), dtype, known.terms, noise, self.tolerance)
        if not error.problem or known.search is None or is_float(dtype):
            return error
        if not known.search.are_ties(found.array, wanted.array, known.terms):
            return error
        return error._replace(problem=f"{error.problem}; {EXPLANATION}")


def has_nan(value: Any) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    array = cast("NDArray[Any]", value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def _in_order(value: Stored, layout: str) -> Stored:
    """A tensor with its axes in the order of the graph."""
    if layout != CHANNELS_LAST:
        return value
    return Stored(np.moveaxis(value.array, -1, 1), value.dtype)


def _overflows(found: Stored, wide: Stored) -> bool:
    if not is_float(found.dtype):
        return False
    return bool((np.isinf(_wide(found)) & np.isfinite(wide.array)).any())


def _shaped(value: Stored, shape: tuple[int, ...]) -> Stored:
    """The same elements in a shape, if they are as many."""
    if value.array.size != prod(shape):
        return value
    return Stored(value.array.reshape(shape), value.dtype)


def _wide(value: Stored) -> NDArray[Any]:
    """Floats as float64, other values as they are."""
    return as_float64(value.array, value.dtype) if is_float(value.dtype) else value.array


def _all_wide(tensors: Tensors) -> dict[int, Array]:
    return {index: _wide(tensor) for index, tensor in tensors.items()}


def _dtype(found: Stored, wanted: Stored) -> str:
    """The dtype of the two with the larger rounding errors."""
    if not is_float(found.dtype) or not is_float(wanted.dtype):
        return found.dtype
    return max(found.dtype, wanted.dtype, key=EPSILON.__getitem__)


def _largest(value: Stored) -> float:
    """The largest finite magnitude of floats."""
    if not is_float(value.dtype):
        return 0.0
    wide = _wide(value)
    return float(np.abs(wide).max(where=np.isfinite(wide), initial=0.0))


def _noise(exact: Stored, wide: Stored, wanted: Stored) -> float:
    """What rounding alone may add up to, in the less exact one of the graph and the reference."""
    if not is_float(exact.dtype):
        return 0.0
    own = rounding_noise(_wide(exact), _wide(wide))
    return own * max(1.0, EPSILON.get(wanted.dtype, 0.0) / EPSILON[exact.dtype])

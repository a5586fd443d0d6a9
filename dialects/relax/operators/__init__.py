"""The operator set of the `relax` dialect, one declaration each; `OPERATORS` finds them by name."""

from __future__ import annotations

from . import (
    activation,
    adaptive_pooling,
    attention,
    batch_norm,
    conversion,
    convolution,
    creation,
    einsum,
    elementwise,
    float_functions,
    indexing,
    joining,
    linear_algebra,
    logic,
    manipulation,
    moments,
    multi_indexing,
    normalization,
    patterns,
    pooling,
    reduction,
    repetition,
    reshaping,
    scanning,
    scattering,
    selection,
    slicing,
    sorting,
    transposed_convolution,
    unary,
)
from .base import OperatorOp as OperatorOp

_FAMILIES = (
    activation,
    adaptive_pooling,
    attention,
    batch_norm,
    convolution,
    conversion,
    creation,
    einsum,
    elementwise,
    float_functions,
    indexing,
    joining,
    linear_algebra,
    logic,
    manipulation,
    moments,
    multi_indexing,
    normalization,
    patterns,
    pooling,
    reduction,
    repetition,
    reshaping,
    scanning,
    scattering,
    selection,
    slicing,
    sorting,
    transposed_convolution,
    unary,
)


def _declared() -> list[type[OperatorOp]]:
    found = [v for family in _FAMILIES for v in vars(family).values() if isinstance(v, type)]
    return [c for c in found if issubclass(c, OperatorOp) and isinstance(vars(c).get("name"), str)]


OPERATORS: dict[str, type[OperatorOp]] = {
    op.name: op for op in sorted(_declared(), key=lambda op: op.name)
}
"""Operators by their full name, such as "relax.nn.relu"."""

"""The operator set of the `relax` dialect, one declaration each; `OPERATORS` finds them by name."""

from __future__ import annotations

from importlib import import_module

from .base import OperatorOp as OperatorOp

FAMILIES = (
    "activation",
    "adaptive_pooling",
    "attention",
    "batch_norm",
    "conversion",
    "convolution",
    "creation",
    "einsum",
    "elementwise",
    "float_functions",
    "indexing",
    "joining",
    "linear_algebra",
    "logic",
    "manipulation",
    "moments",
    "multi_indexing",
    "normalization",
    "patterns",
    "pooling",
    "reduction",
    "repetition",
    "reshaping",
    "scanning",
    "scattering",
    "selection",
    "slicing",
    "sorting",
    "transposed_convolution",
    "unary",
)
"""The modules that declare operators."""


def _declared() -> list[type[OperatorOp]]:
    families = [import_module(f".{name}", __package__) for name in FAMILIES]
    found = [v for family in families for v in vars(family).values() if isinstance(v, type)]
    return [c for c in found if issubclass(c, OperatorOp) and isinstance(vars(c).get("name"), str)]


OPERATORS: dict[str, type[OperatorOp]] = {
    op.name: op for op in sorted(_declared(), key=lambda op: op.name)
}
"""Operators by their full name, such as "relax.nn.relu"."""

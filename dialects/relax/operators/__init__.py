"""The operator set of the `relax` dialect, one declaration each; `OPERATORS` finds them by name."""

from __future__ import annotations

from importlib import import_module

from .base import BinaryOp as BinaryOp
from .base import OperatorOp as OperatorOp
from .base import UnaryOp as UnaryOp

FAMILIES = (
    "activation",
    "adaptive_pooling",
    "affine_grid",
    "attention",
    "attention_words",
    "batch_norm",
    "block_weights",
    "box_decoding",
    "box_rows",
    "box_selection",
    "conversion",
    "creation",
    "determinant",
    "dynamic_slicing",
    "einsum",
    "elementwise",
    "float_functions",
    "gelu",
    "gradients",
    "grid_sampling",
    "grids",
    "grouped_matmul",
    "indexed_pooling",
    "indexing",
    "joining",
    "layout_transforms",
    "linear_algebra",
    "linear_systems",
    "log_add_exp",
    "logic",
    "losses",
    "manipulation",
    "markers",
    "matrix_decompositions",
    "median",
    "moments",
    "multi_indexing",
    "nonzero",
    "normalization",
    "pack_blocks",
    "paged_attention",
    "patterns",
    "plain_convolution",
    "pooling",
    "quantization",
    "random_numbers",
    "reduction",
    "region_pooling",
    "repetition",
    "reshaping",
    "unit_dims",
    "resizing",
    "row_exchanges",
    "running",
    "sampling",
    "scanning",
    "scattering",
    "searching",
    "selection",
    "selu",
    "slice_scattering",
    "slicing",
    "sorting",
    "transposed_convolution",
    "unary",
    "unique",
    "views",
    "winograd",
    "words",
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


def register_operator(cls: type[OperatorOp]) -> type[OperatorOp]:
    """Class decorator: add an operator from outside the package, for scripts and `relax.op` too.

    It goes above ``@irdl_op_definition``. Defining a class again in its module replaces it. Raises
    ValueError for a name without "relax." at its start, and for the name of another operator.
    """
    if not cls.name.startswith("relax."):
        raise ValueError(
            f"expected the name of an operator to start with 'relax.', got '{cls.name}'"
        )
    known = OPERATORS.get(cls.name, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"expected a new name of an operator, got '{cls.name}' twice")
    OPERATORS[cls.name] = cls
    return cls

"""The operator set of the `relax` dialect, one declaration each; `OPERATORS` finds them by name."""

from __future__ import annotations

from .base import OperatorOp as OperatorOp
from .elementwise import AddOp, DivideOp, EwiseFMAOp, MaximumOp, MultiplyOp, ReluOp, SubtractOp
from .linear_algebra import LinearOp, MatmulOp, PermuteDimsOp

OPERATORS: dict[str, type[OperatorOp]] = {
    op.name: op
    for op in (
        AddOp,
        DivideOp,
        EwiseFMAOp,
        LinearOp,
        MatmulOp,
        MaximumOp,
        MultiplyOp,
        PermuteDimsOp,
        ReluOp,
        SubtractOp,
    )
}
"""Operators by their full name, such as "relax.nn.relu"."""

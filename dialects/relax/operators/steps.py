"""Operators that are defined in several steps, as in TVM, which the compiler inlines."""

from __future__ import annotations

from abc import ABC

from .base import OperatorOp


class SteppedOp(OperatorOp, ABC):
    """An operator with tensors between operands and result, of which only sums are stored.

    ``relax.transform.LegalizeOps`` shows them as blocks of their own, as TVM does.
    """

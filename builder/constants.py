"""`relax.const`: arrays and numbers as expressions."""

from __future__ import annotations

from typing import Any

from ..ir.expr import Constant


def const(value: Any, dtype: Any = None) -> Constant:
    """A constant tensor of a dtype or struct info; without one, of the dtype that the value has.

    Takes numbers, lists, Tensors, NumPy and torch arrays, and copies none that needs no conversion.
    Raises ValueError with one line for another shape than the struct info's.
    """
    return Constant(value, dtype)

"""Extreme values of dtypes."""

from __future__ import annotations

from ..dialects.dtypes import check_dtype, integer_range, is_float
from .arithmetic import const
from .expr import PrimExpr


def min_value(dtype: str) -> PrimExpr:
    """The smallest finite value of a dtype."""
    return const(_limits(dtype)[0], dtype)


def max_value(dtype: str) -> PrimExpr:
    """The largest finite value of a dtype."""
    return const(_limits(dtype)[1], dtype)


def _limits(dtype: str) -> tuple[float | int, float | int]:
    if not is_float(check_dtype(dtype)):
        return integer_range(dtype)
    largest = {
        "float16": "0x1.ffcp15",
        "bfloat16": "0x1.fep127",
        "float32": "0x1.fffffep127",
        "float64": "0x1.fffffffffffffp1023",
    }[dtype]
    return -float.fromhex(largest), float.fromhex(largest)


def infinity(dtype: str) -> PrimExpr:
    """Positive infinity of a float dtype."""
    return const(float("inf"), dtype)

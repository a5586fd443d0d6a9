"""Data types: TVM's names ("float32"), xDSL's element types, and NumPy's dtypes."""

from __future__ import annotations

from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute, TypeAttribute

FLOATS: dict[str, TypeAttribute] = {
    "float16": Float16Type(),
    "bfloat16": BFloat16Type(),
    "float32": Float32Type(),
    "float64": Float64Type(),
}
INTEGER_WIDTHS = (8, 16, 32, 64)

_TYPES: dict[str, TypeAttribute] = {
    **FLOATS,
    **{f"int{w}": IntegerType(w) for w in INTEGER_WIDTHS},
    **{f"uint{w}": IntegerType(w, Signedness.UNSIGNED) for w in INTEGER_WIDTHS},
    "bool": IntegerType(1),
    "index": IndexType(),
}
_NAMES: dict[Attribute, str] = {t: n for n, t in _TYPES.items()}

DTYPES = tuple(n for n in _TYPES if n != "index")
"""The dtypes of tensors."""


def element_type(dtype: str) -> TypeAttribute:
    """The element type of a dtype name; raises ValueError for an unknown one."""
    try:
        return _TYPES[dtype]
    except KeyError:
        raise ValueError(f"expected a dtype ({', '.join(DTYPES)}), got '{dtype}'") from None


def dtype_name(element: Attribute) -> str:
    """The dtype name of an element type; raises ValueError if it has none."""
    try:
        return _NAMES[element]
    except KeyError:
        raise ValueError(f"expected an element type of a tensor, got {element}") from None


def is_element_type(element: Attribute) -> bool:
    """Whether the type can be the element type of a tensor or buffer."""
    return element in _NAMES and not isinstance(element, IndexType)


@cache
def value_type(element: Attribute) -> Attribute:
    """The SSA type of a loaded element: integers are signless, as in MLIR's ``arith``."""
    if not isinstance(element, IntegerType):
        return element
    return IntegerType(cast("IntegerType", element).width.data)


def is_float(dtype: str) -> bool:
    """Whether the dtype is a floating-point one."""
    return dtype in FLOATS


def is_unsigned(dtype: str) -> bool:
    """Whether the dtype is an unsigned integer or bool."""
    return dtype.startswith("uint") or dtype == "bool"


def bit_width(dtype: str) -> int:
    """The width of a value in bits; 1 for bool, 64 for an index."""
    if dtype == "bool":
        return 1
    if dtype == "index":
        return 64
    return int("".join(c for c in dtype if c.isdigit()))


def byte_width(element: Attribute) -> int:
    """The size of an element in memory in bytes; 1 for bool."""
    return max(bit_width(dtype_name(element)), 8) // 8


def check_dtype(dtype: str) -> str:
    """Return a dtype; raises ValueError for an unknown one."""
    if dtype not in DTYPES:
        raise ValueError(f"expected a dtype ({', '.join(DTYPES)}), got '{dtype}'")
    return dtype


def integer_range(dtype: str) -> tuple[int, int]:
    """The smallest and largest value of an integer dtype or bool."""
    width = bit_width(dtype)
    if is_unsigned(dtype):
        return 0, (1 << width) - 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def holds(dtype: str, value: float) -> bool:
    """Whether the integer part of a number is in the range of an integer dtype; true for others."""
    if is_float(dtype) or dtype == "bool":
        return True
    low, high = integer_range(dtype)
    return low - 1 < value < high + 1


def wrap_to(dtype: str, value: int) -> int:
    """Wrap an integer to the width of the dtype, modulo a power of two."""
    low, high = integer_range(dtype)
    return (value - low) % (high - low + 1) + low


def common_dtype(a: str, b: str) -> str:
    """The dtype to which both are promoted in arithmetic."""
    if a == b:
        return a
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if bit_width(a) != bit_width(b):
        return a if bit_width(a) > bit_width(b) else b
    if is_float(a):
        return "float32"
    return a if is_unsigned(a) else b

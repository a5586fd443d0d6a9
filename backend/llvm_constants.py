"""LLVM IR spelling of constants, exact to the bit."""

import struct
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute

from .errors import BackendError
from .llvm_types import escaped, type_text

_SHORT = 1e6
_GRID = 1024


def constant_text(value: Attribute, result_type: Attribute) -> str:
    """The literal, without its type, of an attribute as a constant of `result_type`."""
    match value:
        case IntegerAttr() if isinstance(result_type, IntegerType):
            return integer_text(value.value.data, result_type.bitwidth)
        case FloatAttr() if value.type == result_type:
            return float_text(value.type.pack((value.value.data,)), value.type)
        case DenseIntOrFPElementsAttr() if isinstance(result_type, VectorType | LLVMArrayType):
            return _dense_text(value, cast(Attribute, result_type))
        case StringAttr() if isinstance(result_type, LLVMArrayType):
            return f'c"{escaped(value.data.encode())}"'
        case _:
            raise BackendError(f"expected a constant of type {result_type}, got {value}")


def integer_text(value: int, width: int) -> str:
    """A decimal integer; `true` or `false` for `i1`."""
    if width == 1:
        return "true" if value else "false"
    return str(value)


def float_text(data: bytes, type: Attribute) -> str:
    """A float from its little-endian bytes: short decimals as such, all others in hexadecimal."""
    match type:
        case BFloat16Type():
            return str(int.from_bytes(data, "little", signed=True))
        case Float16Type():
            return f"0xH{int.from_bytes(data, 'little'):04X}"
        case Float32Type():
            (value,) = struct.unpack("<f", data)
            return _decimal(value) or f"0x{_widened(int.from_bytes(data, 'little')):016X}"
        case Float64Type():
            (value,) = struct.unpack("<d", data)
            return _decimal(value) or f"0x{int.from_bytes(data, 'little'):016X}"
        case _:
            raise BackendError(f"expected a float type of LLVM IR, got {type}")


def _decimal(value: float) -> str:
    if abs(value) < _SHORT and (value * _GRID).is_integer():
        return repr(value)
    return ""


def _widened(bits: int) -> int:
    """Bits of the f64 equal to an f32; by hand for NaNs, whose payload a conversion may change."""
    if bits & 0x7F80_0000 == 0x7F80_0000:
        return (bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7F_FFFF) << 29
    (value,) = struct.unpack("<f", bits.to_bytes(4, "little"))
    return int.from_bytes(struct.pack("<d", value), "little")


def _dense_text(value: DenseIntOrFPElementsAttr, type: Attribute) -> str:
    element = value.get_element_type()
    if not isinstance(
        element, IntegerType | BFloat16Type | Float16Type | Float32Type | Float64Type
    ):
        raise BackendError(f"expected dense integers or floats, got elements of type {element}")
    data, size = value.data.data, element.compile_time_size
    count = len(data) // size
    if not count:
        return "zeroinitializer"
    if data == data[:size] * count:
        data = data[:size]
    literals = [_element(data[i : i + size], element) for i in range(0, len(data), size)]
    name = type_text(element)
    if isinstance(type, VectorType) and len(literals) == 1:
        return f"splat ({name} {literals[0]})"
    body = ", ".join(f"{name} {literal}" for literal in literals * (count // len(literals)))
    return f"<{body}>" if isinstance(type, VectorType) else f"[{body}]"


def _element(data: bytes, type: Attribute) -> str:
    if isinstance(type, IntegerType):
        width = cast(IntegerType, type).bitwidth
        return integer_text(int.from_bytes(data, "little", signed=True), width)
    return float_text(data, type)

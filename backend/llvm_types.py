"""LLVM IR text of types, constants and names."""

import re
import struct
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
)
from xdsl.dialects.llvm import (
    FastMathAttr,
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute

from .errors import BackendError

_FLOATS: dict[type[Attribute], tuple[str, str]] = {
    BFloat16Type: ("i16", "bf16"),  # its bits: instruction selection aborts on vectors of `bfloat`
    Float16Type: ("half", "f16"),
    Float32Type: ("float", "f32"),
    Float64Type: ("double", "f64"),
}

_TYPES: dict[Attribute, str] = {}
_FASTMATH: dict[Attribute, str] = {}
_PLAIN_SYMBOL = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*").fullmatch


def type_text(type: Attribute) -> str:
    """LLVM IR text of a type: `<16 x float>` for `vector<16xf32>`.

    Raises `BackendError` for a type that LLVM IR does not have, such as `index`.
    """
    text = _TYPES.get(type)
    if text is None:
        text = _TYPES[type] = _type_text(type)
    return text


def _type_text(attr: Attribute) -> str:
    if (names := _FLOATS.get(type(attr))) is not None:
        return names[0]
    match attr:
        case IntegerType():
            return f"i{attr.bitwidth}"
        case LLVMPointerType(addr_space=IntAttr(data=space)) if space:
            return f"ptr addrspace({space})"
        case LLVMPointerType():
            return "ptr"
        case VectorType() if len(attr.get_shape()) == 1 and not attr.get_num_scalable_dims():
            return f"<{attr.get_shape()[0]} x {type_text(attr.get_element_type())}>"
        case LLVMArrayType():
            return f"[{attr.size.data} x {type_text(attr.type)}]"
        case LLVMStructType() if not attr.struct_name.data:
            return "{ " + ", ".join(map(type_text, attr.types)) + " }"
        case LLVMVoidType():
            return "void"
        case LLVMFunctionType():
            inputs = [type_text(i) for i in attr.inputs] + ["..."] * attr.is_variadic
            return f"{type_text(attr.output)} ({', '.join(inputs)})"
        case _:
            raise BackendError(f"expected a type of LLVM IR, got {attr}")


def mangled(attr: Attribute) -> str:
    """The suffix for a type in the name of an overloaded intrinsic: `v16f32`, `p0`, `i64`."""
    if (names := _FLOATS.get(type(attr))) is not None:
        return names[1]
    match attr:
        case IntegerType():
            return f"i{attr.bitwidth}"
        case LLVMPointerType():
            return f"p{attr.addr_space.data if isinstance(attr.addr_space, IntAttr) else 0}"
        case VectorType():
            return f"v{attr.get_shape()[0]}{mangled(attr.get_element_type())}"
        case _:
            raise BackendError(
                f"expected a type that an intrinsic can be overloaded by, got {attr}"
            )


def symbol_text(name: str) -> str:
    """A global name with its `@`, quoted if necessary."""
    return f"@{name}" if _PLAIN_SYMBOL(name) else f'@"{escaped(name.encode())}"'


def escaped(data: bytes) -> str:
    """Bytes escaped for an LLVM string literal."""
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)


def fastmath_text(flags: Attribute | None) -> str:
    """Fast-math flags, each followed by a space."""
    if flags is None:
        return ""
    text = _FASTMATH.get(flags)
    if text is None:
        text = _FASTMATH[flags] = _fastmath_text(flags)
    return text


def _fastmath_text(flags: Attribute) -> str:
    assert isinstance(flags, FastMathAttr)
    if len(flags.data) == len(FastMathFlag):
        return "fast "
    return "".join(f"{flag.value} " for flag in FastMathFlag if flag in flags.data)


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
    """A float literal from little-endian bytes: a short decimal if exact, else hexadecimal."""
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
    """Bits of the f64 equal to an f32, computed on integers to keep the payload of NaNs."""
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

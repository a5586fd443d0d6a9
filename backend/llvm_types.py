"""LLVM IR spelling of types, symbols and fast-math flags."""

import re

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerType,
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
    BFloat16Type: ("i16", "bf16"),  # its bits: vectors of `bfloat` abort LLVM's selection
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
    """What a type adds to the name of an overloaded intrinsic: `v16f32`, `p0`, `i64`."""
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
    """A global name with its `@`, quoted where LLVM needs it."""
    return f"@{name}" if _PLAIN_SYMBOL(name) else f'@"{escaped(name.encode())}"'


def escaped(data: bytes) -> str:
    """Bytes as the inside of an LLVM string literal."""
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)


def fastmath_text(flags: Attribute | None) -> str:
    """Fast-math flags with a blank after each, as they stand between opcode and type."""
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

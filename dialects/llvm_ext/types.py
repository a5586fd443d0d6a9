"""Properties of types, shared by the ops of `llvm_ext` and their verifiers."""

from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    VectorType,
)
from xdsl.dialects.llvm import FastMathAttr, LLVMPointerType
from xdsl.ir import Attribute
from xdsl.irdl import base
from xdsl.utils.exceptions import VerifyException

FLOAT_TYPES = (BFloat16Type, Float16Type, Float32Type, Float64Type)
"""The float types that the backend supports."""

_FLOAT = base(BFloat16Type) | base(Float16Type) | base(Float32Type) | base(Float64Type)
FLOAT_LIKE = _FLOAT | VectorType.constr(_FLOAT)
"""Constraint: a float or a vector of floats."""


def element_type(type: Attribute) -> Attribute:
    """The element type of a vector; other types are returned as they are."""
    return cast(VectorType[Attribute], type).element_type if isinstance(type, VectorType) else type


def like(type: Attribute, element: Attribute) -> Attribute:
    """`element`, as a vector if `type` is one: the type of an elementwise result."""
    return VectorType(element, type.get_shape()) if isinstance(type, VectorType) else element


def lanes(type: Attribute) -> tuple[int, ...]:
    """The shape of a vector, `()` for a scalar."""
    return type.get_shape() if isinstance(type, VectorType) else ()


def sort(type: Attribute) -> str:
    """ "integer", "float" or "pointer" for scalars and vectors; any other type as text."""
    match element_type(type):
        case IntegerType():
            return "integer"
        case LLVMPointerType():
            return "pointer"
        case BFloat16Type() | Float16Type() | Float32Type() | Float64Type():
            return "float"
        case other:
            return str(other)


def verify_fastmath(name: str, flags: FastMathAttr | None, result: Attribute | None) -> None:
    """Raise VerifyException if an op without a float result has fast-math flags."""
    if flags is None or not flags.data or (result is not None and sort(result) == "float"):
        return
    raise VerifyException(f"expected '{name}' with fast-math flags to give a float, got {result}")

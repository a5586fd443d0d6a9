"""LLVM types of values, and shared instances of common attributes."""

from __future__ import annotations

from functools import cache
from typing import cast

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, FastMathAttr, LLVMPointerType
from xdsl.ir import Attribute, Operation

from ...dialects import llvm_ext
from ...dialects.dtypes import byte_width
from ...dialects.llvm_ext import CastKind, CastKindAttr
from ...dialects.llvm_ext.types import element_type, lanes, like
from ...dialects.tir.types import BufferType

Properties = dict[str, Attribute]

PTR = LLVMPointerType()
NSW: Properties = {"overflowFlags": IntegerAttr(1, 32)}
PLAIN: Properties = {}
ONE_INDEX = DenseArrayBase.from_list(i32, [GEP_USE_SSA_VAL])
NO_WRAP = IntegerAttr(0, 32)
UNIT = UnitAttr()
RARELY = {llvm_ext.BRANCH_WEIGHTS: DenseArrayBase.from_list(i32, [1, 2000])}
"""The first side of a branch is an error."""

ICMP: tuple[Properties, ...] = tuple({"predicate": IntegerAttr(k, 64)} for k in range(10))
"""Integer comparisons in the order of `arith.cmpi` and `llvm.icmp`, which is the same."""

EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE = ICMP

_LOWERED: dict[Attribute, Attribute] = {}


def lowered(type_: Attribute) -> Attribute:
    """The LLVM type of a value: `index` is i64, a buffer is a pointer, all others stay."""
    found = _LOWERED.get(type_)
    if found is None:
        found = _LOWERED[type_] = _lowered(type_)
    return found


def _lowered(type_: Attribute) -> Attribute:
    if isinstance(type_, BufferType):
        return PTR
    element = element_type(type_)
    return like(type_, i64) if isinstance(element, IndexType) else type_


@cache
def memory_type(element: Attribute) -> Attribute:
    """The type of an element of a buffer in memory: a bool is a byte."""
    if not isinstance(element, IntegerType):
        return element
    return IntegerType(max(integer_width(cast(Attribute, element)), 8))


@cache
def alignment_of(element: Attribute) -> Properties:
    """The alignment that every element of a buffer has."""
    return {"alignment": IntegerAttr(byte_width(element), 64)}


@cache
def vector_of(element: Attribute, count: int) -> VectorType[Attribute]:
    """A vector type."""
    return VectorType(element, [count])


@cache
def mask_like(type_: Attribute) -> Attribute:
    """The type of a comparison of two values of this type."""
    return like(type_, i1)


@cache
def is_small_float(type_: Attribute) -> bool:
    """Whether arithmetic on the type is done in f32 and rounded after each operation."""
    return isinstance(element_type(type_), Float16Type | BFloat16Type)


@cache
def is_bool(type_: Attribute) -> bool:
    """Whether the type is i1 or a vector of i1."""
    return element_type(type_) == i1


@cache
def in_f32(type_: Attribute) -> Attribute:
    """The type in which arithmetic on f16 or bf16 is done."""
    return like(type_, f32)


@cache
def lane_count(type_: Attribute) -> int:
    """Lanes of a vector, 0 for a scalar."""
    shape = lanes(type_)
    return shape[0] if shape else 0


@cache
def integer_width(type_: Attribute) -> int:
    """Bits of an integer, or of a lane of a vector of them."""
    return cast(IntegerType, element_type(type_)).width.data


@cache
def integer_attr(value: int, type_: Attribute) -> IntegerAttr[IntegerType]:
    """A number as a constant of an integer type, wrapped into its range."""
    return IntegerAttr(value, cast(IntegerType, type_), truncate_bits=True)


@cache
def float_attr(value: float, type_: Attribute) -> Attribute:
    """A number as a constant of a float type."""
    return FloatAttr(value, cast("Float16Type", type_))


@cache
def i32_array(*numbers: int) -> DenseArrayBase:
    """Numbers as an array attribute."""
    return DenseArrayBase.from_list(i32, numbers)


@cache
def string(value: str) -> StringAttr:
    """A string attribute."""
    return StringAttr(value)


@cache
def cast_kind(kind: CastKind) -> Properties:
    """The properties of a cast."""
    return {"kind": CastKindAttr(kind)}


@cache
def gep_properties(element: Attribute, inbounds: bool) -> Properties:
    """The properties of address arithmetic with one index, in elements of a type."""
    properties: Properties = {
        "rawConstantIndices": ONE_INDEX,
        "elem_type": element,
        "noWrapFlags": NO_WRAP,
    }
    return properties | {"inbounds": UNIT} if inbounds else properties


_FASTMATH: dict[Attribute | None, Properties] = {}


def fastmath(op: Operation) -> Properties:
    """The fast-math flags of an operation, as properties of an LLVM operation."""
    flags = op.properties.get("fastmath")
    found = _FASTMATH.get(flags)
    if found is None:
        found = _FASTMATH[flags] = _fastmath(flags)
    return found


def _fastmath(flags: Attribute | None) -> Properties:
    if not isinstance(flags, FastMathFlagsAttr) or not flags.data:
        return {}
    return {"fastmathFlags": FastMathAttr(flags.data)}


def native_symbol(name: str) -> str:
    """The native symbol of a function of the module.

    A C identifier has no dot, so a function called "exp" is never mistaken for the C library's.
    """
    return f"xrelax.{name}"

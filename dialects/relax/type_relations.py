"""Relations of graph types: generalization, and the common supertype."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, TypeAttribute

from ..int_expr import IntExpr
from .types import FuncType, ObjectType, PrimType, ShapeType, TensorType, type_symbols


class TypeCheck(IntEnum):
    """How much is known of whether a value of one type is a value of another."""

    FAIL_L0 = 0
    """It never is."""
    FAIL_L1 = 1
    """It may be; its kind, rank or dtype has to be checked when the program runs."""
    FAIL_L2 = 2
    """It may be; its dims have to be checked when the program runs."""
    PASS = 3
    """It always is."""


def says_less(general: Attribute, specific: Attribute) -> bool:
    """Whether `general` is a supertype of `specific`, or equal to it."""
    return check_type(general, specific) is TypeCheck.PASS


def check_type(general: Attribute, specific: Attribute) -> TypeCheck:
    """Whether values of `specific` are values of `general`; of functions, as of their parts."""
    if general == specific or isinstance(general, ObjectType):
        return TypeCheck.PASS
    if isinstance(specific, ObjectType):
        return TypeCheck.FAIL_L1
    match general, specific:
        case TensorType(), TensorType():
            dtype = _check_known(general.dtype, specific.dtype)
            return min(dtype, _check_shape(general, specific))
        case ShapeType(), ShapeType():
            return _check_shape(general, specific)
        case PrimType(), PrimType() if general.element_type == specific.element_type:
            return _check_exprs(general.expr, specific.expr)
        case TupleType(), TupleType():
            return _check_all(general.types.data, specific.types.data)
        case FuncType(), FuncType() if general.impure or not specific.impure:
            parts = [(*f.params.data, f.result) for f in (general, specific)]
            return _check_all(*parts)
        case _:
            return TypeCheck.FAIL_L0


def _check_known(general: object, specific: object) -> TypeCheck:
    if general is None or general == specific:
        return TypeCheck.PASS
    return TypeCheck.FAIL_L1 if specific is None else TypeCheck.FAIL_L0


def _check_shape(general: TensorType | ShapeType, specific: TensorType | ShapeType) -> TypeCheck:
    rank = _check_known(general.rank, specific.rank)
    if rank is not TypeCheck.PASS or general.dims is None:
        return rank
    if specific.dims is None:
        return TypeCheck.FAIL_L2
    return min(map(_check_exprs, general.dims, specific.dims), default=TypeCheck.PASS)


def _check_exprs(general: IntExpr | None, specific: IntExpr | None) -> TypeCheck:
    if general is None or general == specific:
        return TypeCheck.PASS
    if specific is None or (general - specific).constant is None:
        return TypeCheck.FAIL_L2
    return TypeCheck.FAIL_L0


def _check_all(general: Sequence[Attribute], specific: Sequence[Attribute]) -> TypeCheck:
    if len(general) != len(specific):
        return TypeCheck.FAIL_L0
    return min(map(check_type, general, specific), default=TypeCheck.PASS)


def least_supertype(lhs: Attribute, rhs: Attribute) -> Attribute:
    """The most precise supertype of both, `ObjectType` if they are of different kinds."""
    match lhs, rhs:
        case _ if lhs == rhs:
            return lhs
        case (TensorType(), TensorType()) | (ShapeType(), ShapeType()):
            return _least_shape(lhs, rhs)
        case PrimType(), PrimType() if lhs.element_type == rhs.element_type:
            return PrimType.of(lhs.element_type)
        case TupleType(), TupleType() if len(lhs.types.data) == len(rhs.types.data):
            return _tuple(_least_of_each(lhs.types.data, rhs.types.data))
        case FuncType(), FuncType() if len(lhs.params.data) == len(rhs.params.data):
            params = _least_of_each(lhs.params.data, rhs.params.data)
            result = least_supertype(lhs.result, rhs.result)
            return FuncType.of(params, result, bool(lhs.impure or rhs.impure))
        case _:
            return ObjectType()


def _least_of_each(lhs: Sequence[Attribute], rhs: Sequence[Attribute]) -> list[Attribute]:
    return list(map(least_supertype, lhs, rhs))


def _least_shape(lhs: Attribute, rhs: Attribute) -> Attribute:
    assert isinstance(lhs, TensorType | ShapeType) and isinstance(rhs, TensorType | ShapeType)
    dims = lhs.dims if lhs.dims == rhs.dims else None
    rank = lhs.rank if lhs.rank == rhs.rank else None
    if isinstance(lhs, ShapeType) or isinstance(rhs, ShapeType):
        return ShapeType.of(dims, rank)
    element = lhs.known_element if lhs.dtype == rhs.dtype else None
    return TensorType.of(dims, element, rank)


def common_type(lhs: Attribute, rhs: Attribute) -> Attribute | None:
    """The most precise common supertype; `None` if the types are of different kinds."""
    if lhs == rhs:
        return lhs
    match lhs, rhs:
        case TensorType(), TensorType():
            return _least_shape(lhs, rhs)
        case ShapeType(), ShapeType() if lhs.rank == rhs.rank:
            return ShapeType.of(None, lhs.rank)
        case PrimType(), PrimType() if lhs.element_type == rhs.element_type:
            return PrimType.of(lhs.element_type)
        case TupleType(), TupleType() if len(lhs.types.data) == len(rhs.types.data):
            pairs = zip(lhs.types.data, rhs.types.data, strict=True)
            return tuple_of([common_type(a, b) for a, b in pairs])
        case _:
            return None


def tuple_of(fields: Sequence[Attribute | None]) -> TupleType | None:
    """The tuple type of these fields; `None` if one of them is `None`."""
    known = [f for f in fields if f is not None]
    return _tuple(known) if len(known) == len(fields) else None


def forget_symbols(type_: Attribute, known: AbstractSet[str]) -> Attribute:
    """The type without other symbols: shapes and values that use them become unknown."""
    if type_symbols(type_) <= known:
        return type_
    if isinstance(type_, TupleType):
        return _tuple([forget_symbols(f, known) for f in type_.types.data])
    return without_dims(type_)


def without_dims(type_: Attribute) -> Attribute:
    """The type without shapes and values: kinds, ranks and dtypes are kept."""
    match type_:
        case TensorType():
            return TensorType.of(None, type_.known_element, type_.rank)
        case ShapeType():
            return ShapeType.of(None, type_.rank)
        case PrimType():
            return PrimType.of(type_.element_type)
        case TupleType(types=fields):
            return _tuple(list(map(without_dims, fields.data)))
        case FuncType():
            params = list(map(without_dims, type_.params.data))
            return FuncType.of(params, without_dims(type_.result), type_.impure)
        case _:
            return type_


def _tuple(fields: Sequence[Attribute]) -> TupleType:
    return TupleType(ArrayAttr([cast(TypeAttribute, f) for f in fields]))

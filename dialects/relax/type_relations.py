"""Relations of graph types: generalization, and the common supertype."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, TypeAttribute

from .types import ObjectType, PrimType, ShapeType, TensorType, type_symbols


def says_less(general: Attribute, specific: Attribute) -> bool:
    """Whether `general` is a supertype of `specific`, or equal to it."""
    if general == specific or isinstance(general, ObjectType):
        return True
    match general, specific:
        case TensorType(), TensorType():
            return _shape_says_less(general, specific) and general.dtype in (None, specific.dtype)
        case ShapeType(), ShapeType():
            return _shape_says_less(general, specific)
        case PrimType(), PrimType():
            return general.element_type == specific.element_type and general.expr is None
        case TupleType(), TupleType():
            pairs = list(zip(general.types.data, specific.types.data, strict=False))
            same = len(general.types.data) == len(specific.types.data)
            return same and all(says_less(g, s) for g, s in pairs)
        case _:
            return False


def _shape_says_less(general: TensorType | ShapeType, specific: TensorType | ShapeType) -> bool:
    if general.dims is None:
        return general.rank in (None, specific.rank)
    return general.dims == specific.dims


def common_type(lhs: Attribute, rhs: Attribute) -> Attribute | None:
    """The most precise common supertype; `None` if the types are of different kinds."""
    if lhs == rhs:
        return lhs
    match lhs, rhs:
        case TensorType(), TensorType():
            if lhs.dtype != rhs.dtype or lhs.rank != rhs.rank:
                return None
            dims = lhs.dims if lhs.dims == rhs.dims else None
            return TensorType.of(dims, lhs.known_element, lhs.rank)
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
    if any(f is None for f in fields):
        return None
    return TupleType(ArrayAttr([cast(TypeAttribute, f) for f in fields]))


def forget_symbols(type_: Attribute, known: AbstractSet[str]) -> Attribute:
    """The type without other symbols: shapes and values that use them become unknown."""
    if type_symbols(type_) <= known:
        return type_
    match type_:
        case TensorType():
            return TensorType.of(None, type_.known_element, type_.rank)
        case ShapeType():
            return ShapeType.of(None, type_.rank)
        case PrimType():
            return PrimType.of(type_.element_type)
        case TupleType(types=fields):
            forgotten = tuple_of([forget_symbols(f, known) for f in fields.data])
            assert forgotten is not None
            return forgotten
        case _:
            return type_

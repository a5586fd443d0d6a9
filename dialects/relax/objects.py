"""Objects in graph functions: strings, and what registered functions take and return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import StringAttr, TupleType, i64
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.traits import Pure

from ..irdl import IRDLOperation, irdl_op_definition
from .types import ObjectType, PrimType, TensorType


@irdl_op_definition
class StringOp(IRDLOperation):
    """A string, for registered functions: ``%s = relax.str "max" : !relax.object``; ``R.str``."""

    name = "relax.str"
    text = prop_def(StringAttr)
    result = result_def(ObjectType)
    traits = traits_def(Pure())
    assembly_format = "$text attr-dict `:` type($result)"

    def __init__(self, text: str):
        super().__init__(properties={"text": StringAttr(text)}, result_types=[ObjectType()])


def with_handles(type_: Attribute) -> Attribute:
    """The type with a number in the place of each object, its place in the table of a call."""
    match type_:
        case ObjectType():
            return PrimType.of(i64)
        case TupleType(types=fields):
            return TupleType(tuple(cast(TypeAttribute, with_handles(f)) for f in fields.data))
        case _:
            return type_


def is_plain(params: Sequence[Attribute], result: Attribute) -> bool:
    """Whether users pass tensors alone and get a tensor or a flat tuple of tensors."""
    fields: Sequence[Attribute] = result.types.data if isinstance(result, TupleType) else (result,)
    return all(isinstance(t, TensorType) for t in (*params, *fields))

"""Python values and typed literals such as ``T.float32(2)`` as attributes, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr, f64, i1, i64
from xdsl.ir import Attribute

from ..dialects.attributes import from_attribute, to_attribute
from ..dialects.dtypes import dtype_name, element_type, is_float
from .arithmetic import Imm, const


def dictionary(value: Any) -> DictionaryAttr:
    """A dict as an attribute; raises ValueError for anything else."""
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a dict of attributes, got {type(value).__name__}")
    entries = cast("Mapping[Any, Any]", value)
    return DictionaryAttr({str(k): attribute(v) for k, v in entries.items()})


def attribute(value: Any) -> Attribute:
    """A Python value or a typed literal such as ``T.int32(4)`` as an attribute."""
    match value:
        case Mapping():
            return dictionary(value)
        case list() | tuple():
            return ArrayAttr([attribute(v) for v in cast("Sequence[Any]", value)])
        case Imm() if is_float(value.dtype):
            return FloatAttr(float(value.value), cast(Any, element_type(value.dtype)))
        case Imm():
            return IntegerAttr(int(value.value), cast(Any, element_type(value.dtype)))
        case _:
            return to_attribute(value)


def literal(value: Attribute) -> Any:
    """The Python value of an attribute; numbers that are not i64, f64 or bool have their dtype."""
    match value:
        case DictionaryAttr(data=entries):
            return {k: literal(v) for k, v in entries.items()}
        case ArrayAttr():
            return [literal(v) for v in value]
        case IntegerAttr() | FloatAttr() if value.type not in (i1, i64, f64):
            number = cast("IntegerAttr[Any] | FloatAttr[Any]", value)
            return const(number.value.data, dtype_name(number.type))
        case _:
            return from_attribute(value)

"""Python values as attributes and back: function attributes and annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute

PRECISION = "relax.precision"
"""The attribute of a module with the dtype of its contractions; see `to-mixed-precision`."""

RECOMPUTED = "recomputed"
"""The attribute of an operation that is not to be merged with the first computation of its result.

It says nothing of values; see `gradient`.
"""


def to_attribute(value: Any) -> Attribute:
    """A number, string, list, dict or `None` as an attribute; raises ValueError otherwise."""
    match value:
        case Attribute():
            return value
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case list() | tuple():
            return ArrayAttr([to_attribute(v) for v in value])  # pyright: ignore[reportUnknownVariableType]
        case Mapping():
            return DictionaryAttr({str(k): to_attribute(v) for k, v in value.items()})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case None:
            return UnitAttr()
        case _:
            raise ValueError(f"expected a number, string, list or dict, got {type(value).__name__}")


def from_attribute(attribute: Attribute) -> Any:
    """The Python value of an attribute, or the attribute itself if it has none."""
    match attribute:
        case IntegerAttr():
            number = attribute.value.data
            return bool(number) if attribute.type == i1 else number
        case FloatAttr():
            return attribute.value.data
        case UnitAttr():
            return None
        case StringAttr(data=data):
            return data
        case ArrayAttr(data=items):
            return [from_attribute(a) for a in items]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case DictionaryAttr(data=entries):
            return {k: from_attribute(v) for k, v in entries.items()}
        case _:
            return attribute

"""Attributes of functions, loops and blocks, from the Python values that scripts write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from ...dialects.attributes import to_attribute
from ...dialects.dtypes import is_float
from ...te.emit import ssa_type
from ...te.expr import Imm


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
            return FloatAttr(float(value.value), cast(Any, ssa_type(value.dtype)))
        case Imm():
            return IntegerAttr(int(value.value), cast(Any, ssa_type(value.dtype)))
        case _:
            return to_attribute(value)

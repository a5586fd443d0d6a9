"""Python literals for numbers, strings and attributes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute

from ...dialects.dtypes import dtype_name
from ...dialects.relax import DataAttr


def quote(text: str) -> str:
    """A string literal in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def tuple_text(items: Sequence[str]) -> str:
    """``(a, b)``, ``(a,)``, ``()``."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def call_text(function: str, *positional: str, **named: str | None) -> str:
    """``function(a, b, key=c)``; named arguments that are `None` are left out."""
    arguments = [*positional, *(f"{k}={v}" for k, v in named.items() if v is not None)]
    return f"{function}({', '.join(arguments)})"


def shortest(value: float, dtype: str) -> str:
    """The shortest decimal that reads back as the same value of the dtype."""
    if dtype in ("float16", "float32"):
        return repr(float(str(np.dtype(dtype).type(value))))
    return repr(float(value))


def typed_float(value: float, dtype: str) -> str:
    """``T.float32(0)``, ``T.float32(0.1)``, ``T.float32("nan")``; whole numbers as ints."""
    if not math.isfinite(value):
        return f'T.{dtype}("{value}")'
    is_negative_zero = value == 0 and math.copysign(1, value) < 0
    whole = value == int(value) and abs(value) < 1e16 and not is_negative_zero
    return f"T.{dtype}({int(value) if whole else shortest(value, dtype)})"


def typed_int(value: int, dtype: str) -> str:
    """``T.int32(3)``, ``T.uint8(255)``, ``T.bool(True)``, and a bare ``3`` for an index."""
    if dtype == "index":
        return str(value)
    if dtype == "bool":
        return f"T.bool({bool(value)})"
    if dtype.startswith("uint") and value < 0:
        value += 1 << int(dtype.removeprefix("uint"))
    return f"T.{dtype}({value})"


def attribute_text(attribute: Attribute, tensor: Callable[[DataAttr], str] | None = None) -> str:
    """An attribute of a function, loop or block as a Python expression.

    Plain ints are i64, plain floats f64, ``None`` is a unit; other widths say so: ``T.int32(4)``.
    `tensor` gives the text of a tensor.
    Raises ValueError for an attribute that has no such form.
    """
    match attribute:
        case StringAttr(data=text):
            return quote(text)
        case UnitAttr():
            return "None"
        case IntAttr(data=value):
            return str(value)
        case IntegerAttr():
            return _integer_text(cast("IntegerAttr[Any]", attribute))
        case FloatAttr():
            return _float_text(cast("FloatAttr[Any]", attribute))
        case ArrayAttr():
            items = attribute.data
            return f"[{', '.join(attribute_text(a, tensor) for a in items)}]"
        case DenseArrayBase():
            return str(list(cast("DenseArrayBase[Any]", attribute).get_values()))
        case DictionaryAttr(data=entries):
            return dictionary_text(entries, tensor)
        case DataAttr() if tensor is not None:
            return tensor(attribute)
        case _:
            raise ValueError(f"expected an attribute that TVMScript can express, got {attribute}")


def dictionary_text(
    entries: Mapping[str, Attribute], tensor: Callable[[DataAttr], str] | None = None
) -> str:
    """``{"key": value}`` sorted by key; `tensor` as in `attribute_text`."""
    items = (f"{quote(k)}: {attribute_text(v, tensor)}" for k, v in sorted(entries.items()))
    return f"{{{', '.join(items)}}}"


def _integer_text(attribute: IntegerAttr[Any]) -> str:
    value, type_ = attribute.value.data, attribute.type
    if type_ == IntegerType(1):
        return str(bool(value))
    return str(value) if type_ == i64 else typed_int(value, dtype_name(type_))


def _float_text(attribute: FloatAttr[Any]) -> str:
    value, type_ = attribute.value.data, attribute.type
    if type_ == f64 and math.isfinite(value):
        return repr(value)
    return typed_float(value, dtype_name(type_))


def python_text(value: Any) -> str:
    """A value of an operator's attributes: tuples become lists, as TVM prints them."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(python_text(v) for v in cast('Sequence[Any]', value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'T.float64("{value}")'
    return str(value)

"""The text of instruction arguments, in Python and in JSON."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ....dialects.dims import dim_of
from ....dialects.int_expr import PYTHON_SPELLING, IntExpr, render
from ..index_map import IndexMap
from .random_variables import RandomVariable
from .sampled import has_sampled, named, unnamed


class Code(str):
    """Python source that a trace prints unquoted, such as a lambda."""


Names = Mapping[RandomVariable, str]


def python_text(value: Any, names: Names) -> str:
    """An argument as a Python expression over the variables in `names`."""
    match value:
        case RandomVariable():
            return names.get(value, "_")
        case Code():
            return str(value)
        case str():
            return json.dumps(value)
        case IntExpr() if has_sampled(value):
            return _expression_text(named(value, names))
        case IntExpr():
            text = _expression_text(value)
            return text if value.is_constant else json.dumps(text)
        case IndexMap():
            return str(named(value, names))
        case list() | tuple():
            items = cast("Sequence[Any]", value)
            return f"[{', '.join(python_text(v, names) for v in items)}]"
        case Mapping():
            entries = cast("Mapping[str, Any]", value).items()
            return (
                f"{{{', '.join(f'{json.dumps(k)}: {python_text(v, names)}' for k, v in entries)}}}"
            )
        case _:
            return repr(_plain(value))


def to_json(value: Any, names: Names) -> Any:
    """An argument as JSON; strings have additional double quotes.

    A string without these is the name of a variable.
    """
    match value:
        case RandomVariable():
            return names.get(value, "_")
        case Code():
            return {"code": str(value)}
        case str():
            return json.dumps(value)
        case IntExpr() if has_sampled(value):
            return {"number": _expression_text(named(value, names))}
        case IntExpr():
            return {"expr": _expression_text(value)}
        case IndexMap():
            return {"map": str(named(value, names))}
        case list() | tuple():
            return [to_json(v, names) for v in cast("Sequence[Any]", value)]
        case Mapping():
            entries = cast("Mapping[str, Any]", value).items()
            return {"dict": {k: to_json(v, names) for k, v in entries}}
        case _:
            return _plain(value)


def from_json(
    value: Any, variables: Mapping[str, RandomVariable], is_attribute: bool = False
) -> Any:
    """Parse the result of `to_json`.

    An attribute that names no variable is a string without double quotes, as TVM writes it.
    """
    match value:
        case str():
            if value.startswith('"'):
                return json.loads(value)
            return variables.get(value, value) if is_attribute else variables[value]
        case list():
            return [from_json(v, variables, is_attribute) for v in cast("list[Any]", value)]
        case {"code": code}:
            return Code(code)
        case {"expr": text}:
            return dim_of(text)
        case {"number": text}:
            return unnamed(dim_of(text), variables)
        case {"map": text}:
            return unnamed(IndexMap.of_text(text), variables)
        case {"dict": entries}:
            return {k: from_json(v, variables, is_attribute) for k, v in entries.items()}
        case _:
            return value


def _plain(value: Any) -> Any:
    """A number of NumPy or an expression as a Python number; `None` and booleans unchanged."""
    value = getattr(value, "value", value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if hasattr(value, "__index__"):
        return operator.index(value)
    if isinstance(inner := getattr(value, "expr", None), IntExpr):
        return _expression_text(inner)
    raise TypeError(f"expected an argument that a trace can hold, got {type(value).__name__}")


def _expression_text(expr: IntExpr) -> str:
    return render(expr, spelling=PYTHON_SPELLING)

"""`tvm.runtime.convert`: Python values as the values that packed functions take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def convert(value: Any) -> Any:
    """A list as a tuple and a mapping as a dict, with their parts; other values as they are.

    TVM's ``runtime.convert``.
    """
    match value:
        case list() | tuple():
            return tuple(convert(part) for part in cast("tuple[Any, ...]", value))
        case Mapping():
            return {key: convert(part) for key, part in cast("Mapping[Any, Any]", value).items()}
        case _:
            return value

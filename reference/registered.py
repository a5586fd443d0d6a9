"""Calls of registered functions on arrays, from graphs, plans and kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from numpy.typing import NDArray

from .arguments import GraphValue, Shape
from .memory import Buffer
from .values import EvaluationError, Precision

Registry: TypeAlias = Mapping[str, Callable[..., Any]]
"""Python functions by name: they get arrays and write the last ones in place."""


def call_registered(
    registry: Registry,
    precision: Precision,
    name: str,
    args: Sequence[GraphValue | str],
    written: Sequence[Buffer],
) -> Any:
    """Call a registered function on arrays of the user's kind; raises EvaluationError."""
    if name not in registry:
        raise EvaluationError(
            f"expected '{name}' to be a PrimFunc of the module or a registered function, "
            "got neither"
        )
    passed: list[tuple[Buffer, NDArray[Any]]] = []

    def native(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(native, cast("tuple[Any, ...]", value)))
        if isinstance(value, Shape):
            return value.dims
        if not isinstance(value, Buffer):
            return value
        if not any(value is w for w in written):
            value.verify_written()
        array = precision.native(value.dtype, value.array)
        passed.append((value, array))
        return array

    result = registry[name](*map(native, args))
    for buffer, array in passed:
        if array is not buffer.array and any(buffer is w for w in written):
            buffer.array[...] = precision.widen(buffer.dtype, array)
    for buffer in written:
        set_written(buffer)
    return result


def object_of(value: Any) -> Any:
    """What a registered function returns as an object: a tuple of integers is a shape."""
    if not isinstance(value, tuple):
        return value
    dims = cast("tuple[Any, ...]", value)
    return Shape(dims) if all(type(d) is int for d in dims) else dims


def set_written(buffer: Buffer) -> None:
    """Record that every element has been stored to."""
    if buffer.written is not None:
        buffer.written[...] = True

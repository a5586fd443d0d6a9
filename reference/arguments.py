"""Arguments of a call, tensors and other values of the graph: checks, and the symbols they give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ..dialects.int_expr import IntExpr, Sym
from ..dialects.relax.prim_values import is_open
from ..dialects.relax.types import PrimType, ShapeType, TensorType
from .expressions import number
from .memory import Buffer
from .values import Array, EvaluationError


class Extents(Protocol):
    """What has a shape: an array, or a shape itself."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def ndim(self) -> int: ...


@dataclass(frozen=True)
class Expected:
    """What a parameter is declared to be; `dims` and `dtype` are `None` where they are unknown."""

    name: str
    dims: tuple[IntExpr, ...] | None
    dtype: str | None
    rank: int | None = None


def bind_symbols(
    expected: Sequence[Expected], arrays: Sequence[Extents], symbols: dict[str, int]
) -> None:
    """Add the symbols that are whole dims, then check every dim; raises EvaluationError."""
    for wanted, array in zip(expected, arrays, strict=True):
        _check_rank(wanted, array)
        for dim, size in zip(wanted.dims or (), array.shape, strict=False):
            if isinstance(atom := dim.as_atom, Sym):
                symbols.setdefault(atom.name, size)
    for wanted, array in zip(expected, arrays, strict=True):
        _check_dims(wanted, array, symbols)


def _check_rank(wanted: Expected, array: Extents) -> None:
    rank = wanted.rank if wanted.dims is None else len(wanted.dims)
    if rank is not None and array.ndim != rank:
        raise EvaluationError(
            f"expected argument '{wanted.name}' to have rank {rank}, got {array.ndim}"
        )


def _check_dims(wanted: Expected, array: Extents, symbols: Mapping[str, int]) -> None:
    if wanted.dims is None:
        return
    shape = tuple(number(d, symbols) for d in wanted.dims)
    if shape != array.shape:
        raise EvaluationError(
            f"expected argument '{wanted.name}' to have shape {shape}, got {array.shape}"
        )


GraphValue: TypeAlias = "Buffer | Shape | int | tuple[GraphValue, ...] | Any"
"""A tensor, a shape, a number, a tuple, or whatever object a registered function returned."""


@dataclass(frozen=True)
class Shape:
    """A shape as a value."""

    dims: tuple[int, ...]


@dataclass(frozen=True)
class _Extents:
    """Numbers that symbols are bound by, as the shape of an array binds them."""

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)


def flatten(value: GraphValue) -> list[Any]:
    """The values of a tuple that are no tuples, in order."""
    return (
        [leaf for v in cast("tuple[Any, ...]", value) for leaf in flatten(v)]
        if isinstance(value, tuple)
        else [value]
    )


def as_result(value: GraphValue) -> Any:
    """A result as callers get it: a shape is an array of its dims, a number an array of rank 0."""
    if isinstance(value, Shape):
        return Buffer(np.array(value.dims, np.int64), "int64", "a shape")
    if isinstance(value, int):
        return Buffer(np.array(value, np.int64), "int64", "a number")
    return value


def bind_values(
    names: Sequence[str],
    types: Sequence[Attribute],
    values: Sequence[GraphValue],
    symbols: dict[str, int],
) -> None:
    """Check values against types, and add the symbols that they determine.

    Raises EvaluationError for another kind, dtype or shape.
    """
    expected: list[Expected] = []
    given: list[Any] = []
    for name, type_, value in zip(names, types, values, strict=True):
        for wanted, leaf in _pairs(name, type_, value):
            expected.append(wanted)
            given.append(leaf)
    bind_symbols(expected, given, symbols)


def _pairs(
    name: str, type_: Attribute, value: GraphValue
) -> Iterator[tuple[Expected, Array | _Extents]]:
    match type_:
        case TensorType() if isinstance(value, Buffer):
            if type_.dtype is not None and value.dtype != type_.dtype:
                raise EvaluationError(
                    f"expected argument '{name}' to have dtype {type_.dtype}, got {value.dtype}"
                )
            yield Expected(name, type_.dims, type_.dtype, type_.rank), value.array
        case ShapeType() if isinstance(value, Shape):
            yield Expected(name, type_.dims, None, type_.rank), _Extents(value.dims)
        case PrimType() if isinstance(value, int):
            dims = None if type_.expr is None else (type_.expr,)
            yield Expected(name, dims, None, 1), _Extents((value,))
        case PrimType() if is_open(type_) and isinstance(value, Buffer):
            return
        case TupleType(types=fields) if _has_fields(value, len(fields.data)):
            for field, item in zip(fields.data, cast("tuple[Any, ...]", value), strict=True):
                yield from _pairs(name, field, item)
        case TensorType() | ShapeType() | PrimType() | TupleType():
            kind = type(cast(object, value)).__name__
            raise EvaluationError(f"expected argument '{name}' to be {type_}, got {kind}")
        case _:
            return


def _has_fields(value: GraphValue, count: int) -> bool:
    return isinstance(value, tuple) and len(cast("tuple[Any, ...]", value)) == count

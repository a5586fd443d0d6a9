"""Arguments of a call: shape checks, and the values of symbols that follow from shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..dialects.int_expr import IntExpr, Sym
from .expressions import number
from .values import EvaluationError


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

"""Buffers as a script sees them, and boxes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ...dialects.tir import BufferType
from ...te.arithmetic import index_value
from ...te.expr import PrimExpr


@dataclass(eq=False)
class Buffer:
    """A buffer that the script has declared."""

    name: str
    ssa: SSAValue

    @property
    def type(self) -> BufferType:
        """The buffer's type."""
        assert isinstance(self.ssa.type, BufferType)
        return self.ssa.type

    @property
    def shape(self) -> tuple[Any, ...]:
        """The dims as the script sees them."""
        return tuple(index_value(d) for d in self.type.dims)

    @property
    def strides(self) -> tuple[Any, ...]:
        """The distance in elements between neighbours along each dim."""
        return tuple(index_value(d) for d in self.type.element_strides())

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.type.dtype


@dataclass(frozen=True)
class BufferSlice:
    """``X[a:b, c]``: for each dim its first index and its extent (`None` for a single index)."""

    buffer: Buffer
    ranges: tuple[tuple[PrimExpr, PrimExpr | None], ...]


@dataclass(frozen=True)
class DataPointer:
    """``X.data``: the memory of a buffer, as external functions take it."""

    buffer: Buffer

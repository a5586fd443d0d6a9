"""Boxes of buffers, as blocks declare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..dialects.int_expr import IntExpr
from ..te.arithmetic import index_value
from ..te.nodes import below
from ..te.ranges import Range
from .buffers import Buffer


@dataclass(frozen=True)
class BufferRegion:
    """A box of a buffer: a range of each dim; TVM's ``tir.BufferRegion``."""

    buffer: Buffer
    region: Sequence[Range]

    def __post_init__(self) -> None:
        object.__setattr__(self, "region", tuple(self.region))

    def __str__(self) -> str:
        ranges = (f"{r.min}:{r.min + r.extent}" for r in self.region)
        return f"{self.buffer.name}[{', '.join(ranges)}]"

    def script(self, *, verbose_expr: bool = False) -> str:
        """The box as TVMScript; with `verbose_expr` below lines that declare the buffer."""
        return below(self.buffer.declared() if verbose_expr else (), str(self))


@dataclass(frozen=True)
class MatchBufferRegion:
    """A buffer that is a view of a box of another one; TVM's ``tir.MatchBufferRegion``."""

    buffer: Buffer
    source: BufferRegion


def region_of(
    buffer: SSAValue, mins: Sequence[IntExpr], extents: Sequence[IntExpr]
) -> BufferRegion:
    """The box of a value that begins at some indices."""
    pairs = zip(mins, extents, strict=True)
    ranges = (Range.from_min_extent(index_value(low), index_value(size)) for low, size in pairs)
    return BufferRegion(Buffer(buffer), tuple(ranges))

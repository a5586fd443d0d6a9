"""Compact scratch buffers to the elements that are live at a time."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....backend.target import Target
from ....dialects import tir
from ....dialects.nesting import enclosing, operations_in
from ..blocks import uses_of
from ..primitives.schedule import Schedule


def compact_buffers(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Compact the scratch buffers of a function."""
    for alloc in [op for op in operations_in(func) if isinstance(op, tir.AllocBufferOp)]:
        compact(sch, alloc)


def compact(sch: Schedule, alloc: tir.AllocBufferOp) -> bool:
    """Compact a scratch buffer; whether it applied. It is refused if iterations share elements."""
    for store in uses_of(alloc.result).stores:
        block = enclosing(store, tir.BlockOp)
        if block is not None and alloc.result in block.write_buffers:
            position = list(block.write_buffers).index(alloc.result)
            return sch.applies(sch.compact_buffer, sch.rv(block), position)
    return False


def compact_scratch(sch: Schedule, buffer: SSAValue) -> None:
    """Compact a buffer if it is scratch memory."""
    if isinstance(buffer.owner, tir.AllocBufferOp):
        compact(sch, buffer.owner)

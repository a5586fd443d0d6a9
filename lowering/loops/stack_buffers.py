"""Which scratch buffers of a kernel live on the stack; the others are lifted to a workspace of the caller."""

from __future__ import annotations

from typing import cast

from ...dialects import tir

STACK_BYTES = 16 * 1024
"""What the scratch buffers of one function may take of the stack, in total."""


def stack_buffers(func: tir.PrimFuncOp) -> set[tir.AllocBufferOp]:
    """The allocations that fit on the stack: of constant size, the first ones up to `STACK_BYTES`."""
    chosen: set[tir.AllocBufferOp] = set()
    used = 0
    for op in func.walk():
        if not isinstance(op, tir.AllocBufferOp):
            continue
        size = cast(tir.BufferType, op.result.type).size_in_bytes().constant
        if size is not None and used + size <= STACK_BYTES:
            used += size
            chosen.add(op)
    return chosen

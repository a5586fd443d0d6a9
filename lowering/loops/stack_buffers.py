"""Which scratch buffers of a kernel live on the stack; others are lifted to a workspace."""

from __future__ import annotations

from ...dialects import tir

STACK_BYTES = 16 * 1024
"""The maximum total size of one function's scratch buffers on the stack."""


def stack_buffers(func: tir.PrimFuncOp) -> set[tir.AllocBufferOp]:
    """The allocations of constant size that fit on the stack, earlier ones first."""
    chosen: set[tir.AllocBufferOp] = set()
    used = 0
    for op in func.walk():
        if not isinstance(op, tir.AllocBufferOp):
            continue
        size = op.result.type.known_bytes
        if size is not None and used + size <= STACK_BYTES:
            used += size
            chosen.add(op)
    return chosen

"""Nontemporal stores for results that are larger than the caches.

::

    for i, j: block Y: Y[i, j] = …     ⇒     block Y annotations {nontemporal = 1}

A store to a line that is in no cache reads the line first, which is profitable if the line is used
again before it is evicted. A result of half the last cache or more would evict the operands, if
both do not fit. Nontemporal stores keep the operands, and read no line.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE
from ....dialects.nesting import operations_in
from ...analysis.block_accesses import has_reuse
from ...analysis.strides import Strides
from ...sizes import known_bytes
from ..blocks import blocks_in, loops_around
from ..primitives.schedule import Schedule


def stream_results(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Annotate blocks that write, in order, results that do not fit the caches with operands."""
    last = target.caches.l3
    if target.isa.nontemporal is None or sum(map(_bytes, func.params)) < last:
        return
    large = {p for p in func.params if 2 * _bytes(p) >= last}
    blocks = blocks_in(func)
    if not large or any(has_reuse(block) for block in blocks):
        return
    read = {op.buffer for op in operations_in(func) if isinstance(op, tir.LoadOp)}
    for block in blocks:
        if set(block.write_buffers) <= large - read and _is_in_order(block):
            if sch.decide(f"{block.block_name.data}.nontemporal", 1, lambda: (0, 1)):
                sch.annotate(sch.rv(block), tir.NONTEMPORAL, True)


def _bytes(param: SSAValue) -> int:
    """The size of a buffer in bytes; 0 if it is symbolic."""
    return known_bytes([param]) or 0


def _is_in_order(block: tir.BlockOp) -> bool:
    """Whether a block writes each element once, in the order of memory, by vector stores."""
    if block.init is not None or set(block.axis_kinds) - {"spatial"}:
        return False
    strides, loops = Strides(block), loops_around(block)
    if not loops or loops[-1].kind.data != "vectorized":
        return False
    for store in strides.stores:
        steps = [strides.step(store, loop.loop_var) for loop in loops if loop.extent.data != ONE]
        numbers = [0 if step is None else step.constant or 0 for step in steps]
        if numbers[-1:] != [1] or min(numbers) < 1 or numbers != sorted(numbers, reverse=True):
            return False
    return bool(strides.stores)

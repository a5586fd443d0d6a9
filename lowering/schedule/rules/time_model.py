"""How long loops take, about: what decides which of them are worth threads.

What a loop does or what it moves counts, whichever takes longer.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.sym import Values
from ....dialects.tir.regions import infer_regions

OPERATION, LANE = 12, 4
"""Picoseconds of an operation, and of one in a lane of a vector."""
WORD, BYTE = 40, 10
"""Picoseconds of an access at most, and of each byte that a loop touches, as it comes from a cache
that processors share: copies take longer than their operations."""


def is_small(loop: tir.ForOp, least: int) -> bool:
    """Whether a loop takes no longer than `least`; what it does or what it moves, the longer."""
    cost = cost_of(loop)
    if cost is None or cost > least:
        return False
    most = cost // LANE * WORD
    return most <= least or min(most, _bytes_touched(loop) * BYTE) <= least


def _bytes_touched(loop: tir.ForOp) -> int:
    """Bytes of the parts that a loop reads and writes of buffers from outside of it."""
    assert loop.parent is not None
    reads, writes = infer_regions(loop.parent, Values(), [loop])
    total = 0
    for region in (*reads, *writes):
        type_ = region.buffer.type
        assert isinstance(type_, tir.BufferType)
        size = prod(extent.constant or 0 for extent in region.extents)
        total += size * byte_width(type_.element_type)
    return total


def cost_of(op: Operation) -> int | None:
    """Picoseconds that an operation takes, about; `None` where extents are not constant."""
    if not isinstance(op, tir.ForOp):
        return cost_inside(op) if op.regions else OPERATION
    trips, body = op.extent.data.constant, cost_inside(op)
    if trips is None or body is None:
        return None
    is_vector = op.kind.data == "vectorized"
    return trips * body * LANE // OPERATION if is_vector else trips * body


def cost_inside(op: Operation) -> int | None:
    """The same of what an operation holds, each once."""
    total = 0
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                cost = cost_of(inner)
                if cost is None:
                    return None
                total += cost
    return total

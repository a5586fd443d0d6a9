"""Compute several rows of a normalization or a softmax at a time.

::

    for i, k: M[i] = max(M[i], X[i, k])           for i0:
    for i, j: E[i, j] = exp(X[i, j] - M[i])         for i1 in 8 unrolled: for k: M[…] = max(…)
    …                                        ⇒      for i1 in 8 unrolled: for j: E[…] = exp(…)
    for i, j: Y[i, j] = E[i, j] / S[i]              …
                                                    for i1 in 8 unrolled: for j: Y[…] = …

A stage of a row waits for the horizontal reduction of the stage before; the processor computes
other rows meanwhile. The rows of a group should stay in the first cache. Long rows hide this
latency themselves. The loop over rows is unrolled if a row has few vectors.
"""

from __future__ import annotations

from math import prod

from ....backend.target import Target
from ....dialects import tir
from ..blocks import loops_between, nest_loops, statements
from ..conditions import choices_of
from ..primitives.schedule import Schedule
from .lanes import choose_lanes
from .merge import movable_block
from .parallelize import LEAST_TRIP_COUNT
from .row_reductions import element_bytes, row_position
from .whole_reductions import moves_whole

GROUPS = (8, 4, 2)
"""Rows in a group, the first of which that suits is taken."""

LARGEST = 16
"""The most rows in a group that a search tries."""

SHORT = 4
"""The most vectors in a row for which the rows of a group are unrolled by default."""

FORMS = UNROLLED, SERIAL, INSIDE = "unrolled", "serial", "inside"
"""The loop over the rows of a group around the vectors of a row, or unrolled inside of them."""

CACHE_SHARE = 4
"""The part of the first cache, as a divisor, that the rows of a group may take."""


def group_rows(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Nest the stages of a kernel of row reductions in a loop over groups of rows."""
    blocks = _stages(func)
    reduction = next((b for b in blocks if b.init is not None), None)
    row = None if reduction is None else _row_loop(blocks[0], reduction, target)
    if reduction is None or row is None:
        return
    if not all(row_position(b, target) is not None for b in blocks if b.init is not None):
        return
    inner = nest_loops(reduction)[nest_loops(blocks[0]).index(row) + 1 :]
    size = _decide_rows(sch, reduction, row, inner, target)
    if size == 1:
        return
    group, _ = sch.split(sch.rv(row), [None, size])
    for block in blocks[1:]:
        if not moves_whole(sch, block, sch.loop(group)):
            return  # what is left is fused by the rules that follow
    for block in blocks:
        _schedule_rows(sch, block, sch.loop(group), size, target)


def _stages(func: tir.PrimFuncOp) -> list[tir.BlockOp]:
    """The blocks of two or more plain nests; none if a statement is something else."""
    nests = [op for op in statements(func).ops if not isinstance(op, tir.AllocBufferOp)]
    blocks = [block for op in nests if (block := movable_block(op)) is not None]
    if len(blocks) < max(len(nests), 2) or any(choices_of(block) for block in blocks):
        return []
    return blocks


def _row_loop(first: tir.BlockOp, reduction: tir.BlockOp, target: Target) -> tir.ForOp | None:
    """The loop of the first block over the rows of a reduction."""
    position = row_position(reduction, target)
    if position is None:
        return None
    rows, loops = (nest_loops(block)[: position + 1] for block in (reduction, first))
    if [op.extent.data for op in rows] != [op.extent.data for op in loops]:
        return None
    return loops[position]


def _decide_rows(
    sch: Schedule, reduction: tir.BlockOp, row: tir.ForOp, inner: list[tir.ForOp], target: Target
) -> int:
    """The rows in a group: as many as stay in the cache, of enough groups for the threads.

    `inner` are the loops over the elements of a row.
    """
    if (count := row.extent.data.constant) is None:
        return 1
    extents = [op.extent.data.constant for op in inner]
    elements, size = prod(e or 0 for e in extents), element_bytes(reduction)
    room = target.caches.l1 // CACHE_SHARE
    fitting = [n for n in GROUPS if count % n == 0 and count // n >= LEAST_TRIP_COUNT]
    default = next((n for n in fitting if n * elements * size <= room), 1)
    if elements < target.lanes(8 * size):
        default = 1
    sizes = [n for n in range(1, LARGEST + 1) if count % n == 0]
    return sch.decide(f"{reduction.block_name.data}.group", default, lambda: sizes)


def _is_short(lanes: tir.ForOp, block: tir.BlockOp, target: Target) -> bool:
    """Whether a row has a few vectors: those of several rows are then straight-line code."""
    count = lanes.extent.data.constant
    return count is not None and count <= SHORT * target.lanes(8 * element_bytes(block))


def _schedule_rows(
    sch: Schedule, block: tir.BlockOp, group: tir.ForOp, size: int, target: Target
) -> None:
    """Vectorize a stage, with its rows around the vectors or in them.

    What has one element in a row is scalar, since it is computed of scalars.
    """
    lanes, loops = choose_lanes(block, target), loops_between(block, group)
    if not loops or loops[0].extent.data.constant != size:
        return
    row, form = loops[0], UNROLLED
    if lanes is not None and lanes.loop is not row:
        loop, others = lanes.loop, [op for op in loops[1:] if op is not lanes.loop]
        inner = [loop, *others] if block.init is not None else [*others, loop]
        form = UNROLLED if _is_short(loop, block, target) else SERIAL
        form = sch.decide(f"{block.block_name.data}.rows", form, lambda: FORMS)
        order = [*inner, row] if form == INSIDE else [row, *inner]
        if order != loops and not sch.applies(sch.reorder, *map(sch.rv, order)):
            return
        sch.vectorize(sch.rv(loop))
    if form != SERIAL:
        sch.unroll(sch.rv(row))

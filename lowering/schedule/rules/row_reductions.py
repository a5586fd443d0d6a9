"""Reductions along contiguous memory: tile rows, split long ones, vectorize arg-reductions.

::

    for i, k: Y[i] += X[i, k]        ⇒      for i0, k: for i1 in 4: Y[i0 * 4 + i1] += …

    for k, j: Y[] += X[k, j]         ⇒      for k, j: P[k] += X[k, j]
                                            for k: Y[] += P[k]

Rows are tiled if they come from memory: each row is a stream of its own for the hardware
prefetcher, which stops at page boundaries. From the caches, one row is as fast. Reductions of
several results, such as argmax, keep results for each lane; a loop combines them at the end.
"""

from __future__ import annotations

from math import prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE
from ....dialects.nesting import operations_in
from ...analysis.block_accesses import has_reuse
from ...analysis.strides import Strides
from ...equal_parts import largest_divisor
from ..blocks import ScheduleError, blocks_in, iterator_kinds, nest_loops
from ..primitives.schedule import Schedule
from ..reducer import reducer_of
from .lanes import choose_lanes

ROWS = (4, 3, 2)
"""Factors of the loop over rows, the first of which that divides it is taken."""

ACCUMULATORS = 8
"""Vector registers for each row: accumulators, and loads in flight."""

VECTORS = 2
"""Vectors of results that an arg-reduction keeps."""

SHORT = 4
"""The least vectors of elements for which a vectorized arg-reduction is profitable."""

PART = 1 << 14
"""Elements of a partial sum: longer sums lose accuracy."""


def split_long_reductions(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Split long reductions into partial ones that fit the cache and keep accuracy."""
    for block in blocks_in(func):
        partial = block
        while (made := _split_once(sch, partial, target)) is not None:
            partial = made
        if partial is not block:
            _tile(sch, partial, target)


def _split_once(sch: Schedule, block: tir.BlockOp, target: Target) -> tir.BlockOp | None:
    """Factor one loop out of a reduction; returns the block of partial results, if that is "
    "profitable."""
    if block.init is None or has_reuse(block):
        return None
    lanes = choose_lanes(block, target)
    if lanes is None or iterator_kinds(lanes.loop, block) != {"reduce"}:
        return None
    loops = [op for op in nest_loops(block) if iterator_kinds(op, block) == {"reduce"}]
    extents = [op.extent.data.constant or PART for op in loops]
    outer = loops[0]
    if not _is_in_any_order(block):
        return None
    if len(loops) == 1:
        part = _part(outer)
        parts = None if part is None else sch.try_(sch.split, sch.rv(outer), [None, part])
        partial = None if parts is None else sch.try_(sch.rfactor, parts[0])
    elif outer is lanes.loop or prod(extents) * element_bytes(block) <= target.caches.l1:
        return None
    else:
        partial = sch.try_(sch.rfactor, sch.rv(outer))
    return None if partial is None else sch.block(partial)


def _is_in_any_order(block: tir.BlockOp) -> bool:
    try:
        return reducer_of(block).is_in_any_order()
    except ScheduleError:
        return False


def _part(loop: tir.ForOp) -> int | None:
    """The size of equal parts of a long loop; `None` if it is short or has no such divisor."""
    count = loop.extent.data.constant
    if count is None or count < 2 * PART:
        return None
    return largest_divisor(count, PART, above=PART // 16)


def element_bytes(block: tir.BlockOp) -> int:
    """The size of the widest elements that a block loads."""
    loads = [op for op in operations_in(block) if isinstance(op, tir.LoadOp)]
    return max(byte_width(op.result.type) for op in loads)


def tile_rows(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile row reductions larger than the last-level cache over several rows."""
    blocks = blocks_in(func)
    if len(blocks) == 1:
        _tile(sch, blocks[0], target)


def _tile(sch: Schedule, block: tir.BlockOp, target: Target) -> None:
    if block.init is None or has_reuse(block):
        return
    loops = nest_loops(block)
    row = row_position(block, target)
    if row is None or (count := loops[row].extent.data.constant) is None:
        return
    most = target.vector_registers // ACCUMULATORS
    fitting = [f for f in (*ROWS, 1) if f <= most and count % f == 0]
    elements = prod(op.extent.data.constant or 0 for op in loops)
    is_far = elements * element_bytes(block) > target.caches.l3
    default = fitting[0] if is_far else 1
    rows = sch.decide(f"{block.block_name.data}.rows", default, lambda: fitting)
    if rows > 1:
        outer, inner = sch.split(sch.rv(loops[row]), [None, rows])
        sch.reorder(outer, *map(sch.rv, loops[row + 1 :]), inner)


def row_position(block: tir.BlockOp, target: Target) -> int | None:
    """The position of the last spatial loop, if these come first and a reduction is vectorized."""
    lanes = choose_lanes(block, target)
    if lanes is None or iterator_kinds(lanes.loop, block) != {"reduce"}:
        return None
    kinds = [iterator_kinds(op, block) for op in nest_loops(block)]
    spatial = [kind == {"spatial"} for kind in kinds]
    count = sum(spatial)
    return count - 1 if count and all(spatial[:count]) else None


def vectorize_arg_reductions(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Vectorize reductions of several results, such as argmax.

    Each lane has results of its own, which a loop combines at the end.
    """
    for block in blocks_in(func):
        if block.init is None or block.predicates.data or len(block.write_buffers) < 2:
            continue
        strides = Strides(block)
        loops = [op for op in nest_loops(block) if iterator_kinds(op, block) == {"reduce"}]
        contiguous = [op for op in loops if ONE in strides.load_steps(op.loop_var)]
        if not contiguous:
            continue
        loop, bits = contiguous[-1], max(8 * byte_width(s.value.type) for s in strides.stores)
        name, extent = block.block_name.data, loop.extent.data.constant
        lanes = target.lanes(bits) * sch.decide(f"{name}.vectors", VECTORS, lambda: (1, 2, 4))
        if extent is None or extent < SHORT * lanes or not _is_in_any_order(block):
            continue
        whole = sch.rv(loop)
        if extent % lanes:
            parts = sch.try_(sch.loop_partition, whole, [extent // lanes * lanes, None])
            if parts is None:
                continue
            whole = parts[0]
        made = sch.try_(sch.split, whole, [None, lanes])
        partial = None if made is None else sch.try_(sch.rfactor, made[1], -1)
        if made is None or partial is None:
            continue
        nest = sch.block(partial)
        steps = [sch.rv(op) for op in nest_loops(nest) if iterator_kinds(op, nest) == {"reduce"}]
        sch.reorder(*steps, made[1])
        start = sch.decompose_reduction(partial, steps[0])
        for nest in (start, partial):
            sch.vectorize(sch.get_loops(nest)[-1])

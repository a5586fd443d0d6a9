"""Reductions along contiguous memory: several rows at once, long ones in parts, choices in lanes.

::

    for i, k: Y[i] += X[i, k]        ⇒      for i0, k: for i1 in 4: Y[i0 * 4 + i1] += …

    for k, j: Y[] += X[k, j]         ⇒      for k, j: P[k] += X[k, j]
                                            for k: Y[] += P[k]

Several rows are read at the same time where they come from memory: each is a stream of its own for
the memory system, which does not look beyond a page. The caches keep up with one row. What is read
again is still in the first cache then. Reductions of several results at once, as of the largest
value and its place, get results for each lane, among which a loop chooses at the end.
"""

from __future__ import annotations

from math import prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE
from ....dialects.nesting import operations_in
from ..blocks import ScheduleError, blocks_in
from ..loops import partition, reorder, set_kind, split
from ..merge import has_reuse
from ..reducer import reducer_of
from ..reduction import decompose_reduction
from ..rfactor import rfactor
from .lanes import choose_lanes
from .strides import Strides, drives, own_loops

ROWS = (4, 3, 2)
"""How many rows are read at once, if that divides their number."""

ACCUMULATORS = 8
"""Registers for each row: partial results, and what is on the way to them."""

SHORT = 4
"""Vectors of values from which on choosing in lanes, and among lanes at the end, is worth it."""

PART = 1 << 14
"""Elements that are summed up in one go: sums of more lose digits."""


def split_long_reductions(func: tir.PrimFuncOp, target: Target) -> None:
    """Compute reductions in parts that fit the cache and do not lose digits, then combine these."""
    for block in blocks_in(func):
        partial = block
        while (made := _split_once(partial, target)) is not None:
            partial = made
        if partial is not block:
            _tile(partial, target)


def _split_once(block: tir.BlockOp, target: Target) -> tir.BlockOp | None:
    """Split off one loop of a block; returns the block of the partial results, if it pays."""
    if block.init is None or has_reuse(block):
        return None
    lanes = choose_lanes(block, target)
    if lanes is None or drives(lanes.loop, block) != {"reduce"}:
        return None
    loops = [op for op in own_loops(block) if drives(op, block) == {"reduce"}]
    extents = [op.extent.data.constant or PART for op in loops]
    outer = loops[0]
    try:
        if not reducer_of(block).is_in_any_order():
            return None
        if len(loops) == 1:
            part = _part(outer)
            return None if part is None else rfactor(split(outer, [None, part])[0])
        if outer is lanes.loop or prod(extents) * _element_bytes(block) <= target.caches.l1:
            return None
        return rfactor(outer)
    except ScheduleError:
        return None


def _part(loop: tir.ForOp) -> int | None:
    """How many iterations of a long loop are one part, of which all have the same number."""
    count = loop.extent.data.constant
    if count is None or count < 2 * PART:
        return None
    return next((n for n in range(PART, PART // 16, -1) if count % n == 0), None)


def _element_bytes(block: tir.BlockOp) -> int:
    loads = [op for op in operations_in(block) if isinstance(op, tir.LoadOp)]
    return max(byte_width(op.result.type) for op in loads)


def tile_rows(func: tir.PrimFuncOp, target: Target) -> None:
    """Let the reduction of the rows of more than the last cache run over several rows at once."""
    blocks = blocks_in(func)
    if len(blocks) == 1:
        _tile(blocks[0], target)


def _tile(block: tir.BlockOp, target: Target) -> None:
    if block.init is None or has_reuse(block):
        return
    loops = own_loops(block)
    row = _row_position(block, target)
    if row is None or (count := loops[row].extent.data.constant) is None:
        return
    most = target.vector_registers // ACCUMULATORS
    rows = next((f for f in ROWS if f <= most and count % f == 0), None)
    elements = prod(op.extent.data.constant or 0 for op in loops)
    if rows is not None and elements * _element_bytes(block) > target.caches.l3:
        outer, inner = split(loops[row], [None, rows])
        reorder([outer, *loops[row + 1 :], inner])


def _row_position(block: tir.BlockOp, target: Target) -> int | None:
    """The last of the spatial loops, where these come first and the lanes are a reduction's."""
    lanes = choose_lanes(block, target)
    if lanes is None or drives(lanes.loop, block) != {"reduce"}:
        return None
    kinds = [drives(op, block) for op in own_loops(block)]
    spatial = [kind == {"spatial"} for kind in kinds]
    count = sum(spatial)
    return count - 1 if count and all(spatial[:count]) else None


def widen_choices(func: tir.PrimFuncOp, target: Target) -> None:
    """Let reductions of several results at once, as of the largest value's position, run in lanes.

    Each lane has results of its own, among which a loop chooses at the end.
    """
    for block in blocks_in(func):
        if block.init is None or block.predicates.data or len(block.write_buffers) < 2:
            continue
        strides = Strides(block)
        loops = [op for op in own_loops(block) if drives(op, block) == {"reduce"}]
        contiguous = [op for op in loops if any(strides.step(x, op) == ONE for x in strides.loads)]
        if not contiguous:
            continue
        loop, bits = contiguous[-1], max(8 * byte_width(s.value.type) for s in strides.stores)
        lanes, extent = 2 * target.lanes(bits), loop.extent.data.constant
        if extent is None or extent < SHORT * lanes:
            continue
        try:
            if not reducer_of(block).is_in_any_order():
                continue
            if extent % lanes:
                loop = partition(loop, [extent // lanes * lanes, None])[0]
            _, own = split(loop, [None, lanes])
            partial = rfactor(own, -1)
        except ScheduleError:
            continue
        steps = [op for op in own_loops(partial) if drives(op, partial) == {"reduce"}]
        reorder([*steps, own])
        start = decompose_reduction(partial, steps[0])
        for nest in (start, partial):
            set_kind(own_loops(nest)[-1], "vectorized")

"""Tile copies whose operands are contiguous along different loops.

::

    for i, j: Y[i, j] = X[j, i]      ⇒      for i0, j0:
                                              for i1 in 4: for i2 in 16:
                                                for j1 in 16 vectorized:
                                                  Y[…, j0 * 16 + j1] = X[j0 * 16 + j1, …]

A tile loads and stores whole cache lines, and uses each while it is in the cache. The two inner
loops are a square, which `vectorize-loops` loads by rows and transposes in registers. Successive
squares are adjacent in the operand whose rows are farther apart: a few lines of the same row if it
is loaded, as above, or a whole row if it is stored. So are they if the lines of stored rows share
places in the first cache, which would evict them before the next square.
"""

from __future__ import annotations

from math import gcd

from ....backend.machine_model import LINE
from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE, ZERO, IntExpr
from ...analysis.strides import Strides
from ...cost_model import PAGE, UNKNOWN_EXTENT
from ..blocks import blocks_in, nest_loops
from ..primitives.schedule import Schedule
from .lanes import choose_lanes

LINES = (4, 3, 2, 1)
"""Lines of each row of an operand in a tile; the first that divides their number is taken. If that
is symbolic, the last tiles have fewer."""


def tile_transposes(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every elementwise block with a load that is contiguous along another loop."""
    for block in blocks_in(func):
        if block.init is not None or set(block.axis_kinds) != {"spatial"}:
            continue
        lanes = choose_lanes(block, target)
        other = None if lanes is None else _contiguous_elsewhere(block, lanes.loop)
        if lanes is not None and other is not None:
            store = Strides(block).stores[0]
            size = byte_width(store.value.type)
            width = max(target.lanes(8 * size), LINE // size)
            far = _stores_far(block, lanes.loop, other, target)
            _tile(sch, block, lanes.loop, other, width, far)


def _stores_far(block: tir.BlockOp, columns: tir.ForOp, rows: tir.ForOp, target: Target) -> bool:
    """Whether the row stride of stores is at least that of loads, or evicts lines too early."""
    strides = Strides(block)
    stored = strides.store_steps(rows.loop_var)
    loaded = strides.load_steps(columns.loop_var)
    lengths = [max(map(_length, steps), default=0) for steps in (stored, loaded)]
    size = byte_width(strides.stores[0].value.type)
    return lengths[0] >= lengths[1] or any(_collides(step, size, target) for step in stored)


def _collides(step: IntExpr | None, size: int, target: Target) -> bool:
    """Whether the first cache has no places for lines of half the rows of a tile.

    Addresses have few places if they differ by multiples of a large power of two.
    """
    nbytes = 0 if step is None or step.constant is None else abs(step.constant) * size
    apart = max(gcd(nbytes, PAGE), LINE) if nbytes else LINE
    return target.caches.l1 // apart < LINES[0] * LINE // size // 2


def _length(step: IntExpr | None) -> int:
    """The magnitude of a stride; a symbolic one is assumed to be `UNKNOWN_EXTENT`."""
    return UNKNOWN_EXTENT if step is None or step.constant is None else abs(step.constant)


def _contiguous_elsewhere(block: tir.BlockOp, lanes: tir.ForOp) -> tir.ForOp | None:
    """The loop along which a load is contiguous that is strided along `lanes`."""
    strides = Strides(block)
    for load in strides.loads:
        step = strides.step(load, lanes.loop_var)
        if step is not None and step not in (ZERO, ONE):
            for loop in nest_loops(block):
                if loop.extent.data != ONE and strides.step(load, loop.loop_var) == ONE:
                    return loop
    return None


def _tile(
    sch: Schedule,
    block: tir.BlockOp,
    columns: tir.ForOp,
    rows: tir.ForOp,
    size: int,
    stores_far: bool,
) -> None:
    """Tile the part of the loops that full tiles cover; the remainder, if any, follows.

    Fewer columns than a tile has are one masked tile.
    """
    others = [op for op in nest_loops(block) if op is not columns and op is not rows]
    if not sch.applies(sch.reorder, *map(sch.rv, [*others, columns, rows])):
        return
    for part in _parts(sch, columns, size):
        is_short = part is columns and part.extent.data.constant is not None
        if _full(part, size) != part.extent.data and not is_short:
            continue
        inner = nest_loops(blocks_in(part)[0])[-1]
        sch.reorder(sch.rv(inner), sch.rv(part))
        for tiled in _parts(sch, inner, size):
            _tile_part(sch, tiled, size, stores_far)


def _tile_part(sch: Schedule, rows: tir.ForOp, size: int, stores_far: bool) -> None:
    """Tile two loops; the inner one has fewer than `size` iterations, or a multiple of them.

    One that another rule unrolled is unchanged.
    """
    columns = nest_loops(blocks_in(rows)[0])[-1]
    width = min(columns.extent.data.constant or size, size)
    outer, lanes = sch.split(sch.rv(columns), [None, width])
    if (count := rows.extent.data) % size == ZERO and rows.kind.data == "serial":
        fitting = [n for n in LINES if count // size % n == ZERO or count.constant is None]
        name = blocks_in(rows)[0].block_name.data
        lines = sch.decide(f"{name}.lines", fitting[0], lambda: fitting)
        stores_far = bool(sch.decide(f"{name}.far", int(stores_far), lambda: (0, 1)))
        tiles, square = sch.split(sch.rv(rows), [None, size])
        tiles, line = sch.split(tiles, [None, lines])
        sch.reorder(tiles, *((line, outer) if stores_far else (outer, line)), square, lanes)
    else:
        sch.reorder(outer, sch.rv(rows), lanes)
    sch.vectorize(lanes)


def _parts(sch: Schedule, loop: tir.ForOp, size: int) -> list[tir.ForOp]:
    """The loop over full tiles and one over the remainder, which may overlap with full tiles."""
    count, full = loop.extent.data, _full(loop, size)
    if full in (ZERO, count):
        return [loop]
    variable = sch.rv(loop)
    parts = sch.try_(sch.loop_overlap, variable, size)
    # both are refused if the extent may be negative
    parts = parts or sch.try_(sch.loop_partition, variable, [full, count % size])
    return [sch.loop(part) for part in parts or [variable]]


def _full(loop: tir.ForOp, size: int) -> IntExpr:
    """The iterations of a loop that full tiles cover."""
    return loop.extent.data // size * size

"""Cache blocking of contractions along k, m and n, around register tiles.

::

    for i, j, k: Y[i, j] += X[i, k] * W[k, j]

⇒

    for ib, jb:                                      a block of results that fits the last cache
      for i, j: Y[i, j] = 0
      for kb:
        for j0:                                      a panel of W that fits the second cache
          for i0:
            T[...] = sum of X[i, k] * W[k, j] over the steps of this block       in registers
            for i, j: Y[i, j] += T[i, j]

An elementwise consumer of the results comes after the loop over `kb`.

Rows whose steps are all in one block are read in blocks too, if they are large::

    for ib:                                          rows that fit the last cache
      for j0:                                        a panel of W
        for i0:
          T[...] = sum of X[i, k] * W[k, j]          in registers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....backend.target import Target
from ....dialects import tir
from ...equal_parts import balanced, largest_divisor
from ..blocks import ScheduleError, loop_of, loops_around, loops_between, nest_loops
from ..primitives.schedule import Schedule
from ..reducer import reducer_of
from .match_contraction import Contraction, contraction_of
from .tiles import Tile

PANEL_SHARE = 4
"""A panel takes at most this part of the second cache, as a divisor of its size."""

ROWS_SHARE = 8
"""A block of rows, and one of results, takes at most this part of the last cache."""

FAR_SHARE = 2
"""Rows that take at least this part of the last cache are read from memory for each panel. With
smaller ones, blocking costs more than it gains: results are loaded and stored for each block of
steps, panels are read for each block of rows."""


@dataclass(frozen=True)
class CacheBlocks:
    """Reduction steps, tiles of rows and tiles of columns in a block; `None` means all."""

    steps: int
    row_tiles: int | None
    column_tiles: int | None


@dataclass(frozen=True)
class BlockedNest:
    """A blocked contraction: the sum over one block of steps, and the loops around it."""

    contraction: Contraction
    """Computes the partial sums of one tile of results."""
    results: tir.ForOp | None
    """The innermost loop over blocks of results; `None` if there is one block only."""
    steps: tir.ForOp
    """The loop over blocks of steps."""
    columns: tir.ForOp
    """The loop over a block's tiles of columns."""


def steps_in_block(contraction: Contraction, m: int, width: int, target: Target) -> int | None:
    """Steps for which a panel of `width` columns fits the second cache; `None` means all.

    All steps are in one block if the rows take less than 1 / `FAR_SHARE` of the last cache, if the
    number of rows or steps is symbolic, or if the reduction has several loops.
    """
    reduce = list(contraction.k_loops)
    rows, steps = contraction.extent(m).constant, contraction.extent(reduce[-1]).constant
    if len(reduce) != 1 or steps is None or rows is None:
        return None
    size = contraction.element_bits // 8
    most = target.caches.l2 // PANEL_SHARE // (width * size)
    if steps <= most or not _are_far(contraction, rows * steps, target):
        return None
    found = _part(steps, most) if _is_sum(contraction.block) else None
    return None if found == 1 else found  # a single step has no loop


def blockable_steps(contraction: Contraction) -> int | None:
    """The steps that may be divided into blocks: those of the only loop of a static sum."""
    steps = [loop.extent.data.constant for loop in contraction.k_loops.values()]
    return steps[0] if len(steps) == 1 and _is_sum(contraction.block) else None


def can_block(contraction: Contraction, m: int, lanes: int, target: Target) -> bool:
    """Whether k can be blocked with panels as wide as registers allow."""
    widest = target.vector_registers // 8 * lanes
    return steps_in_block(contraction, m, widest, target) is not None


def block_steps(contraction: Contraction, m: int, lanes: int, target: Target) -> tuple[int, ...]:
    """The steps in a block for panels of one vector, two vectors, …; empty without blocking."""
    if not can_block(contraction, m, lanes, target):
        return ()
    (axis,) = contraction.k_loops
    all_steps = contraction.extent(axis).constant
    assert all_steps is not None
    widths = range(lanes, lanes * target.vector_registers + 1, lanes)
    return tuple(steps_in_block(contraction, m, w, target) or all_steps for w in widths)


def cache_blocks(
    contraction: Contraction, m: int | None, tile: Tile, lanes: int, target: Target
) -> CacheBlocks | None:
    """The blocks of a contraction; `None` if its panels and rows fit the caches."""
    width, columns = tile.vectors * lanes, contraction.extent(contraction.n).constant
    depth = None if m is None else steps_in_block(contraction, m, width, target)
    rows = None if m is None else contraction.extent(m).constant
    if columns is None or depth is None or rows is None:
        return None
    room = _room(contraction, target)
    in_column, in_row = -(-rows // tile.rows), -(-columns // width)
    row_tiles = balanced(in_column, max(room // depth // tile.rows, 1))
    column_tiles = _part(in_row, max(room // (row_tiles * tile.rows * width), 1))
    return CacheBlocks(
        depth,
        None if row_tiles == in_column else row_tiles,
        None if column_tiles == in_row else column_tiles,
    )


def row_tiles_in_block(
    contraction: Contraction, m: int, tile: Tile, lanes: int, target: Target
) -> int | None:
    """Tiles of rows for which all panels are read in turn; `None` means all.

    Rows in their share of the last cache stay there from panel to panel. All are in one block if
    they take less than 1 / `FAR_SHARE` of it, if there is one panel only, if a size is symbolic, if
    the contraction has other loops, or if a tile's rows take more than their share.
    """
    rows, columns = contraction.extent(m).constant, contraction.extent(contraction.n).constant
    steps = blockable_steps(contraction)
    if steps is None or rows is None or columns is None:
        return None
    if len(contraction.loops) != 3 or columns <= tile.vectors * lanes:
        return None
    if not _are_far(contraction, rows * steps, target):
        return None
    blocks = -(-rows * steps // _room(contraction, target))
    return rows // tile.rows // blocks or None


def _are_far(contraction: Contraction, elements: int, target: Target) -> bool:
    """Whether so many elements of the rows are read from memory for each panel."""
    return elements * contraction.element_bits // 8 * FAR_SHARE >= target.caches.l3


def _room(contraction: Contraction, target: Target) -> int:
    """The elements of a block of rows, or of results, that stay in the last cache."""
    return max(target.caches.l3 // ROWS_SHARE // (contraction.element_bits // 8), 1)


def _part(count: int, most: int) -> int | None:
    """The size of equal parts of more than a quarter of `most`, if there are such parts."""
    return largest_divisor(count, most, above=most // 4)


def _is_sum(block: tir.BlockOp) -> bool:
    try:
        reducer_of(block)
    except ScheduleError:
        return False
    return True


def nest_blocks(
    sch: Schedule, contraction: Contraction, m: int, tile: Tile, lanes: int, blocks: CacheBlocks
) -> BlockedNest:
    """Split the loops of a contraction into blocks, with a loop over steps around each tile."""
    total, (axis,) = contraction.block, contraction.k_loops
    spatial = _spatial_axes(total)
    outer, _ = sch.split(sch.rv(contraction.loops[axis]), [None, blocks.steps])
    partial = contraction_of(sch.block(sch.rfactor(outer)))
    assert partial is not None
    steps = loops_around(total)[-1]
    left = _spatial_axes(total)
    column_loop, row_loop = (_loop_of(total, left[spatial.index(a)]) for a in (contraction.n, m))
    others = [op for op in nest_loops(total) if op not in (steps, column_loop, row_loop)]
    *column_block, column, vector, lane = sch.split(
        sch.rv(column_loop), [*_outer(blocks.column_tiles), tile.vectors, lanes]
    )
    *row_block, rows, line = sch.split(sch.rv(row_loop), [*_outer(blocks.row_tiles), tile.rows])
    results = [*map(sch.rv, others), *row_block, *column_block]
    sch.reorder(*results, sch.rv(steps), column, rows, line, vector, lane)
    sch.unroll(line)
    sch.unroll(vector)
    sch.vectorize(lane)
    sch.compute_at(sch.rv(partial.block), rows)
    _nest_tile(sch, partial, loops_between(partial.block, sch.loop(rows)), tile, lanes)
    around = sch.loop(results[-1]) if results else None
    return BlockedNest(partial, around, steps, sch.loop(column))


def _outer(tiles: int | None) -> list[int | None]:
    """The first factors of a split into blocks of `tiles` tiles; for `None`, into tiles only."""
    return [None] if tiles is None else [None, tiles]


def _nest_tile(
    sch: Schedule, contraction: Contraction, made: Sequence[tir.ForOp], tile: Tile, lanes: int
) -> None:
    """Order the loops of a tile: its steps around rows and columns, which are unrolled."""
    column, depth = (_loop_of(contraction.block, a) for a in (contraction.n, contraction.k[-1]))
    rows = [sch.rv(op) for op in made if op not in (column, depth)]
    vector, lane = sch.split(sch.rv(column), [tile.vectors, lanes])
    sch.reorder(sch.rv(depth), *rows, vector, lane)
    for loop in (*rows, vector):
        sch.unroll(loop)
    sch.vectorize(lane)


def _spatial_axes(block: tir.BlockOp) -> list[int]:
    return [a for a, kind in enumerate(block.axis_kinds) if kind == "spatial"]


def _loop_of(block: tir.BlockOp, axis: int) -> tir.ForOp:
    """The innermost loop that an axis of a block is bound to."""
    loop = loop_of(block, axis, reversed(loops_around(block)))
    assert loop is not None
    return loop

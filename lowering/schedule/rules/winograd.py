"""The default schedule of Winograd convolutions: all stages of a block of tiles in the caches.

::

    V = data tiles;  M = V * U;  Y = result tiles

⇒

    for block of tiles:
      for t, c0: V[i, j, t, c0 * 8 + c] = …              6 x 6 vectors in registers
      for panel of columns:
        for i, j: M[i, j, t, k] = sum of V * U            register tiles, see `contraction`
        for t, k0: Y[t, y, x, k0 * 8 + k] = …             and what follows, such as an activation
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import operations_in
from ...analysis.block_accesses import dim_axes
from ..blocks import (
    blocks_in,
    loop_of,
    loops_between,
    only_reader,
    only_writer,
    plain_loops,
    uses_of,
)
from ..primitives.schedule import Schedule
from .contraction import finish_tiles, in_panels, tile_loops
from .contraction_plan import Plan
from .loop_partition import peel_remainder, trim_remainder
from .match_contraction import Contraction, contraction_of
from .storage import compact_scratch
from .tiles import Tile
from .winograd_cost import tile_of_products
from .write_back import write_back

BATCH, ROWS, COLUMNS, PRODUCTS, TILES = 0, 1, 2, 3, 5
"""Axes of the products: images, blocks of rows and columns of tiles, the first of the two axes of
products, and the tiles in a block."""

SUM_BLOCK = 128
"""Products that are summed before they are added to a total."""

SPATIAL_AXES = 4
"""Axes of results: images, rows, columns and channels."""

OUTERMOST = (BATCH, ROWS, COLUMNS)


@dataclass(frozen=True)
class _Stages:
    """The blocks of a convolution in order; each loads a scratch buffer of the one before."""

    data_rows: tir.BlockOp
    data_tiles: tir.BlockOp
    products: Contraction
    result_rows: tir.BlockOp
    last: tir.BlockOp
    """Computes results of tiles, and what follows them."""


def tile_winograd(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Schedule the Winograd convolutions of a function."""
    for block in blocks_in(func):
        stages = _match(sch, block)
        if stages is not None:
            _schedule(sch, func, stages, target)


def _match(sch: Schedule, block: tir.BlockOp) -> _Stages | None:
    """The stages around the products of transformed tiles."""
    products = contraction_of(block)
    if products is None or len(products.loops) != len(block.axes) or len(products.lhs) != 1:
        return None
    tiles, result_rows = _plain(only_writer(products.lhs[0].buffer)), _user_of(block)
    rows, last = _operand_of(tiles), _user_of(result_rows)
    if tiles is None or rows is None or result_rows is None or last is None:
        return None
    sizes = [len(b.axes) for b in (rows, tiles, block, result_rows)]
    if sizes != [7, 7, 8, 7] or len(products.k) != 1:
        return None
    while (after := _user_of(last)) is not None and len(after.axes) == SPATIAL_AXES:
        if not sch.applies(sch.compute_inline, sch.rv(last)):
            return None
        last = after
    loads = [op for op in operations_in(last) if isinstance(op, tir.LoadOp)]
    places = [dim_axes(last, op) for op in loads if op.buffer in result_rows.write_buffers]
    loops = plain_loops(last)
    if loops is None or len(loops) < SPATIAL_AXES:
        return None
    if {p[-1] for p in places} != {SPATIAL_AXES - 1}:
        return None
    return _Stages(rows, tiles, products, result_rows, last)


def _operand_of(block: tir.BlockOp | None) -> tir.BlockOp | None:
    """The block that computes the only buffer that a block loads, without a reduction."""
    loads = () if block is None else operations_in(block)
    buffers = {op.buffer for op in loads if isinstance(op, tir.LoadOp)}
    return _plain(only_writer(buffers.pop())) if len(buffers) == 1 else None


def _user_of(block: tir.BlockOp | None) -> tir.BlockOp | None:
    """The block that alone loads what a block stores, without a reduction."""
    if block is None or len(block.write_buffers) != 1:
        return None
    return _plain(only_reader(block.write_buffers[0], block))


def _plain(block: tir.BlockOp | None) -> tir.BlockOp | None:
    return None if block is None or block.init is not None else block


def _schedule(sch: Schedule, func: tir.PrimFuncOp, stages: _Stages, target: Target) -> None:
    """Nest the stages in the loops over blocks of tiles and over panels of columns."""
    products, bits = stages.products, stages.products.element_bits
    lanes = target.lanes(bits)
    count, depth, columns = (products.extent(a).constant for a in (TILES, *products.k, products.n))
    if not count or not depth or not columns or depth % lanes or columns % lanes or lanes < 2:
        return
    tile = tile_of_products(count, depth, columns, bits, target)
    width, load, block = tile.vectors * lanes, products.rhs[0], products.loops[COLUMNS]
    if load.buffer in func.layout_free and uses_of(load.buffer).loads == [load]:
        products = in_panels(sch, products, width)
    plan = Plan(products, TILES, tile, lanes, packs=False, outermost=OUTERMOST)
    for loop in products.k_loops.values():  # transforms magnify the errors of sums
        sch.annotate(sch.rv(loop), tir.SUM_BLOCK, SUM_BLOCK)
    rows, panel = tile_loops(sch, plan)
    write_back(sch, products.block, None, rows, lanes)
    _finish_results(sch, stages, panel, tile, lanes)
    sch.compute_at(sch.rv(stages.data_tiles), sch.rv(block))
    inner = _vectorize(sch, stages.data_tiles, block, (PRODUCTS, PRODUCTS + 1), lanes)
    sch.compute_at(sch.rv(stages.data_rows), sch.rv(inner))
    _vectorize(sch, stages.data_rows, inner, (TILES - 1, TILES), lanes)
    scratch = [b.write_buffers[0] for b in (stages.data_rows, stages.data_tiles, products.block)]
    scratch += [b.read_buffers[0] for b in (stages.result_rows, stages.last)]
    for buffer in scratch:
        compact_scratch(sch, buffer)
    peel_remainder(sch, rows, products.extent(TILES), tile.rows)
    trim_remainder(sch, panel)
    finish_tiles(sch, panel)


def _finish_results(
    sch: Schedule, stages: _Stages, panel: tir.ForOp, tile: Tile, lanes: int
) -> None:
    """Transform the products of each panel into results, and compute what follows them there."""
    sch.reverse_compute_at(sch.rv(stages.result_rows), sch.rv(panel))
    inner = _vectorize(sch, stages.result_rows, panel, (TILES - 1, TILES), lanes)
    axes, loops = stages.products.block.axes.data, plain_loops(stages.last)
    assert loops is not None
    size = stages.result_rows.axes.data[PRODUCTS + 1].extent.data
    batch, height, width, channel = (sch.rv(loops[axis]) for axis in range(SPATIAL_AXES))
    rows, row, y = sch.split(height, [axes[ROWS].extent.data, None, size])
    columns, column, x = sch.split(width, [axes[COLUMNS].extent.data, None, size])
    panels, vector, lane = sch.split(channel, [None, tile.vectors, lanes])
    sch.reorder(batch, rows, columns, panels, row, column, vector, y, x, lane)
    sch.fuse(row, column)
    for loop in (y, x):
        sch.unroll(loop)
    sch.vectorize(lane)
    if sch.applies(sch.merge, sch.rv(panel), panels):
        sch.applies(sch.merge, sch.rv(inner), vector)


def _vectorize(
    sch: Schedule, block: tir.BlockOp, loop: tir.ForOp, unrolled: Collection[int], lanes: int
) -> tir.ForOp:
    """Vectorize a moved block along its last axis, around unrolled loops over axes of a tile.

    Returns the loop over vectors, or `loop` if there is one vector only.
    """
    own = loops_between(block, loop)
    inner = [op for axis in unrolled if (op := loop_of(block, axis, own)) is not None]
    channel = loop_of(block, len(block.axes) - 1, own)
    assert channel is not None
    outer = [op for op in own if op not in (*inner, channel)]
    *vectors, lane = [sch.rv(channel)]
    if channel.extent.data != IntExpr.of(lanes):
        *vectors, lane = sch.split(lane, [None, lanes])
    sch.reorder(*map(sch.rv, outer), *vectors, *map(sch.rv, inner), lane)
    for op in inner:
        sch.unroll(sch.rv(op))
    sch.vectorize(lane)
    around = [*map(sch.rv, outer), *vectors]
    return sch.loop(around[-1]) if around else loop

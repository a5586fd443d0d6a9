"""Reductions across rows of contiguous memory: the results stay in the cache, rows stream by.

::

    for j, k: Y[j] += X[k, j]      ⇒      for k0: for j vectorized: for k1 in 8: Y[j] += …

Each load and store of a result takes in several rows. A product of one row and a matrix is such a
reduction too, ``Y[j] += x[k] * W[k, j]``. Where a small number divides the rows of the matrix,
`tile_reductions` does the same.
"""

from __future__ import annotations

from math import prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, ZERO
from ..blocks import ScheduleError, blocks_in
from ..loops import partition, reorder, set_kind, split
from ..merge import has_reuse
from ..reduction import decompose_reduction
from ..register_tile import REDUCTION_TILES, chunk_of
from .contraction_plan import is_packable
from .lanes import WINDOW, choose_lanes
from .products import product_of, step_along
from .strides import Strides, drives, own_loops

ROWS = 8
"""Rows that are added at once."""


def stream_rows(func: tir.PrimFuncOp, target: Target) -> None:
    """Rearrange every reduction of much memory whose neighbours are different results."""
    for block in blocks_in(func):
        if block.init is None or block.predicates.data or has_reuse(block):
            continue
        lanes = choose_lanes(block, target)
        if lanes is None or drives(lanes.loop, block) != {"spatial"}:
            continue
        loops = own_loops(block)
        reduce = [op for op in loops if drives(op, block) == {"reduce"}]
        extents = [op.extent.data.constant for op in reduce]
        strides = Strides(block)
        if any(strides.step(load, lanes.loop) not in (ZERO, ONE) for load in strides.loads):
            continue
        if not reduce or (None not in extents and prod(e or 1 for e in extents) <= WINDOW):
            continue
        _stream(block, lanes.loop, reduce, ROWS)


def stream_products(func: tir.PrimFuncOp, target: Target) -> None:
    """Rearrange every product of one row and a matrix whose rows no small number divides."""
    for block in blocks_in(func):
        product = product_of(block)
        if product is None or product.rows or not is_packable(product):
            continue
        (load,) = product.moving
        if step_along(product, load, product.column) != ONE:
            continue
        columns, extent = product.loops[product.column], product.extent(product.column).constant
        reduce = list(product.reduce_loops.values())
        depth = reduce[-1].extent.data.constant
        if extent is None or depth is None or extent < target.lanes(product.element_bits):
            continue
        if depth > REDUCTION_TILES[0] and all(depth % n for n in REDUCTION_TILES):
            chunk = chunk_of(extent)
            columns = columns if chunk is None else split(columns, [None, chunk])[1]
            _stream(block, columns, reduce, REDUCTION_TILES[0])


def _stream(block: tir.BlockOp, columns: tir.ForOp, reduce: list[tir.ForOp], at_once: int) -> None:
    rest = [op for op in own_loops(block) if op is not columns and op not in reduce]
    try:
        reorder([*rest, *reduce, columns])
        if len(reduce) > 1:
            start = decompose_reduction(block, reduce[0])
            set_kind(own_loops(start)[-1], "vectorized")
    except ScheduleError:
        return
    last = reduce[-1]
    count = last.extent.data.constant
    parts = [last]
    if count is not None and count % at_once and count > at_once:
        parts = partition(last, [count // at_once * at_once, None])
    for part in parts:
        found = blocks_in(part)[0]
        loop = own_loops(found)[-1]
        rows = part.extent.data.constant
        if rows is not None and rows % at_once == 0 and rows:
            inner = split(part, [None, at_once])[1]
            reorder([loop, inner])
            set_kind(inner, "unrolled")
        set_kind(loop, "vectorized")

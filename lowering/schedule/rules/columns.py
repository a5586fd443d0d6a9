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
from ..loops import fuse, reorder, set_kind, split
from ..merge import has_reuse
from ..partition import split_at
from ..reduction import decompose_reduction
from ..register_tile import REDUCTION_TILES, chunk_of
from .contraction_plan import is_packable
from .lanes import WINDOW, choose_lanes
from .products import product_of, step_along
from .row_blocks import is_long_sum, sum_in_blocks
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
    is_long, start = is_long_sum(block, reduce), None
    try:
        reorder([*rest, *reduce, columns])
        if is_long and any(op.extent.data.constant is None for op in reduce[1:]):
            reduce = [fuse(reduce)]
        if is_long or len(reduce) > 1:
            start = decompose_reduction(block, reduce[0])
            set_kind(own_loops(start)[-1], "vectorized")
    except ScheduleError:
        return
    for part in _parts(reduce[-1], at_once, is_long):
        loop = own_loops(blocks_in(part)[0])[-1]
        rows = part.extent.data
        if rows % at_once == ZERO and rows != ZERO:
            part, inner = split(part, [rows // at_once, at_once], disable_predication=True)
            reorder([loop, inner])
            set_kind(inner, "unrolled")
            reduce[-1] = part
        set_kind(loop, "vectorized")
    if is_long and start is not None:
        sum_in_blocks(start, reduce, at_once)


def _parts(loop: tir.ForOp, at_once: int, is_long: bool) -> list[tir.ForOp]:
    """The loop, in two if the first has whole numbers of rows then."""
    count = loop.extent.data
    rest = count % at_once
    if rest == ZERO or (not is_long if count.constant is None else count.constant < at_once):
        return [loop]
    whole = count // at_once * at_once
    return split_at(loop, [(ZERO, whole), (whole, rest)])

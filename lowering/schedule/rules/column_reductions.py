"""Vectorize reductions over rows of contiguous memory along the results, which stay in the cache.

::

    for j, k: Y[j] += X[k, j]      ⇒      for k0: for j vectorized: for k1 in 8: Y[j] += …

Several rows are added between each load and store of a result. A vector-matrix product,
``Y[j] += x[k] * W[k, j]``, is such a reduction too. If a factor of `REDUCTION_TILES` divides the
number of rows of the matrix, `tile_reductions` does the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.arith import AddfOp

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, ZERO
from ...analysis.block_accesses import has_reuse
from ...analysis.strides import Strides
from ..blocks import ScheduleError, blocks_in, iterator_kinds, nest_loops
from ..primitives.random_variables import BlockRV
from ..primitives.schedule import Schedule
from ..reducer import reducer_of
from .contraction_plan import is_packable
from .lanes import WINDOW, choose_lanes
from .match_contraction import contraction_of, step_along
from .register_tile import REDUCTION_TILES, chunk_of

ROWS = 8
"""Rows added between a load and a store of the results."""

BLOCK = 256
"""Additions in a block of a blocked sum. The overhead of a block is that of two or three."""

TOTALS = 64
"""Totals of blocks in a block of the next level."""

LEVELS = 2
"""The maximum number of levels of nested blocks."""


def vectorize_column_reductions(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Schedule reductions of more than `WINDOW` elements that are contiguous along results."""
    for block in blocks_in(func):
        if block.init is None or block.predicates.data or has_reuse(block):
            continue
        lanes = choose_lanes(block, target)
        if lanes is None or iterator_kinds(lanes.loop, block) != {"spatial"}:
            continue
        loops = nest_loops(block)
        reduce = [op for op in loops if iterator_kinds(op, block) == {"reduce"}]
        extents = [op.extent.data.constant for op in reduce]
        steps = Strides(block).load_steps(lanes.loop.loop_var)
        if any(step not in (ZERO, ONE) for step in steps):
            continue
        if not reduce or (None not in extents and prod(e or 1 for e in extents) <= WINDOW):
            continue
        rows = sch.decide(f"{block.block_name.data}.rows", ROWS, lambda: (4, 8, 16))
        _stream(sch, block, lanes.loop, reduce, rows)


def stream_products(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Schedule vector-matrix products whose number of rows no factor of a tile divides."""
    for block in blocks_in(func):
        contraction = contraction_of(block)
        if contraction is None or contraction.m or not is_packable(contraction):
            continue
        (load,) = contraction.rhs
        if step_along(contraction, load, contraction.n) != ONE:
            continue
        columns, extent = (
            contraction.loops[contraction.n],
            contraction.extent(contraction.n).constant,
        )
        reduce = list(contraction.k_loops.values())
        depth = reduce[-1].extent.data.constant
        if extent is None or depth is None or extent < target.lanes(contraction.element_bits):
            continue
        if depth > REDUCTION_TILES[0] and all(depth % n for n in REDUCTION_TILES):
            chunk = chunk_of(extent)
            if chunk is not None:
                columns = sch.loop(sch.split(sch.rv(columns), [None, chunk])[1])
            _stream(sch, block, columns, reduce, REDUCTION_TILES[0])


def _stream(
    sch: Schedule, block: tir.BlockOp, columns: tir.ForOp, reduce: list[tir.ForOp], at_once: int
) -> None:
    rest = [op for op in nest_loops(block) if op is not columns and op not in reduce]
    is_long, start = _is_long_sum(block, reduce), None
    if not sch.applies(sch.reorder, *map(sch.rv, [*rest, *reduce, columns])):
        return
    if is_long and any(op.extent.data.constant is None for op in reduce[1:]):
        fused = sch.try_(sch.fuse, *map(sch.rv, reduce))
        if fused is None:
            return
        reduce = [sch.loop(fused)]
    if is_long or len(reduce) > 1:
        start = sch.try_(sch.decompose_reduction, sch.rv(block), sch.rv(reduce[0]))
        if start is None or not sch.applies(sch.vectorize, sch.get_loops(start)[-1]):
            return
    for part in _parts(sch, reduce[-1], at_once, is_long):
        loop = sch.rv(nest_loops(blocks_in(part)[0])[-1])
        rows = part.extent.data
        if rows % at_once == ZERO and rows != ZERO:
            factors = [rows // at_once, at_once]
            outer, inner = sch.split(sch.rv(part), factors, disable_predication=True)
            sch.reorder(loop, inner)
            sch.unroll(inner)
            reduce[-1] = sch.loop(outer)
        sch.vectorize(loop)
    if is_long and start is not None:
        _sum_in_blocks(sch, start, reduce, at_once)


def _is_long_sum(block: tir.BlockOp, reduce: Sequence[tir.ForOp]) -> bool:
    """Whether a block is a sum of floats over more iterations than two blocks have."""
    rows = 1
    for loop in reduce:
        trips = loop.extent.data.constant
        rows *= 2 * BLOCK + 1 if trips is None else trips
    try:
        updates = reducer_of(block).updates
    except ScheduleError:
        return False
    return rows > 2 * BLOCK and all(isinstance(u.store.value.owner, AddfOp) for u in updates)


def _sum_in_blocks(
    sch: Schedule, start: BlockRV, reduce: Sequence[tir.ForOp], additions: int
) -> None:
    """Compute a sum, which `start` initializes, in blocks.

    `reduce` has its loops, outermost first. The innermost one makes `additions` additions in an
    iteration. The totals of many blocks are also added in blocks.
    """
    for loop in reversed(reduce):
        trips = loop.extent.data.constant
        if trips is not None and trips * additions <= 2 * BLOCK:
            additions *= trips
            continue
        size = max(1, BLOCK // additions)
        outer = sch.blocked_sum(start, sch.rv(loop), size)
        for _ in range(LEVELS - 1):
            blocks = sch.loop(outer).extent.data.constant
            if blocks is None or blocks > 2 * TOTALS:
                outer = sch.blocked_sum(start, outer, TOTALS)
        additions = BLOCK


def _parts(sch: Schedule, loop: tir.ForOp, at_once: int, is_long: bool) -> list[tir.ForOp]:
    """The loop, peeled so that `at_once` divides the trip count of the first part."""
    count = loop.extent.data
    rest = count % at_once
    if rest == ZERO or (not is_long if count.constant is None else count.constant < at_once):
        return [loop]
    parts = sch.loop_partition(sch.rv(loop), [count // at_once * at_once, rest])
    return [sch.loop(part) for part in parts]

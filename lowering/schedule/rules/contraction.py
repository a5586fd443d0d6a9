"""The default schedule of contractions: a tile of results in registers, one operand in panels.

::

    for i, j, k: Y[i, j] += X[i, k] * W[k, j]

⇒

    for j0:
      for k, j: P[k, j] = W[k, j0 * 32 + j]                  a panel that fits the cache
      for i0:
        for i unrolled, j vectorized: T[i, j] = 0
        for k:
          for i unrolled, j vectorized: T[i, j] += X[i0 * 12 + i, k] * P[k, j]
        for i unrolled, j vectorized: Y[i0 * 12 + i, j0 * 32 + j] = T[i, j]

An elementwise consumer of the result replaces the last statement. `W` is read in place if that
takes less time than packing. The loop over `k` has no conditions: remainders of rows and columns
have smaller tiles (see `loop_trim`). If the number of rows is symbolic, out-of-range rows of the
last tile repeat an existing one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ..blocks import blocks_in, iterator_kinds, loops_around, loops_between
from ..index_map import IndexMap
from ..primitives.random_variables import BlockRV, LoopRV
from ..primitives.schedule import Schedule
from .cache_blocks import CacheBlocks, nest_blocks
from .contraction_plan import Plan, choose_vector_width
from .contraction_versions import rematch, versions_of
from .inner_products import tile_inner_products
from .loop_partition import peel_remainder, trim_remainder
from .match_contraction import Contraction, column_dim, contraction_of
from .panels import lay_out_panels
from .plan_choices import decide_panel, decide_plan
from .storage import compact_scratch
from .swapped_operands import write_back_transposed
from .write_back import consumer_of, is_cheap, move_into, vectorize_copy, write_back

UNROLLED_STEPS = 128
"""The most vector multiplications in the unrolled innermost reduction loop."""

MOST_UNROLLED_STEPS = 512
"""The same if a search may choose to unroll it."""


def tile_contractions(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every contraction of the function that has a plan."""
    for block in blocks_in(func):
        contraction, chosen = contraction_of(block), target
        if contraction is not None and contraction.rhs[0].buffer in func.layout_free:
            chosen = choose_vector_width(contraction, target)
            contraction = in_panels(sch, contraction, decide_panel(sch, contraction, chosen))
        plan = None if contraction is None else decide_plan(sch, contraction, chosen)
        if plan is not None:
            for version in versions_of(sch, plan, chosen):
                apply_plan(sch, version)


def in_panels(sch: Schedule, contraction: Contraction, width: int | None) -> Contraction:
    """The contraction with its constant right operand in panels of a width, if it has one."""
    if width is None or not lay_out_panels(sch, contraction, contraction.rhs[0], width):
        return contraction
    return rematch(contraction.block, width)


def apply_plan(sch: Schedule, plan: Plan) -> None:
    """Apply a plan; where a primitive is refused, the schedule is slower but correct."""
    if plan.blocks is not None and plan.m is not None:
        _apply_blocks(sch, plan, plan.m, plan.blocks)
        return
    contraction = plan.contraction
    consumer = consumer_of(contraction)
    if plan.is_inner_product and plan.m is not None:
        light = consumer if consumer is not None and is_cheap(consumer) else None
        tile_inner_products(sch, contraction, plan.m, plan.tile, light)
        return
    rhs = _RightOperand.of(contraction)
    rows, columns = tile_loops(sch, plan)
    if plan.is_swapped:
        write_back_transposed(sch, contraction, rows, plan.tile, plan.lanes)
    else:
        write_back(sch, contraction.block, consumer, rows, plan.lanes)
    compact_scratch(sch, contraction.block.write_buffers[0])
    if plan.m is not None:
        peel_remainder(sch, rows, contraction.extent(plan.m), plan.tile.rows)
    if plan.packs:
        _pack(sch, _sums(columns), rhs, columns, plan.lanes)
    parts = peel_remainder(sch, columns, contraction.extent(contraction.n), plan.width)
    for part in parts:
        trim_remainder(sch, part)
    if plan.packs_rest and len(parts) > 1:
        _pack_rest(sch, _sums(parts[-1]), rhs, plan)
    for part in parts:
        if plan.is_swapped:  # its scratch buffers are padded to whole vectors
            for block in blocks_in(part):
                if block.init is None:
                    sch.applies(sch.drop_predicates, sch.rv(block))
        finish_tiles(sch, part)


def _sums(loop: tir.ForOp) -> list[tir.BlockOp]:
    """The reduction blocks in a loop."""
    return [block for block in blocks_in(loop) if block.init is not None]


def _apply_blocks(sch: Schedule, plan: Plan, m: int, blocks: CacheBlocks) -> None:
    """Apply a plan with cache blocking."""
    contraction, consumer = plan.contraction, consumer_of(plan.contraction)
    rhs = _RightOperand.of(contraction)
    nest = nest_blocks(sch, contraction, m, plan.tile, plan.lanes, blocks)
    if consumer and nest.results and move_into(sch, consumer, nest.results, plan.lanes, False):
        compact_scratch(sch, contraction.store.buffer)
    sch.decompose_reduction(sch.rv(contraction.block), sch.rv(nest.steps))
    if plan.packs:
        _pack(sch, [nest.contraction.block], rhs, nest.columns, plan.lanes)
    _finish_tile(sch, nest.contraction.block)
    sch.applies(sch.drop_predicates, sch.rv(contraction.block))  # if it works on scratch memory


def finish_tiles(sch: Schedule, loop: tir.ForOp) -> None:
    """Finish the tiles of the reduction blocks in a loop."""
    for block in _sums(loop):
        _finish_tile(sch, block)


def _finish_tile(sch: Schedule, block: tir.BlockOp) -> None:
    """Compact the sums of a block to a tile, and initialize them before the reduction loops.

    A loop over the rows of a window then skips those that are padding.
    """
    compact_scratch(sch, block.write_buffers[0])
    sch.applies(sch.drop_predicates, sch.rv(block))  # refused for blocks that need conditions
    reduce = [loop for loop in loops_around(block) if "reduce" in iterator_kinds(loop, block)]
    if reduce:  # sums of one product may have no loop
        sch.decompose_reduction(sch.rv(block), sch.rv(reduce[0]))
        sch.applies(sch.skip_padding, sch.rv(reduce[0]))  # refused without padding


def tile_loops(sch: Schedule, plan: Plan) -> tuple[tir.ForOp, tir.ForOp]:
    """Split and reorder the loops; returns those over tiles of rows and of columns."""
    contraction, lanes = plan.contraction, plan.lanes
    column, vector, lane = sch.split(
        sch.rv(contraction.loops[contraction.n]), [None, plan.tile.vectors, lanes]
    )
    rows: list[LoopRV] = []
    if plan.m is not None:
        sizes = [plan.row_tiles, plan.tile.rows] if plan.row_tiles else [plan.tile.rows]
        rows = sch.split(sch.rv(contraction.loops[plan.m]), [None, *sizes])
    row_blocks, rows = rows[:-2], rows[-2:]
    (panel,) = contraction.rhs[:1]
    spatial = [
        axis
        for axis, kind in enumerate(contraction.block.axis_kinds)
        if kind == "spatial" and axis in contraction.loops and axis not in (plan.m, contraction.n)
    ]
    first = [sch.rv(contraction.loops[a]) for a in spatial if a in plan.outermost]
    spatial = [a for a in spatial if a not in plan.outermost]
    repeating = [sch.rv(contraction.loops[a]) for a in spatial if contraction.uses(panel, a)]
    others = [sch.rv(contraction.loops[a]) for a in spatial if not contraction.uses(panel, a)]
    panels = [column, *repeating] if plan.outermost else [*repeating, column]
    reduce = [sch.rv(loop) for loop in contraction.k_loops.values()]
    outer = [*row_blocks, *first, *panels, *others, *rows[:1]]
    sch.reorder(*outer, *reduce, *rows[1:], vector, lane)
    for loop in (*rows[1:], vector):
        sch.unroll(loop)
    sch.vectorize(lane)
    steps = contraction.extent(contraction.k[-1]).constant
    work = plan.tile.rows * plan.tile.vectors
    if len(reduce) > 1 and steps is not None and steps * work <= MOST_UNROLLED_STEPS:
        is_short, name = steps * work <= UNROLLED_STEPS, contraction.block.block_name.data
        if sch.decide(f"{name}.unroll", int(is_short), lambda: (0, 1)):
            sch.unroll(reduce[-1])
    return sch.loop(outer[-1]), sch.loop(column)


@dataclass(frozen=True)
class _RightOperand:
    """The right operand, for all copies of a block: the position of its load, and the dim of n."""

    number: int
    dim: int | None

    @staticmethod
    def of(contraction: Contraction) -> _RightOperand:
        load = contraction.rhs[0]
        return _RightOperand(
            list(contraction.block.body.block.ops).index(load), column_dim(contraction, load)
        )


def _pack(
    sch: Schedule,
    blocks: Sequence[tir.BlockOp],
    rhs: _RightOperand,
    loop: tir.ForOp,
    lanes: int,
) -> None:
    """Pack the columns of an iteration of `loop` into a contiguous panel before its uses."""
    panel, place = _copy_of(sch, blocks, rhs)
    buffer = panel.write_buffers[0]
    assert isinstance(buffer.type, tir.BufferType)
    order = IndexMap.of(lambda e: [*e[:place], *e[place + 1 :], e[place]], buffer.type.rank)
    sch.transform_layout(sch.rv(panel), ("write", 0), order)
    # if `compute_at` is refused, all panels are packed before the loops
    is_inside = bool(sch.decide(f"{panel.block_name.data}.inside", 1, lambda: (0, 1)))
    is_inside = is_inside and sch.applies(sch.compute_at, sch.rv(panel), sch.rv(loop))
    compact_scratch(sch, panel.write_buffers[0])
    made = loops_between(panel, loop) if is_inside else loops_around(panel)
    vectorize_copy(sch, panel, made, lanes)


def _pack_rest(
    sch: Schedule, blocks: Sequence[tir.BlockOp], rhs: _RightOperand, plan: Plan
) -> None:
    """Pack the remainder of the columns, padded to whole vectors."""
    panel, place = _copy_of(sch, blocks, rhs)
    buffer = panel.write_buffers[0]
    assert isinstance(buffer.type, tir.BufferType)
    columns = buffer.type.dims[place].constant
    assert columns is not None
    start = columns // plan.width * plan.width
    width = -(-(columns - start) // plan.lanes) * plan.lanes
    others = [e for dim, e in enumerate(buffer.type.dims) if dim != place]
    places = IndexMap.of(
        lambda e: [*e[:place], *e[place + 1 :], e[place] - start], buffer.type.rank
    )
    shape = [*others, IntExpr.of(width)]
    sch.transform_layout(
        sch.rv(panel), ("write", 0), places, assume_injective_transform=True, shape=shape
    )
    vectorize_copy(sch, panel, loops_around(panel), plan.lanes)


def _copy_of(
    sch: Schedule, blocks: Sequence[tir.BlockOp], rhs: _RightOperand
) -> tuple[tir.BlockOp, int]:
    """Copy the right operand for `blocks`; returns the copying block and the operand's dim of n."""
    load = list(blocks[0].body.block.ops)[rhs.number]
    assert isinstance(load, tir.LoadOp) and rhs.dim is not None
    number = list(blocks[0].read_buffers).index(load.buffer)
    readers: list[BlockRV | str] = [sch.rv(block) for block in blocks]
    return sch.block(sch.cache_read(readers[0], number, "global", readers)), rhs.dim

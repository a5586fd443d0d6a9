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

What uses the result element by element takes the place of the last statement. `W` is read where it
is if that takes less time than a panel and its copy. The loop over `k` has no conditions: rows and
columns that make up no tile have smaller ones of their own (see `loop_trim`), and if it is not
known how many there are, rows of the last tile that do not exist repeat one that does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import enclosing
from ..blocks import ScheduleError, blocks_in, loops_around, uses_of
from ..cache import cache_read, cache_write
from ..compact import compact_buffer
from ..compute_at import compute_at, reverse_compute_at
from ..drop_predicates import drop_predicates
from ..layout import transform_layout
from ..loops import reorder, set_kind, split
from ..reduction import decompose_reduction
from .cache_blocks import CacheBlocks, nest_blocks
from .contraction_plan import Plan, is_near, plan_of
from .dots import tile_dots
from .few_rows import FewRows, few_rows
from .products import Product, column_dim, product_of
from .rest import trim_inside, whole_and_rest
from .strides import drives
from .tiles import is_sped_by_rows
from .turned import write_back_turned
from .versions import split_by_count, split_rows
from .write_back import is_element_wise, is_light, vectorize_copy, vectorize_tile

UNROLLED_STEPS = 128
"""The most multiplications in the body of the innermost loop if that is unrolled."""


def tile_contractions(func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every contraction of the function, if its columns are neighbours or get so."""
    for block in blocks_in(func):
        product = product_of(block)
        plan = None if product is None else plan_of(product, target)
        if plan is not None:
            for version in _versions(plan, target):
                _apply(version)


def _versions(plan: Plan, target: Target) -> list[Plan]:
    """Plans for full tiles, and for the rows left, where it is not known how many rows there are.

    Those left are divided again while a lower tile would take less time.
    """
    product, row = plan.product, plan.row
    few = few_rows(plan, target)
    if few is not None:
        return _versions_by_count(plan, few)
    if row is None or plan.packs or plan.blocks or product.extent(row).constant is not None:
        return [plan]
    if not is_near(product, target) or not is_sped_by_rows(plan.tile):
        return [plan]
    consumer = _consumer(product) or cache_write(product.block, 0, "global")
    if not is_light(consumer):  # what it does to the rows takes longer to compile, and to run
        return [plan]
    parts = split_rows(_again(product.block), row, consumer, plan.tile.rows)
    plans = [plan_of(_again(block), target) for block in parts or (product.block,)]
    found = [p for p in plans if p is not None]
    return [*found[:1], *(version for p in found[1:] for version in _versions(p, target))]


def _versions_by_count(plan: Plan, few: FewRows) -> list[Plan]:
    """Plans for few rows and for many, unless what uses the results takes long to compile."""
    product, row = plan.product, plan.row
    consumer = _consumer(product) or cache_write(product.block, 0, "global")
    if row is None or not is_light(consumer):
        return [plan]
    parts = split_by_count(_again(product.block), row, consumer, few.limit)
    if parts is None:
        return [plan]
    return [replace(p, product=_again(b)) for p, b in zip((few.plan, plan), parts, strict=True)]


def _again(block: tir.BlockOp) -> Product:
    """The product of a block that is known to be one."""
    product = product_of(block)
    assert product is not None
    return product


def _apply(plan: Plan) -> None:
    """Carry out a plan; steps that this block does not allow leave a worse but right schedule."""
    if plan.blocks is not None and plan.row is not None:
        _apply_blocks(plan, plan.row, plan.blocks)
        return
    product = plan.product
    consumer = _consumer(product)
    if plan.is_dot and plan.row is not None:
        light = consumer if consumer is not None and is_light(consumer) else None
        tile_dots(product, plan.row, plan.tile, light)
        return
    moving = _Moving.of(product)
    rows, columns = _tile_loops(plan)
    if plan.is_turned:
        write_back_turned(product, rows, plan.tile, plan.lanes)
    else:
        _write_back(product.block, consumer, rows, plan)
    _compact(product.block.write_buffers[0])
    if plan.row is not None:
        whole_and_rest(rows, product.extent(plan.row), plan.tile.rows)
    if plan.packs:
        _pack(_sums(columns), moving, columns, plan.lanes)
    parts = whole_and_rest(columns, product.extent(product.column), plan.width)
    for part in parts:
        trim_inside(part)
    if plan.packs_rest and len(parts) > 1:
        _pack_rest(_sums(parts[-1]), moving, plan)
    for part in parts:
        if plan.is_turned:  # there is room for whole vectors
            for block in blocks_in(part):
                if block.init is None:
                    _drop_predicates(block)
        for block in _sums(part):
            _finish_tile(block)


def _sums(loop: tir.ForOp) -> list[tir.BlockOp]:
    """The blocks in a loop that add something up."""
    return [block for block in blocks_in(loop) if block.init is not None]


def _apply_blocks(plan: Plan, row: int, blocks: CacheBlocks) -> None:
    """Carry out a plan with blocks for the caches."""
    product, consumer = plan.product, _consumer(plan.product)
    moving = _Moving.of(product)
    nest = nest_blocks(product, row, plan.tile, plan.lanes, blocks)
    if consumer and nest.results and _move(consumer, nest.results, plan, False):
        _compact(product.store.buffer)
    decompose_reduction(product.block, nest.steps)
    if plan.packs:
        _pack([nest.product.block], moving, nest.columns, plan.lanes)
    _finish_tile(nest.product.block)
    _drop_predicates(product.block)  # if it works on scratch memory


def _finish_tile(block: tir.BlockOp) -> None:
    """Let a block keep its sums in a tile, and start them in front of their steps."""
    _compact(block.write_buffers[0])
    _drop_predicates(block)
    reduce = [loop for loop in loops_around(block) if "reduce" in drives(loop, block)]
    decompose_reduction(block, reduce[0])


def _drop_predicates(block: tir.BlockOp) -> None:
    with suppress(ScheduleError):  # the block keeps its conditions then
        drop_predicates(block)


def _tile_loops(plan: Plan) -> tuple[tir.ForOp, tir.ForOp]:
    """Split and order the loops; returns those over tiles of rows and of columns."""
    product, lanes = plan.product, plan.lanes
    column, vector, lane = split(product.loops[product.column], [None, plan.tile.vectors, lanes])
    rows = [] if plan.row is None else split(product.loops[plan.row], [None, plan.tile.rows])
    (panel,) = product.moving[:1]
    spatial = [
        axis
        for axis, kind in enumerate(product.block.axis_kinds)
        if kind == "spatial" and axis in product.loops and axis not in (plan.row, product.column)
    ]
    repeating = [product.loops[a] for a in spatial if product.uses(panel, a)]
    others = [product.loops[a] for a in spatial if not product.uses(panel, a)]
    reduce = list(product.reduce_loops.values())
    outer = [*repeating, column, *others, *rows[:1]]
    reorder([*outer, *reduce, *rows[1:], vector, lane])
    for loop in (*rows[1:], vector):
        set_kind(loop, "unrolled")
    set_kind(lane, "vectorized")
    steps = product.extent(product.reduce[-1]).constant
    work = plan.tile.rows * plan.tile.vectors
    if len(reduce) > 1 and steps is not None and steps * work <= UNROLLED_STEPS:
        set_kind(reduce[-1], "unrolled")
    return outer[-1], column


def _consumer(product: Product) -> tir.BlockOp | None:
    """The block that uses the result element by element, if it is the only use."""
    buffer = product.store.buffer
    if not isinstance(buffer.owner, tir.AllocBufferOp):
        return None
    uses = uses_of(buffer)
    users = {enclosing(op, tir.BlockOp) for op in uses.loads} - {product.block}
    if uses.others or len(users) != 1:
        return None
    user = users.pop()
    return user if user is not None and is_element_wise(user, product) else None


def _write_back(
    block: tir.BlockOp, consumer: tir.BlockOp | None, loop: tir.ForOp, plan: Plan
) -> None:
    """Finish each tile in its iteration of `loop`: what uses the result, or a copy of it."""
    if consumer is not None and is_light(consumer) and _move(consumer, loop, plan, True):
        return
    copy = cache_write(block, 0, "global")
    _move(copy, loop, plan, True)
    if consumer is not None and _move(consumer, loop, plan, False):
        _compact(copy.write_buffers[0])


def _move(block: tir.BlockOp, loop: tir.ForOp, plan: Plan, is_unrolled: bool) -> bool:
    try:
        made = reverse_compute_at(block, loop)
    except ScheduleError:
        return False
    vectorize_tile(block, made, plan.lanes, is_unrolled)
    return True


@dataclass(frozen=True)
class _Moving:
    """What moves with the columns, in each part of a block: the operation, and the columns' dim."""

    number: int
    dim: int | None

    @staticmethod
    def of(product: Product) -> _Moving:
        load = product.moving[0]
        return _Moving(list(product.block.body.block.ops).index(load), column_dim(product, load))


def _pack(blocks: Sequence[tir.BlockOp], moving: _Moving, loop: tir.ForOp, lanes: int) -> None:
    """Copy the columns of an iteration of `loop`, as neighbours, in front of what uses them."""
    panel, place = _copy_of(blocks, moving)
    transform_layout(
        panel, panel.write_buffers[0], lambda e: [*e[:place], *e[place + 1 :], e[place]]
    )
    try:
        made = compute_at(panel, loop)
    except ScheduleError:  # all panels are made in front of the loops then
        made = loops_around(panel)
    _compact(panel.write_buffers[0])
    vectorize_copy(panel, made, lanes)


def _pack_rest(blocks: Sequence[tir.BlockOp], moving: _Moving, plan: Plan) -> None:
    """Copy the columns that make up no tile, into vectors that are whole."""
    panel, place = _copy_of(blocks, moving)
    buffer = panel.write_buffers[0]
    assert isinstance(buffer.type, tir.BufferType)
    columns = buffer.type.dims[place].constant
    assert columns is not None
    start = columns // plan.width * plan.width
    width = -(-(columns - start) // plan.lanes) * plan.lanes
    others = [e for dim, e in enumerate(buffer.type.dims) if dim != place]
    transform_layout(
        panel,
        buffer,
        lambda e: [*e[:place], *e[place + 1 :], e[place] - start],
        [*others, IntExpr.of(width)],
        assume_injective=True,
    )
    vectorize_copy(panel, loops_around(panel), plan.lanes)


def _copy_of(blocks: Sequence[tir.BlockOp], moving: _Moving) -> tuple[tir.BlockOp, int]:
    """A block that copies what moves with the columns for others, and the columns' dim."""
    load = list(blocks[0].body.block.ops)[moving.number]
    assert isinstance(load, tir.LoadOp) and moving.dim is not None
    number = list(blocks[0].read_buffers).index(load.buffer)
    return cache_read(blocks[0], number, "global", blocks), moving.dim


def _compact(buffer: SSAValue) -> None:
    if isinstance(buffer.owner, tir.AllocBufferOp):
        with suppress(ScheduleError):  # what other iterations use as well stays as it is
            compact_buffer(buffer.owner)

"""The default schedule of attention: all stages of a block of queries in the caches.

::

    S = Q * K;  P = softmax(S);  Y = P * V

⇒

    for each head:
      K and V are copied into panels
      for block of queries:
        for panel of keys, tile of queries: S[i, j] = sum of Q * K, scaled and masked
        for i: P[i, j] = exp(S[i, j] - max of S[i, :]), and its sum
        for panel of values, tile of queries: Y[i, d] = sum of P * V, over the sum of P

The two contractions are tiled as others are, see `contraction`. Memory for `S` and `P` is that of a
block of queries and all keys, so it grows with the length and not with its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm, prod

from xdsl.dialects import scf

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, IntExpr
from ....dialects.nesting import operations_in
from ...analysis.block_accesses import dim_axes
from ..blocks import (
    blocks_in,
    iterator_kinds,
    loop_of,
    loops_between,
    only_reader,
    plain_loops,
)
from ..primitives.schedule import Schedule
from .contraction import finish_tiles
from .loop_partition import peel_remainder, trim_remainder
from .match_contraction import Contraction, contraction_of
from .operand_panels import Panels
from .plan_choices import decide_tile
from .storage import compact_scratch
from .tiles import Tile
from .write_back import move_into

MOST_QUERIES = 64
"""The most queries in a block: more of them take memory, fewer load panels more often."""

MOST_MASKED_QUERIES = 32
"""The most queries in a block behind a mask: a block computes what the last of them sees."""

HEADS = 8
"""The least heads that occupy the threads. With fewer, the panels of all are copied first, so that
threads share the blocks of queries."""

CACHE_SHARE = 2
"""The part of the second cache, as a divisor, that a block's products may take."""


@dataclass(frozen=True)
class _Stages:
    """The contractions of a kernel of attention, and the blocks between and after them."""

    scores: Contraction
    between: list[tir.BlockOp]
    """Computes the left operand of the second contraction from the results of the first."""
    values: Contraction
    after: list[tir.BlockOp]
    """What the last block needs besides, such as the sums of rows."""
    last: tir.BlockOp
    """Computes the results from those of the second contraction."""

    @property
    def pairs(self) -> int:
        """The keys in a step of the second contraction: two if operands are words of bf16."""
        return 1 + any(isinstance(op, tir.BFDotOp) for op in operations_in(self.values.block))


def tile_attention(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Schedule pairs of contractions with rows of softmax between them."""
    for block in blocks_in(func):
        stages = _match(sch, func, block)
        if stages is not None:
            _schedule(sch, stages, target)


def _match(sch: Schedule, func: tir.PrimFuncOp, block: tir.BlockOp) -> _Stages | None:
    """The stages around the second contraction."""
    values = contraction_of(block)
    if values is None or len(values.lhs) != 1:
        return None
    if dim_axes(block, values.lhs[0])[-2:] != [*values.m, *values.k] or not _has_loops(values):
        return None
    needed = _producers(func, block)
    found = [c for b in needed if (c := contraction_of(b)) is not None and _has_loops(c)]
    if len(found) != 1:
        return None
    (scores,) = found
    last = _user_of(block)
    while last is not None and (after := _user_of(last)) is not None:
        if not sch.applies(sch.compute_inline, sch.rv(last)):
            return None
        last = after
    if last is None:
        return None
    needed = _producers(func, last)
    before = _producers(func, block)
    needed = [b for b in needed if scores.block in _producers(func, b) and b is not block]
    between, after = ([b for b in needed if (b in before) == is_before] for is_before in (1, 0))
    return _Stages(scores, between, values, after, last)


def _has_loops(contraction: Contraction) -> bool:
    """Whether a contraction of two operands has one loop for each of m, n and k.

    n and k must be indices of the right operand, which is then copied into panels.
    """
    axes = (*contraction.m, contraction.n, *contraction.k)
    if len(axes) != 3 or len(contraction.lhs) != 1 or len(contraction.rhs) != 1:
        return False
    dims = dim_axes(contraction.block, contraction.rhs[0])
    has_all = all(a in contraction.loops and contraction.extent(a) != ONE for a in axes)
    return has_all and all(a in dims for a in axes[1:])


def _producers(func: tir.PrimFuncOp, block: tir.BlockOp) -> list[tir.BlockOp]:
    """The blocks that compute what a block needs, in order."""
    needed: list[tir.BlockOp] = []
    for other in reversed(blocks_in(func)):
        buffers = {b for user in (block, *needed) for b in user.read_buffers}
        if other is not block and buffers & set(other.write_buffers):
            needed.append(other)
    return needed[::-1]


def _user_of(block: tir.BlockOp) -> tir.BlockOp | None:
    """The block that alone loads what a block stores, without a reduction."""
    user = only_reader(block.write_buffers[0], block) if len(block.write_buffers) == 1 else None
    return None if user is None or user.init is not None else user


def _schedule(sch: Schedule, stages: _Stages, target: Target) -> None:
    """Nest the stages in a loop over blocks of queries, and tile the contractions there."""
    scores, values, last = stages.scores, stages.values, stages.last
    loops, place = plain_loops(last), _place_of(values, last)
    lanes = target.lanes(max(scores.element_bits, values.element_bits))
    if loops is None or place is None or lanes < 2 or not loops.keys() >= set(place):
        return
    first, second = (decide_tile(sch, c, lanes, target) for c in (scores, values))
    size = _decide_queries(sch, stages, first, second, target)
    if size == 1:
        return
    row, column = (loops[axis] for axis in place)
    outer = [op for axis, op in loops.items() if axis not in place]
    sch.reorder(*map(sch.rv, outer), sch.rv(row), sch.rv(column))
    panels = [Panels.of(sch, c, t, lanes) for c, t in ((scores, first), (values, second))]
    queries, _ = sch.strip_mine(sch.rv(row), size)
    block, head = sch.loop(queries), _loop_of_copies(sch, outer, stages)
    group = lcm(first.vectors * lanes, lanes * stages.pairs)
    for stage in (*stages.after[::-1], values.block, *stages.between[::-1]):
        sch.compute_at(sch.rv(stage), queries)
        _skip_hidden(sch, stage, block, group // stages.pairs if stage is values.block else group)
    sch.compute_at(sch.rv(scores.block), queries)
    for copy in panels:
        copy.nest(sch, head, lanes)
    tiled = [
        _tile(sch, values, second, lanes, block, last),
        _tile(sch, scores, first, lanes, block, stages.between[0]),
    ]
    for stage in (*stages.between, *stages.after):
        compact_scratch(sch, stage.write_buffers[0])
    for tiles in tiled:
        tiles.finish(sch)


def _decide_queries(
    sch: Schedule, stages: _Stages, first: Tile, second: Tile, target: Target
) -> int:
    """The queries in a block, a multiple of both tiles' rows."""
    default, step = _queries(stages, first, second, target), lcm(first.rows, second.rows)
    sizes = range(step, max(_most_queries(stages), step) + 1, step)
    name = stages.scores.block.block_name.data
    return default if default == 1 else sch.decide(f"{name}.queries", default, lambda: sizes)


def _loop_of_copies(sch: Schedule, outer: Sequence[tir.ForOp], stages: _Stages) -> tir.ForOp | None:
    """The loop over heads, for whose iterations panels are copied, unless threads share blocks."""
    heads = [loop.extent.data.constant for loop in outer]
    is_many = bool(heads) and (None in heads or prod(h or 1 for h in heads) >= HEADS)
    name, choices = f"{stages.scores.block.block_name.data}.copies", (0, 1) if heads else ()
    return outer[-1] if sch.decide(name, int(is_many), lambda: choices) else None


def _skip_hidden(sch: Schedule, block: tir.BlockOp, around: tir.ForOp, group: int) -> None:
    """Sum over keys in groups that no query of a block hides by a mask."""
    loops = loops_between(block, around)
    keys = [op for op in loops if "reduce" in iterator_kinds(op, block)]
    others = [op for op in loops if op not in keys]
    if keys and sch.applies(sch.reorder, *map(sch.rv, (*keys, *others))):
        sch.applies(sch.skip_padding, sch.rv(keys[0]), group)  # refused without a mask
        sch.reorder(*map(sch.rv, (*others, *keys)))


def _tile(
    sch: Schedule,
    contraction: Contraction,
    tile: Tile,
    lanes: int,
    around: tir.ForOp,
    consumer: tir.BlockOp,
) -> _Tiles:
    """Tile a contraction in a loop over blocks of queries, and compute what follows each tile.

    A reduction, such as the maximum of scores that need no scaling, follows all tiles.
    """
    block = contraction.block
    made = loops_between(block, around)
    row, column, step = (
        loop_of(block, axis, made) for axis in (*contraction.m, contraction.n, *contraction.k)
    )
    assert row is not None and column is not None and step is not None
    rows, line = sch.split(sch.rv(row), [None, tile.rows])
    panel, vector, lane = sch.split(sch.rv(column), [None, tile.vectors, lanes])
    sch.reorder(panel, rows, sch.rv(step), line, vector, lane)
    for loop in (line, vector):
        sch.unroll(loop)
    sch.vectorize(lane)
    if consumer.init is None:
        is_short = not any(op.name.startswith("math.") for op in operations_in(consumer))
        move_into(sch, consumer, sch.loop(rows), lanes, is_short)
    sch.applies(sch.skip_padding, sch.rv(step))  # what is hidden from all queries of a tile
    compact_scratch(sch, block.write_buffers[0])
    width = tile.vectors * lanes
    return _Tiles(
        sch.loop(rows), row.extent.data, tile.rows, sch.loop(panel), column.extent.data, width
    )


@dataclass(frozen=True)
class _Tiles:
    """The loops over tiles of rows and of columns, with the number of rows and columns in each."""

    rows: tir.ForOp
    row_count: IntExpr
    height: int
    panel: tir.ForOp
    column_count: IntExpr
    width: int

    def finish(self, sch: Schedule) -> None:
        """Peel tiles that are not whole, and keep sums in registers."""
        peel_remainder(sch, self.rows, self.row_count, self.height)
        for part in peel_remainder(sch, self.panel, self.column_count, self.width):
            trim_remainder(sch, part)
            finish_tiles(sch, part)


def _place_of(values: Contraction, last: tir.BlockOp) -> tuple[int, int] | None:
    """The axes of the last block that index rows and columns of the second contraction."""
    dims = dim_axes(values.block, values.store)
    loads = [op for op in operations_in(last) if isinstance(op, tir.LoadOp)]
    row_dim, column_dim = (dims.index(axis) for axis in (*values.m, values.n))
    found = [dim_axes(last, op) for op in loads if op.buffer is values.store.buffer]
    places = {(axes[row_dim], axes[column_dim]) for axes in found}
    ((row, column), *more) = places
    return None if more or row is None or column is None else (row, column)


def _most_queries(stages: _Stages) -> int:
    """The most queries in a block: fewer if scores have a condition, which is that of a mask."""
    is_masked = any(isinstance(op, scf.IfOp) for op in operations_in(stages.between[0]))
    return MOST_MASKED_QUERIES if is_masked else MOST_QUERIES


def _queries(stages: _Stages, first: Tile, second: Tile, target: Target) -> int:
    """The queries in a block: a multiple of both tiles' rows, so that blocks are about equal."""
    scores, step = stages.scores, lcm(first.rows, second.rows)
    queries, keys = (scores.extent(axis).constant for axis in (*scores.m, scores.n))
    room = target.caches.l2 // CACHE_SHARE // ((keys or 1) * scores.element_bits // 8)
    most = max(min(_most_queries(stages), room) // step, 1) * step
    if queries is None:
        return most
    divisors = (size for size in range(most, most // 3, -step) if queries % size == 0)
    blocks = -(-queries // most)
    return next(divisors, -(-queries // (blocks * step)) * step)

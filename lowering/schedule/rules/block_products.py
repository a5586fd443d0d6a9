"""The default schedule of sums of blocks of products, such as those of weights with block scales.

::

    for i, b, j, k: P[i, b, j] += X[i, b, k] * W[b, k, j]
    for i, j, b: Y[i, j] += P[i, b, j] * S[b, j]

⇒

    for j0, i0:
      for b:
        for k unrolled, i unrolled, j vectorized: P[i, j] += X[…] * W[…]
        for i unrolled, j vectorized: T[i, j] += P[i, j] * S[…]
      for i, j: Y[i0 * 8 + i, j0 * 16 + j] = T[i, j]

Both sums of a tile are in registers, and weights are unpacked once for all of its rows. If the
number of rows is symbolic, those that do not fill a tile are computed one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ZERO
from ....dialects.nesting import operations_in
from ....dialects.sym import exprs_of
from ...analysis.block_accesses import dim_axes
from ...equal_parts import largest_divisor
from ..blocks import blocks_in, loop_of, loops_between, only_reader, only_writer
from ..primitives.random_variables import BlockRV
from ..primitives.schedule import Schedule
from .contraction import finish_tiles
from .contraction_plan import count_of
from .loop_partition import peel_remainder, trim_remainder
from .match_contraction import Contraction, contraction_of
from .storage import compact_scratch
from .write_back import consumer_of, copy_results, write_back

MOST_VECTORS = 4
"""The most vectors of a panel."""

MOST_STEPS = 128
"""The most products of a block, which are unrolled."""

ROWS_OF_PANELS = 8
"""The rows of a tile of one panel, from which one of two panels and half of the rows is as good."""

VECTORS_OF_RESULT, VECTORS_OF_DIGIT = 2, 2
"""Registers for each vector of results, and of what they are sums of: the sum, and an operand."""


@dataclass(frozen=True)
class _Sums:
    """A sum over blocks, and the sum inside of each."""

    outer: Contraction
    inner: Contraction
    axes: list[int | None]
    """The axes of the outer sum by dims of the inner one."""
    rows: int | None
    """The axis of the outer sum that a tile has rows of."""
    digits: int
    """Elements of the inner sum for each of the outer one's."""
    width: int
    """Columns whose elements of the right operand follow each other."""


def tile_block_products(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Schedule pairs of sums, of which one is over the other."""
    for block in blocks_in(func):
        sums = _match(block)
        if sums is not None:
            for version in _versions(sch, sums, target):
                _schedule(sch, version, target)


def _match(block: tir.BlockOp) -> _Sums | None:
    """The sums, if the outer one uses each element of the inner one once."""
    outer = contraction_of(block)
    if outer is None or len(outer.k_loops) != 1:
        return None
    for load in outer.rhs:
        writer = only_writer(load.buffer)
        inner = None if writer is None else contraction_of(writer)
        if inner is None or only_reader(load.buffer, inner.block) is not block:
            continue
        steps, axes = count_of(inner, inner.k), _axes_of_loads(outer, inner)
        if axes is None or steps is None or steps > MOST_STEPS:
            continue
        rows = [axis for axis in outer.m if axis in outer.loops]
        digits = [inner.extent(i).constant or 1 for i, axis in enumerate(axes) if axis is None]
        return _Sums(outer, inner, axes, rows[-1] if rows else None, prod(digits), _width(inner))
    return None


def _axes_of_loads(outer: Contraction, inner: Contraction) -> list[int | None] | None:
    """The axes of the outer sum that index the dims of the inner one; others are constant.

    `None` unless these are all axes, the same for each load, and columns are those of both.
    """
    own = dim_axes(inner.block, inner.store)
    loads = [op for op in outer.rhs if op.buffer is inner.store.buffer]
    found = [dim_axes(outer.block, op) for op in loads]
    axes = found[0]
    used = [axis for axis in axes if axis is not None]
    constant = [exprs_of(op.indices)[d] for op in loads for d, a in enumerate(axes) if a is None]
    if any(f != axes for f in found) or any(index.args() for index in constant):
        return None
    is_whole = sorted(used) == list(range(len(outer.block.axes))) and own == list(range(len(own)))
    return axes if is_whole and axes[inner.n] == outer.n else None


def _width(inner: Contraction) -> int:
    """The extent of the last dim of the right operand, along which columns follow each other."""
    widths: list[int] = []
    for load in inner.rhs:
        assert isinstance(load.buffer.type, tir.BufferType)
        widths.append(load.buffer.type.dims[-1].constant or 0)
    return min(widths)


def _tile(sums: _Sums, target: Target) -> tuple[int, int, int]:
    """Rows, vectors and lanes of a tile; no lanes if vectors do not fit the right operand."""
    lanes = target.lanes(sums.outer.element_bits)
    if lanes < 2 or sums.width % lanes or not sums.width:
        return 1, 1, 0
    vectors = _vectors_of_panel(sums, lanes)
    results = VECTORS_OF_RESULT + VECTORS_OF_DIGIT * sums.digits
    rows = max(target.vector_registers // (results * vectors), 1)
    if vectors == 1 and rows >= ROWS_OF_PANELS and _is_dot(sums):
        # A dot product loads the word of its row: two panels share it.
        return rows // 2, 2, lanes
    return rows, vectors, lanes


def _vectors_of_panel(sums: _Sums, lanes: int) -> int:
    return largest_divisor(sums.width // lanes, MOST_VECTORS) or 1


def _is_dot(sums: _Sums) -> bool:
    return any(isinstance(op, tir.DotOp) for op in operations_in(sums.inner.block))


def _versions(sch: Schedule, sums: _Sums, target: Target) -> list[_Sums]:
    """The sums, or those of whole tiles and of the remaining rows if their number is symbolic."""
    rows, _, lanes = _tile(sums, target)
    if sums.rows is None or sums.outer.extent(sums.rows).constant is not None or not lanes:
        return [sums]
    outer = sums.outer.block
    loop = sums.inner.loops[sums.axes.index(sums.rows)]
    consumer = consumer_of(sums.outer) or copy_results(sch, outer)
    chain: list[BlockRV | str] = [sch.rv(outer), sch.rv(consumer)]
    parts = sch.try_(sch.peel, sch.rv(sums.inner.block), sch.rv(loop), rows, chain)
    if parts is None:
        return [found for found in [_match(outer)] if found is not None]
    users = [only_reader(b.write_buffers[0], b) for b in map(sch.block, parts)]
    found = [_match(user) for user in users if user is not None]
    return [f for f in found if f is not None]


def _schedule(sch: Schedule, sums: _Sums, target: Target) -> None:
    """Tile the outer sum, and compute the inner one in it for each block."""
    outer, inner = sums.outer, sums.inner
    rows, vectors, lanes = _tile(sums, target)
    if not lanes:
        return
    count = None if sums.rows is None else outer.extent(sums.rows)
    if count is None or (count.constant is None and count % rows != ZERO):
        rows = 1
    else:
        rows = min(rows, count.constant or rows)
    if rows == 1:
        vectors = _vectors_of_panel(sums, lanes)
    consumer = consumer_of(outer)
    (depth,) = map(sch.rv, outer.k_loops.values())
    panel, vector, lane = sch.split(sch.rv(outer.loops[outer.n]), [None, vectors, lanes])
    others = [
        sch.rv(loop)
        for axis, loop in outer.loops.items()
        if axis not in (sums.rows, outer.n, *outer.k)
    ]
    around, line = [panel, *others], []
    if sums.rows is not None:
        first, *line = sch.split(sch.rv(outer.loops[sums.rows]), [None, rows])
        around.append(first)
    sch.reorder(*around, depth, *line, vector, lane)
    for loop in (*line, vector):
        sch.unroll(loop)
    sch.vectorize(lane)
    write_back(sch, outer.block, consumer, sch.loop(around[-1]), lanes)
    _compute_blocks(sch, inner, sch.loop(depth), lanes)
    for block in (outer.block, inner.block):
        compact_scratch(sch, block.write_buffers[0])
    if count is not None:
        peel_remainder(sch, sch.loop(around[-1]), count, rows)
    for part in peel_remainder(sch, sch.loop(panel), outer.extent(outer.n), vectors * lanes):
        trim_remainder(sch, part)
        finish_tiles(sch, part)


def _compute_blocks(sch: Schedule, inner: Contraction, depth: tir.ForOp, lanes: int) -> None:
    """Compute the inner sum for each block, in registers."""
    block = inner.block
    sch.compute_at(sch.rv(block), sch.rv(depth))
    own = loops_between(block, depth)
    column = loop_of(block, inner.n, own)
    assert column is not None
    steps = [loop for axis in inner.k if (loop := loop_of(block, axis, own)) is not None]
    rows = [loop for loop in own if loop is not column and loop not in steps]
    *vector, lane = [sch.rv(column)]
    if column.extent.data.constant != lanes:
        *vector, lane = sch.split(lane, [None, lanes])
    inside = [*map(sch.rv, (*steps, *rows)), *vector]
    sch.reorder(*inside, lane)
    for loop in inside:
        sch.unroll(loop)
    sch.vectorize(lane)

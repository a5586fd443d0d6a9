"""Sums along what both operands have as neighbours, in tiles of rows and columns.

::

    for i, j, k: Y[i, j] += X[i, k] * W[j, k]

⇒

    for j0:
      for i0:
        for k vectorized:
          for i unrolled, j unrolled: Y[i0 * 4 + i, j0 * 6 + j] += X[…, k] * W[…, k]

Nothing is copied, and no lane is idle but in the last vector of a sum. Rows and columns that make
up no tile have smaller ones.
"""

from __future__ import annotations

from math import inf, prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE
from ...costs import LATENCY, total_cycles
from ..blocks import loops_between
from ..kinds import is_accumulation
from ..primitives.schedule import Schedule
from .match_contraction import Contraction, step_along
from .remainders import peel_remainder, trim_remainder
from .tiles import LONG, SPARE_REGISTERS, Tile, parts_of

LOADED = 1.2
"""Cycles for each vector of a step: it starts anywhere, and is in two lines of the cache."""

SECOND, FAR = 0.8, 1.3
"""Cycles that it takes besides where the second cache has room for it, and where that has not."""


def choose_inner_products(
    contraction: Contraction, m: int, lanes: int, target: Target
) -> tuple[float, Tile]:
    """Cycles of sums along the last loop of the reduction, and their best tile, of columns.

    The cycles are infinite where that cannot be; a tile has one column if nobody knows how many
    there are.
    """
    last, none = contraction.k[-1], (inf, Tile(1, 1, inf))
    if any(
        step_along(contraction, load, last) != ONE for load in (*contraction.rhs, *contraction.lhs)
    ):
        return none
    rows, known = (contraction.extent(a).constant for a in (m, contraction.n))
    if not rows or known == 0 or not is_accumulation(contraction.block):
        return none
    columns, widest = known or LONG, known or 1
    *repeats, length = (contraction.extent(a).constant or LONG for a in contraction.k)
    depth, steps = length * prod(repeats), -(-length // lanes) * prod(repeats)
    others = prod(contraction.extent(a).constant or 1 for a in contraction.m if a != m)
    far_rows, far_columns = (
        _missed(count * depth * contraction.element_bits // 8, target) for count in (rows, columns)
    )

    def tile_cycles(height: int, width: int, tiles: int) -> float:
        # Columns stay in the first cache while all tiles of rows are computed.
        missed = height * (far_rows if tiles > 1 else 0.0) + width * far_columns / tiles
        loads = LOADED * (height + width) + missed
        step = max(height * width / 2, loads, LATENCY)
        return steps * step + height * width * total_cycles(lanes)

    def cycles(height: int, width: int) -> float:
        tiles = -(-rows // height)
        return sum(
            n * m * tile_cycles(h, w, tiles)
            for h, n in parts_of(rows, height)
            for w, m in parts_of(columns, width)
        )

    most = target.vector_registers - SPARE_REGISTERS
    spent, height, width = min(
        (cycles(h, w), h, w)
        for h in range(1, min(rows, most) + 1)
        for w in range(1, min(widest, most) + 1)
        if h * w + min(h, w) <= most
    )
    return others * spent, Tile(height, width, spent / (rows * columns * depth))


def _missed(nbytes: int, target: Target) -> float:
    """Cycles that a vector of so many bytes takes because the first cache has no room for them."""
    if nbytes <= target.caches.l1 // 2:
        return 0.0
    return SECOND if nbytes <= target.caches.l2 else FAR


def tile_inner_products(
    sch: Schedule, contraction: Contraction, m: int, tile: Tile, consumer: tir.BlockOp | None
) -> None:
    """Let each iteration of a loop in lanes add to all sums of a tile.

    These are stored when they are complete, or given to what uses them element by element.
    """
    outer = [
        sch.rv(contraction.loops[axis])
        for axis, kind in enumerate(contraction.block.axis_kinds)
        if kind == "spatial" and axis in contraction.loops and axis not in (m, contraction.n)
    ]
    block = sch.rv(contraction.block)
    *repeats, depth = map(sch.rv, contraction.k_loops.values())
    rows, line = sch.split(sch.rv(contraction.loops[m]), [None, tile.rows])
    columns, place = sch.split(sch.rv(contraction.loops[contraction.n]), [None, tile.vectors])
    # A vector of each in the inner loop stays in a register while the outer one goes on.
    tile_loops = [line, place] if tile.rows > tile.vectors else [place, line]
    sch.reorder(*outer, columns, rows, depth, *repeats, *tile_loops)
    user = sch.cache_write(block, 0, "global") if consumer is None else sch.rv(consumer)
    sch.reverse_compute_at(user, rows)
    made = map(sch.rv, loops_between(sch.block(user), sch.loop(rows)))
    for loop in (line, place, *made):
        sch.unroll(loop)
    if isinstance(contraction.block.write_buffers[0].owner, tir.AllocBufferOp):
        sch.compact_buffer(block, 0)
    sch.vectorize(depth)
    peel_remainder(sch, sch.loop(rows), contraction.extent(m), tile.rows)
    last = contraction.extent(contraction.n)
    for part in peel_remainder(sch, sch.loop(columns), last, tile.vectors):
        trim_remainder(sch, part)

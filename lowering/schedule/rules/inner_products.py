"""Vectorize contractions along k if both operands are contiguous along it, in tiles of results.

::

    for i, j, k: Y[i, j] += X[i, k] * W[j, k]

⇒

    for j0:
      for i0:
        for k vectorized:
          for i unrolled, j unrolled: Y[i0 * 4 + i, j0 * 6 + j] += X[…, k] * W[…, k]

Nothing is packed. Lanes are idle only in the last vector of a sum. Remainders of rows and columns
have smaller tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE
from ...cost_model import UNKNOWN_EXTENT, InnerProductCost
from ..blocks import loops_between
from ..kinds import is_accumulation
from ..primitives.schedule import Schedule
from .loop_partition import peel_remainder, trim_remainder
from .match_contraction import Contraction, step_along
from .tiles import SPARE_REGISTERS, Tile


def choose_inner_products(
    contraction: Contraction, m: int, lanes: int, target: Target
) -> Tile | None:
    """The best tile of inner products, whose vectors are columns; `cost` is for each product.

    `None` if an operand is not contiguous along the last loop of the reduction. A tile has one
    column if the number of columns is symbolic.
    """
    cost = inner_product_cost(contraction, m, lanes, target)
    if cost is None:
        return None
    tiles = inner_product_tiles(contraction, cost, target)
    return min(tiles, key=lambda tile: (tile.cost, tile.rows, tile.vectors))


def inner_product_tiles(
    contraction: Contraction, cost: InnerProductCost, target: Target
) -> Iterator[Tile]:
    """The tiles of inner products that fit in registers."""
    registers = target.vector_registers
    most = registers - SPARE_REGISTERS
    widest = contraction.extent(contraction.n).constant or 1
    return (
        Tile(h, w, cost.per_product(h, w))
        for h in range(1, min(cost.rows, most) + 1)
        for w in range(1, min(widest, most) + 1)
        if inner_product_fits(h, w, registers)
    )


def inner_product_fits(rows: int, columns: int, registers: int) -> bool:
    """Whether the accumulators of a tile and the vectors of its shorter side fit in registers."""
    return rows * columns + min(rows, columns) <= registers - SPARE_REGISTERS


def inner_product_cost(
    contraction: Contraction, m: int, lanes: int, target: Target
) -> InnerProductCost | None:
    """The cost of tiles of inner products; `None` if the contraction has no such tiles."""
    last = contraction.k[-1]
    operands = (*contraction.rhs, *contraction.lhs)
    if any(step_along(contraction, load, last) != ONE for load in operands):
        return None
    rows, known = (contraction.extent(a).constant for a in (m, contraction.n))
    if not rows or known == 0 or not is_accumulation(contraction.block):
        return None
    *repeats, length = (contraction.extent(a).constant or UNKNOWN_EXTENT for a in contraction.k)
    columns, element_bytes = known or UNKNOWN_EXTENT, contraction.element_bits // 8
    return InnerProductCost(rows, columns, length, prod(repeats), lanes, element_bytes, target)


def tile_inner_products(
    sch: Schedule, contraction: Contraction, m: int, tile: Tile, consumer: tir.BlockOp | None
) -> None:
    """Vectorize the reduction loop around an unrolled tile of sums.

    Complete sums are stored, or used by the elementwise `consumer` directly.
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
    # The vectors of the inner loop stay in registers during the outer loop.
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

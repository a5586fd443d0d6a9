"""What sums along neighbours take: in tiles of sums, or in tiles of columns that are turned before.

Sums of ``X[i, k] * W[j, k]`` need no copy, but lanes are added up at the end of each; tiles of
columns turn one of the operands, and the results if the rows are the columns of tiles.
"""

from __future__ import annotations

from math import inf, prod

from ....backend.target import Target
from ....dialects.int_expr import ONE
from ..register_tile import dot_tile
from .products import Product, dense_bytes, step_along
from .tiles import LATENCY, LONG, Tile

TURN = 5.0
"""Cycles for each vector that is turned: read along one loop and written along another."""

ADD_LANES = 20.0
"""Cycles to add up the lanes of a vector."""


def panel_cycles(product: Product, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose columns are turned."""
    rows, columns, depth = _sizes(product)
    vectors = -(-columns // lanes)
    return tile.cost * rows * vectors * depth + TURN * vectors * depth


def turned_cycles(product: Product, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose results are turned as well; the columns are rows of results."""
    rows, columns, _ = _sizes(product)
    return panel_cycles(product, tile, lanes) + TURN * rows * -(-columns // lanes)


def dot_cycles(product: Product, row: int, lanes: int, target: Target) -> float:
    """Cycles of tiles of sums along the last loop of the reduction."""
    last = product.reduce[-1]
    loads = (*product.moving, *product.fixed)
    if any(step_along(product, load, last) != ONE for load in loads):
        return inf
    rows, columns, depth = _sizes(product)
    sides = dot_tile(product.extent(row), product.extent(product.column), target)
    height, width = (side or 1 for side in sides)
    sizes = [dense_bytes(load.buffer) for load in product.moving]
    is_near = all(size is not None and size <= target.caches.l2 for size in sizes)
    # Rows start anywhere, so that vectors are in two lines of the cache: a load takes a cycle.
    step = max(height * width / 2, height + width * (1 if is_near else 2), LATENCY)
    length = product.extent(last).constant or LONG
    steps = depth // length * -(-length // lanes)
    return rows * columns * (steps * step / (height * width) + ADD_LANES)


def _sizes(product: Product) -> tuple[int, int, int]:
    """The numbers of rows, columns and products in a sum."""

    def size(axis: int) -> int:
        return product.extent(axis).constant or LONG

    rows, depth = (prod(map(size, axes)) for axes in (product.rows, product.reduce))
    return rows, size(product.column), depth

"""What each way to compute a product takes, in cycles.

Columns that are neighbours are read in tiles where they are, copied to panels, or streamed: added
to results in memory, a few steps at once. Columns that are apart are turned for panels; the results
are turned as well if the rows are the columns of tiles.
"""

from __future__ import annotations

from math import prod

from ...costs import COPY, turn_cycles
from .products import Product
from .register_tile import ROW_TILES
from .tiles import LONG, Tile

STREAMED, STREAMED_ROW = 0.45, 1.6
"""Cycles of a multiplication where results are streamed, and those that rows share."""

STREAMED_ALONE = 0.3
"""Cycles of an element that is left of a streamed row's vectors."""


def tile_cycles(product: Product, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose columns are neighbours, where they are."""
    rows, columns, depth = _sizes(product)
    return tile.cost * rows * -(-columns // lanes) * depth


def copied_cycles(product: Product, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose columns are copied to panels."""
    return tile_cycles(product, tile, lanes) + COPY * _moved(product, lanes)


def panel_cycles(product: Product, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose columns are turned."""
    return tile_cycles(product, tile, lanes) + turn_cycles(lanes) * _moved(product, lanes)


def turned_cycles(product: Product, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose results are turned as well; the columns are rows of results."""
    rows, columns, _ = _sizes(product)
    turned = rows * -(-columns // lanes)
    return panel_cycles(product, tile, lanes) + turn_cycles(lanes) * turned


def streamed_cycles(product: Product, lanes: int) -> float:
    """Cycles of rows that stream the matrix, as `tile_reductions` has them."""
    rows, columns, depth = _sizes(product)
    sharing = next((n for n in ROW_TILES if rows % n == 0), 1)
    vectors, alone = divmod(columns, lanes)
    step = vectors * (STREAMED + STREAMED_ROW / sharing) + alone * STREAMED_ALONE
    return rows * depth * step


def _moved(product: Product, lanes: int) -> int:
    """Vectors of what moves with the columns."""
    _, columns, depth = _sizes(product)
    return -(-columns // lanes) * depth


def _sizes(product: Product) -> tuple[int, int, int]:
    """The numbers of rows, columns and products in a sum."""

    def size(axis: int) -> int:
        return product.extent(axis).constant or LONG

    rows, depth = (prod(map(size, axes)) for axes in (product.rows, product.reduce))
    return rows, size(product.column), depth

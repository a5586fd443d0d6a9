"""The cycles of each way to compute a contraction.

A right operand that is contiguous along n is read in place, packed in panels, or streamed: added to
results in memory, a few steps at once. One that is not is transposed in panels; with swapped
operands the results are transposed as well.
"""

from __future__ import annotations

from math import prod

from ...costs import COPY, transpose_cycles
from .match_contraction import Contraction
from .register_tile import ROW_TILES
from .tiles import LONG, Tile

STREAMED, STREAMED_ROW = 0.45, 1.6
"""Cycles of a multiplication where results are streamed, and those that rows share."""

STREAMED_ALONE = 0.3
"""Cycles of an element that is left of a streamed row's vectors."""


def tile_cycles(contraction: Contraction, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose right operand is read in place."""
    rows, columns, depth = _sizes(contraction)
    return tile.cost * rows * -(-columns // lanes) * depth


def copied_cycles(contraction: Contraction, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose right operand is packed in panels."""
    return tile_cycles(contraction, tile, lanes) + COPY * _rhs_vectors(contraction, lanes)


def panel_cycles(contraction: Contraction, tile: Tile, lanes: int) -> float:
    """Cycles of tiles whose right operand is transposed in panels."""
    return tile_cycles(contraction, tile, lanes) + transpose_cycles(lanes) * _rhs_vectors(
        contraction, lanes
    )


def swapped_cycles(contraction: Contraction, tile: Tile, lanes: int) -> float:
    """Cycles of tiles with swapped operands, whose results are transposed as well."""
    rows, columns, _ = _sizes(contraction)
    results = rows * -(-columns // lanes)
    return panel_cycles(contraction, tile, lanes) + transpose_cycles(lanes) * results


def streamed_cycles(contraction: Contraction, lanes: int) -> float:
    """Cycles of rows that stream the matrix, as `tile_reductions` has them."""
    rows, columns, depth = _sizes(contraction)
    sharing = next((n for n in ROW_TILES if rows % n == 0), 1)
    vectors, alone = divmod(columns, lanes)
    step = vectors * (STREAMED + STREAMED_ROW / sharing) + alone * STREAMED_ALONE
    return rows * depth * step


def _rhs_vectors(contraction: Contraction, lanes: int) -> int:
    """Vectors of the right operand."""
    _, columns, depth = _sizes(contraction)
    return -(-columns // lanes) * depth


def _sizes(contraction: Contraction) -> tuple[int, int, int]:
    """The sizes m, n and k."""

    def size(axis: int) -> int:
        return contraction.extent(axis).constant or LONG

    rows, depth = (prod(map(size, axes)) for axes in (contraction.m, contraction.k))
    return rows, size(contraction.n), depth

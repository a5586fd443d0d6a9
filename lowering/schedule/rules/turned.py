"""Contractions whose rows are the columns of tiles: it is the results that are turned, at the end.

::

    for i, j, k: Y[i, j] += X[i, k] * W[j, k]

⇒

    for i0:
      for k, i: P[k, i] = X[i0 * 32 + i, k]                  a panel, of turned squares
      for j0:
        for k:
          for j unrolled, i vectorized: T[j, i] += W[j0 * 14 + j, k] * P[k, i]
        for j unrolled, i vectorized: S[j0 * 14 + j, i0 * 32 + i] = T[j, i]
    for i, j: Y[i, j] = S[j, i]                              turned squares

Where sums are along what both operands have as neighbours, one of them is turned. That is little
work for the one of few rows, also with the results: the other is read as it is, once for a panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects import tir
from ....dialects.int_expr import ONE, IntExpr
from ..blocks import loops_around, loops_between
from ..index_map import IndexMap
from ..primitives.schedule import Schedule
from .products import Product, column_dim, step_along
from .tiles import Tile
from .write_back import vectorize_copy, vectorize_tile


def turned_product(product: Product) -> Product | None:
    """The same sums with the rows as columns, where two matrices are multiplied."""
    sides = {a for a in product.loops if product.block.axis_kinds[a] == "spatial"}
    if sides != {product.column, *product.rows} or len(product.rows) != 1:
        return None
    if len(product.moving) != 1 or len(product.fixed) != 1:
        return None
    (row,), (load,) = product.rows, product.fixed
    if step_along(product, load, product.reduce[-1]) != ONE:
        return None
    turned = replace(
        product,
        column=row,
        rows=(product.column,),
        moving=product.fixed,
        fixed=product.moving,
    )
    is_known = all(product.extent(a).constant is not None for a in (row, product.column))
    places = column_dim(turned, load), column_dim(turned, product.store)
    return turned if is_known and None not in places else None


def write_back_turned(
    sch: Schedule, product: Product, rows: tir.ForOp, tile: Tile, lanes: int
) -> None:
    """Store what each iteration of `rows` makes, a tile, and turn all results after the loops."""
    block = sch.rv(product.block)
    turn, shape = _turned_layout(product, tile.rows, tile.vectors * lanes)
    results = sch.cache_write(block, 0, "global")
    part = sch.cache_write(block, 0, "global")
    sch.transform_layout(part, ("write", 0), turn, shape=shape)
    sch.transform_layout(block, ("write", 0), turn)
    sch.reverse_compute_at(part, sch.rv(rows))
    moved = sch.block(part)
    vectorize_tile(sch, moved, loops_between(moved, rows), lanes, True)
    turned = sch.block(results)
    vectorize_copy(sch, turned, loops_around(turned), lanes)


def _turned_layout(product: Product, rows: int, width: int) -> tuple[IndexMap, list[IntExpr]]:
    """Where results go whose columns come last, and their dims with room for whole tiles."""
    (row,) = product.rows
    last, dim = (
        column_dim(replace(product, column=a), product.store) for a in (product.column, row)
    )
    assert last is not None and dim is not None
    type_ = product.store.buffer.type
    assert isinstance(type_, tir.BufferType)
    dims = list(type_.dims)
    for place, count in ((last, width), (dim, rows)):
        dims[place] = (dims[place] + (count - 1)) // count * count

    def turn(indices: Sequence[IntExpr]) -> list[IntExpr]:
        return [*indices[:last], *indices[last + 1 :], indices[last]]

    return IndexMap.of(turn, len(dims)), turn(dims)

"""Contractions with swapped operands: m is vectorized, and the results are transposed at the end.

::

    for i, j, k: Y[i, j] += X[i, k] * W[j, k]

⇒

    for i0:
      for k, i: P[k, i] = X[i0 * 32 + i, k]                  a panel, transposed in registers
      for j0:
        for k:
          for j unrolled, i vectorized: T[j, i] += W[j0 * 14 + j, k] * P[k, i]
        for j unrolled, i vectorized: S[j0 * 14 + j, i0 * 32 + i] = T[j, i]
    for i, j: Y[i, j] = S[j, i]                              transposed in registers

If both operands are contiguous along k, one of them is transposed. The smaller one is cheaper to
transpose, also with the results. The other one is read in place, once for each panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dialects import tir
from ....dialects.int_expr import ONE, IntExpr
from ..blocks import loops_around, loops_between
from ..index_map import IndexMap
from ..primitives.schedule import Schedule
from .match_contraction import Contraction, column_dim, step_along
from .tiles import Tile
from .write_back import vectorize_copy, vectorize_tile


def swap_operands(contraction: Contraction) -> Contraction | None:
    """The transposed contraction, ``Y.T = W @ X.T``, of a matmul without batch axes."""
    sides = {a for a in contraction.loops if contraction.block.axis_kinds[a] == "spatial"}
    if sides != {contraction.n, *contraction.m} or len(contraction.m) != 1:
        return None
    if len(contraction.rhs) != 1 or len(contraction.lhs) != 1:
        return None
    (m,), (load,) = contraction.m, contraction.lhs
    if step_along(contraction, load, contraction.k[-1]) != ONE:
        return None
    swapped = replace(
        contraction,
        n=m,
        m=(contraction.n,),
        rhs=contraction.lhs,
        lhs=contraction.rhs,
    )
    is_known = all(contraction.extent(a).constant is not None for a in (m, contraction.n))
    places = column_dim(swapped, load), column_dim(swapped, contraction.store)
    return swapped if is_known and None not in places else None


def write_back_transposed(
    sch: Schedule, contraction: Contraction, rows: tir.ForOp, tile: Tile, lanes: int
) -> None:
    """Store the transposed tile of each iteration of `rows`; transpose results after the loops."""
    block = sch.rv(contraction.block)
    layout, shape = _transposed_layout(contraction, tile.rows, tile.vectors * lanes)
    results = sch.cache_write(block, 0, "global")
    part = sch.cache_write(block, 0, "global")
    sch.transform_layout(part, ("write", 0), layout, shape=shape)
    sch.transform_layout(block, ("write", 0), layout)
    sch.reverse_compute_at(part, sch.rv(rows))
    moved = sch.block(part)
    vectorize_tile(sch, moved, loops_between(moved, rows), lanes, True)
    transposed = sch.block(results)
    vectorize_copy(sch, transposed, loops_around(transposed), lanes)


def _transposed_layout(
    contraction: Contraction, rows: int, width: int
) -> tuple[IndexMap, list[IntExpr]]:
    """The layout of transposed results, and its dims padded to whole tiles."""
    (m,) = contraction.m
    last, dim = (
        column_dim(replace(contraction, n=a), contraction.store) for a in (contraction.n, m)
    )
    assert last is not None and dim is not None
    type_ = contraction.store.buffer.type
    assert isinstance(type_, tir.BufferType)
    dims = list(type_.dims)
    for place, count in ((last, width), (dim, rows)):
        dims[place] = (dims[place] + (count - 1)) // count * count

    def transpose(indices: Sequence[IntExpr]) -> list[IntExpr]:
        return [*indices[:last], *indices[last + 1 :], indices[last]]

    return IndexMap.of(transpose, len(dims)), transpose(dims)

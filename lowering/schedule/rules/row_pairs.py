"""Tile contractions of few columns, whose last vector is half empty, by pairs of rows.

::

    for i, j, k: Y[i, j] += X[i, k] * W[k, j]             24 columns, vectors of 16

⇒

    for i0:
      for p unrolled, v unrolled, l vectorized: T[p * 2 + …, …] = 0
      for k:
        for p unrolled, v unrolled, l vectorized:
          T[p * 2 + (v * 16 + l) // 24, (v * 16 + l) % 24] +=
            X[i0 * 14 + p * 2 + (v * 16 + l) // 24, k] * W[k, (v * 16 + l) % 24]
      for v unrolled, l vectorized: Y[…] = T[…]

Two rows of 24 results are three whole vectors, of which the second has elements of both rows: of
four multiply-adds one is saved, for a shuffle of the columns and one of two elements of each pair.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import IntExpr
from ....dialects.nesting import operations_in
from ...equal_parts import balanced, largest_divisor
from ..blocks import blocks_in, loops_around
from ..primitives.schedule import Schedule
from .contraction import finish_tiles
from .contraction_plan import is_contiguous
from .loop_partition import peel_remainder, trim_remainder
from .match_contraction import Contraction, contraction_of, dot_of
from .storage import compact_scratch
from .whole_reductions import moves_whole
from .write_back import consumer_of, copy_results, is_cheap

MOST_VECTORS = 5
"""The most vectors of two rows: of more, the empty half of one is a small part."""

MOST_SUMS = 21
"""The most vectors of sums in a tile."""

FEWEST_SUMS = 14
"""The fewest in a tile whose columns are loaded once for enough rows."""

REGISTERS = 32
"""The registers that hold a tile's sums, columns and elements of rows."""


@dataclass(frozen=True)
class _Pairs:
    """A contraction and its axis of rows; two rows are `vectors` vectors of `lanes`."""

    contraction: Contraction
    m: int
    vectors: int
    lanes: int

    @property
    def count(self) -> int:
        """The number of pairs."""
        return (self.contraction.extent(self.m).constant or 0) // 2


def tile_row_pairs(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every contraction of which two rows are whole vectors, but one is not."""
    for block in blocks_in(func):
        contraction = contraction_of(block)
        found = None if contraction is None else _match(contraction, target)
        if found is not None:
            name, most = block.block_name.data, MOST_SUMS // found.vectors
            pairs = sch.decide(f"{name}.pairs", _pairs(found), lambda n=most: range(n + 1))
            if pairs:
                _tile(sch, found, pairs)


def _match(contraction: Contraction, target: Target) -> _Pairs | None:
    """The pairs of rows of a contraction; `None` if these are not better than rows."""
    lanes, n = target.lanes(contraction.element_bits), contraction.extent(contraction.n).constant
    if target.vector_registers < REGISTERS or lanes < 2 or n is None:
        return None
    if n < lanes or n % lanes != lanes // 2 or 2 * n // lanes > MOST_VECTORS:
        return None
    block, operands = contraction.block, (contraction.lhs, contraction.rhs)
    if dot_of(contraction) is not None or [len(loads) for loads in operands] != [1, 1]:
        return None
    if not is_contiguous(contraction) or not _is_plain(block):
        return None
    for m in (axis for axis in contraction.m if axis in contraction.loops):
        steps = contraction.strides.store_steps(block.axis_vars[m])
        found = _Pairs(contraction, m, 2 * n // lanes, lanes)
        is_even = found.count > 1 and contraction.extent(m) == IntExpr.of(2 * found.count)
        if is_even and steps == [IntExpr.of(n)]:
            if not contraction.uses(contraction.rhs[0], m):
                return found
    return None


def _is_plain(block: tir.BlockOp) -> bool:
    """Whether a block has no conditions, under which elements of two rows are loaded one by one."""
    return not any(op.name.startswith("scf.") for op in operations_in(block))


def _pairs(found: _Pairs) -> int:
    """The pairs of rows of a tile: all tiles have as many, unless these are too few."""
    most = MOST_SUMS // found.vectors
    even = largest_divisor(found.count, most) or 1
    return even if even * found.vectors >= FEWEST_SUMS else balanced(found.count, most)


def _tile(sch: Schedule, found: _Pairs, pairs: int) -> None:
    """Apply the tile, with what consumes the results in it."""
    contraction, consumer = found.contraction, consumer_of(found.contraction)
    loops = {axis: sch.rv(loop) for axis, loop in contraction.loops.items()}
    first, pair, second = sch.split(loops.pop(found.m), [None, pairs, 2])
    column = loops.pop(contraction.n)
    reduce = [loops.pop(axis) for axis in contraction.k_loops]
    sch.reorder(*loops.values(), first, *reduce, pair, second, column)
    sch.unroll(pair)
    loop = sch.loop(first)
    if consumer is None or not is_cheap(consumer):
        copy = copy_results(sch, contraction.block)
        moves_whole(sch, copy, loop)
        if consumer is not None and moves_whole(sch, consumer, loop):
            compact_scratch(sch, copy.write_buffers[0])
    else:
        moves_whole(sch, consumer, loop)
    compact_scratch(sch, contraction.store.buffer)
    for part in peel_remainder(sch, loop, IntExpr.of(found.count), pairs):
        trim_remainder(sch, part)
        finish_tiles(sch, part)
        for block in blocks_in(part):
            _vectorize(sch, block, found.lanes)


def _vectorize(sch: Schedule, block: tir.BlockOp, lanes: int) -> None:
    """Let the vectors of a block run over the ends of rows."""
    *_, row, column = loops_around(block)
    vector, lane = sch.split(sch.fuse(sch.rv(row), sch.rv(column)), [None, lanes])
    if is_cheap(block):
        sch.unroll(vector)
    sch.vectorize(lane)

"""Register tiling of reductions that `contractions` has not tiled.

If the operands are contiguous along the reduction (``X[i, k] * W[j, k]``), the reduction stays the
innermost loop around a tile of ``i`` and ``j``, so that each loaded vector is used several times::

    for i, j, k            ⇒   for i_0, j_0, k: for i_1 in unrolled 4: for j_1 in unrolled 4

If they are contiguous along a spatial axis (``X[i, k] * W[k, j]``), that axis becomes the
innermost loop, and several ``i`` and ``k`` share each load and store of the result::

    for i, j, k            ⇒   for i_0, k_0, j: for i_1 in unrolled 4: for k_1 in unrolled 4

Only plain nests are scheduled: serial loops, one for each axis, around one block that stores one
element for each spatial iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from xdsl.ir import Operation

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, ZERO, IntExpr
from ....dialects.tir.scalar_ops import ARITHMETIC
from ...analysis.block_accesses import element_update, has_reuse
from ...analysis.strides import Strides
from ...equal_parts import largest_divisor
from ..blocks import blocks_in, plain_loops
from ..primitives.random_variables import LoopRV
from ..primitives.schedule import Schedule

COLUMN_TILES = (4, 5, 3, 2)
"""Factors of the last spatial loop if the reduction is innermost. If no row is tiled, columns share
one load only, but several concurrent streams read memory beyond the caches faster."""
ROW_TILES = (4, 5, 3, 2)
REDUCTION_TILES = (4, 3, 2)
LEAST_TERMS = 16
"""The least trip count for vectorization along the reduction; windows of convolutions have less."""
REDUCTION_BLOCK = 256
"""Rows of the second operand that stay in the cache while all rows of the result are updated."""

LEAST_CHUNK, CHUNK_STEP = 1024, 64
"""The least elements that a thread reads of each row of the second operand, since whole pages are
read fastest. Their number is a multiple of `CHUNK_STEP`, so that vectors are whole."""


def tile_reductions(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every plain reduction of a function that has reuse."""
    for block in blocks_in(func):
        reduction = _reduction(block) if has_reuse(block) else None
        if reduction is not None:
            _rearrange(sch, reduction, target)


@dataclass(frozen=True)
class _Reduction:
    spatial: dict[int, tir.ForOp]
    reduce: dict[int, tir.ForOp]
    strides: Strides
    reads: tuple[tir.LoadOp, ...]
    """The loads of operands."""

    def steps(self, axis: int) -> list[IntExpr | None]:
        """The stride of each load along an axis that has a loop."""
        loop = self.spatial.get(axis) or self.reduce[axis]
        return [self.strides.step(op, loop.loop_var) for op in self.reads]


def _reduction(block: tir.BlockOp) -> _Reduction | None:
    loops = plain_loops(block)
    update = element_update(block, _is_scalar)
    if not loops or block.init is None or block.predicates.data or update is None:
        return None
    regions = [*block.regions_of("reads"), *block.regions_of("writes")]
    if any(extent != ONE for region in regions for extent in region.extents):
        return None
    kinds = block.axis_kinds
    reduce = {a: loop for a, loop in loops.items() if kinds[a] == "reduce"}
    if set(kinds) - {"spatial", "reduce"} or not reduce:
        return None
    spatial = {a: loop for a, loop in loops.items() if kinds[a] == "spatial"}
    return _Reduction(spatial, reduce, Strides(block), update.loads)


def _is_scalar(op: Operation) -> bool:
    return op.name.startswith((*ARITHMETIC, "tir.apply"))


def _is_contiguous(reduction: _Reduction, axis: int) -> bool:
    """Whether the strides of all operands along the axis are 0 or 1, and one of them is 1."""
    steps = reduction.steps(axis)
    return all(step in (ZERO, ONE) for step in steps) and ONE in steps


def _rearrange(sch: Schedule, reduction: _Reduction, target: Target) -> None:
    innermost = max(reduction.reduce)
    rows = [
        axis
        for axis, loop in reduction.spatial.items()
        if reduction.strides.store_steps(loop.loop_var) == [ONE] and _is_contiguous(reduction, axis)
    ]
    length = reduction.reduce[innermost].extent.data.constant
    is_window = bool(rows) and length is not None and length < LEAST_TERMS
    if _is_contiguous(reduction, innermost) and not is_window:
        _tile_dot(sch, reduction, target)
    elif rows:
        _tile_rows(sch, reduction, rows[-1])


def _factor(extent: IntExpr, candidates: Sequence[int]) -> int | None:
    size = extent.constant
    if size is None or size <= 1:
        return None
    return next((f for f in candidates if size % f == 0), None)


def _tile_dot(sch: Schedule, reduction: _Reduction, target: Target) -> None:
    """Tile the results as far as registers permit, with the reduction innermost."""
    long = [loop for loop in reduction.spatial.values() if loop.extent.data != ONE]
    sides = [ONE, ONE, *(loop.extent.data for loop in long)][-2:]
    tile = inner_product_tile(sides[0], sides[1], target)
    factors = dict(zip(long[-2:], tile[-len(long) :], strict=False))
    if not any(factors.values()):
        return
    outer, inner = list[LoopRV](), list[LoopRV]()
    reduce = [sch.rv(loop) for loop in reduction.reduce.values()]
    for loop in reduction.spatial.values():
        first, factor = sch.rv(loop), factors.get(loop)
        if factor is not None:
            first, second = sch.split(first, [None, factor])
            inner.append(second)
        outer.append(first)
    sch.reorder(*outer, *reduce, *inner)
    for loop in inner:
        sch.unroll(loop)


def inner_product_tile(
    rows: IntExpr, columns: IntExpr, target: Target
) -> tuple[int | None, int | None]:
    """Rows and columns of a tile with the reduction innermost; `None` if no factor divides them."""
    row = _factor(rows, ROW_TILES)
    fitting = COLUMN_TILES if row is None else _columns_beside(row, target)
    return row, _factor(columns, fitting)


def _columns_beside(rows: int, target: Target) -> list[int]:
    """The factors of columns whose accumulators and operands fit in vector registers."""
    return [c for c in COLUMN_TILES if rows * c + min(rows, c) + 1 <= target.vector_registers]


def _sharing_last(reduction: _Reduction, row: int) -> list[tir.ForOp]:
    """The other spatial loops, last the one whose iterations share the operand contiguous in `row`.

    In a matmul that is the loop over rows, in a convolution the one over output channels.
    """
    moving = [step == ONE for step in reduction.steps(row)]
    loops = {a: loop for a, loop in reduction.spatial.items() if a != row}
    sharing = [
        a
        for a, loop in loops.items()
        if _factor(loop.extent.data, ROW_TILES) is not None
        and all(step == ZERO for step in compress(reduction.steps(a), moving))
    ]
    last = sharing[-1:]
    return [*(loop for a, loop in loops.items() if a not in last), *(loops[a] for a in last)]


def chunk_of(length: int | None) -> int | None:
    """The least chunk of a single row for one thread, of equal chunks; `None` if there is none."""
    if length is None or length % CHUNK_STEP:
        return None
    chunks = largest_divisor(length // CHUNK_STEP, length // LEAST_CHUNK, above=1)
    return None if chunks is None else length // chunks


def _tile_rows(sch: Schedule, reduction: _Reduction, axis: int) -> None:
    """Move a contiguous spatial loop innermost, around unrolled rows and reduction steps.

    A loop of one iteration is left to LLVM, which vectorizes the steps: rows would be scalars.
    """
    others = _sharing_last(reduction, axis)
    is_row_alone = all(loop.extent.data == ONE for loop in others)
    size = chunk_of(reduction.spatial[axis].extent.data.constant) if is_row_alone else None
    row, outer = sch.rv(reduction.spatial[axis]), [sch.rv(loop) for loop in others]
    reduce = [sch.rv(loop) for loop in reduction.reduce.values()]
    blocks, inner, chunks = list[LoopRV](), list[LoopRV](), list[LoopRV]()
    extent = sch.loop(reduce[-1]).extent.data.constant
    if extent and extent > REDUCTION_BLOCK and not extent % REDUCTION_BLOCK:
        block, reduce[-1] = sch.split(reduce[-1], [None, REDUCTION_BLOCK])
        blocks.append(block)
    is_column_alone = reduction.spatial[axis].extent.data == ONE
    for group, factors in (
        (outer, () if is_column_alone else ROW_TILES),
        (reduce, REDUCTION_TILES),
    ):
        last = sch.loop(group[-1]).extent.data if group else ONE
        if (factor := _factor(last, factors)) is not None:
            group[-1], second = sch.split(group[-1], [None, factor])
            inner.append(second)
    if size is not None:
        chunk, row = sch.split(row, [None, size])
        chunks.append(chunk)
    sch.reorder(*chunks, *outer[:-1], *blocks, *outer[-1:], *reduce, row, *inner)
    for loop in inner:
        sch.unroll(loop)

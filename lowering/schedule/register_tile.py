"""The default schedule of reductions: tiles of independent sums around a loop that vectorizes.

A sum of products whose operands are contiguous along the reduction (``X[i, k] * W[j, k]``) keeps
the reduction innermost and computes several ``i`` and ``j`` at once, so that each loaded vector is
used several times::

    for i, j, k            ⇒   for i_0, j_0, k: for i_1 in unrolled 4: for j_1 in unrolled 4

Where they are contiguous along a spatial axis (``X[i, k] * W[k, j]``) that axis becomes the
innermost loop, and several ``i`` and ``k`` share each load and store of the result::

    for i, j, k            ⇒   for i_0, k_0, j: for i_1 in unrolled 4: for k_1 in unrolled 4

Only untouched nests are rearranged: serial loops, one for each axis, around one block whose result
each spatial iteration owns. A function with the attribute ``tir.is_scheduled`` stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...backend.target import Target
from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg, IntExpr
from ...dialects.sym import exprs_of
from .blocks import IS_SCHEDULED
from .merge import has_reuse
from .nest import Loop, Nest

COLUMN_TILES = (4, 5, 3, 2)
"""Factors of the last spatial loop where the reduction is innermost. Where no row is tiled, columns
share one load only, but memory that no cache holds is read faster in several places at once."""
ROW_TILES = (4, 5, 3, 2)
REDUCTION_TILES = (4, 3, 2)
LEAST_DOT = 16
"""Fewer terms, as of a convolution's window, are not worth vectors along the reduction."""
REDUCTION_BLOCK = 256
"""Rows of the second operand that stay in the cache while all rows of the result are updated."""

LEAST_CHUNK, CHUNK_STEP = 1024, 64
"""Elements that a thread reads of each row of the second operand, as whole pages are read fastest;
their number is a multiple of a step, so that they are whole vectors."""


def tile_reductions(func: tir.PrimFuncOp, target: Target) -> None:
    """Rearrange every plain reduction of a function."""
    if func.attr(IS_SCHEDULED) is not None:
        return
    for block in [op for op in func.walk() if isinstance(op, tir.BlockOp)]:
        reduction = _reduction(block) if has_reuse(block) else None
        if reduction is not None and _rearrange(reduction, target):
            reduction.nest.replace()


@dataclass(frozen=True)
class _Reduction:
    nest: Nest
    spatial: dict[int, Loop]
    reduce: dict[int, Loop]
    reads: tuple[IntExpr, ...]
    """Element offset of each operand, over the axes."""
    write: IntExpr


def _reduction(block: tir.BlockOp) -> _Reduction | None:
    nest = Nest.around(block)
    if nest is None or block.init is None or block.predicates.data or not _owns_its_result(block):
        return None
    loops = {axis: nest.loop_of_axis(axis) for axis in range(len(block.axes.data))}
    found = {axis: loop for axis, loop in loops.items() if loop is not None}
    if len(found) != len(nest.loops) or set(map(id, found.values())) != set(map(id, nest.loops)):
        return None
    offsets = [_offset(r) for r in block.regions_of("reads")]
    (write,) = [_offset(r) for r in block.regions_of("writes")]
    if write is None or any(o is None for o in offsets):
        return None
    kinds = block.axis_kinds
    if set(kinds) - {"spatial", "reduce"} or "reduce" not in kinds:
        return None
    return _Reduction(
        nest,
        {a: loop for a, loop in found.items() if kinds[a] == "spatial"},
        {a: loop for a, loop in found.items() if kinds[a] == "reduce"},
        tuple(o for o in offsets if o is not None),
        write,
    )


def _offset(region: tir.BufferRegion) -> IntExpr | None:
    """The element offset of a region of one element."""
    type_ = region.buffer.type
    assert isinstance(type_, tir.BufferType)
    return type_.linear_index(region.mins) if all(e == ONE for e in region.extents) else None


def _owns_its_result(block: tir.BlockOp) -> bool:
    """Whether the body only updates one element, at indices that are distinct spatial axes."""
    stores = [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]
    if len(stores) != 1 or len(block.write_buffers) != 1:
        return False
    (store,) = stores
    indices = [(e, store.operands_) for e in exprs_of(store.indices)]
    own: list[object] = []
    for expr, operands in indices:
        if expr.constant is not None:
            continue
        atom = expr.as_atom
        if not isinstance(atom, Arg) or operands[atom.index] not in block.axis_vars:
            return False
        own.append(operands[atom.index])
    spatial = [
        v
        for v, axis in zip(block.axis_vars, block.axes.data, strict=True)
        if axis.kind.data == "spatial" and axis.extent.data != ONE
    ]
    return set(own) >= set(spatial) and len(set(own)) == len(own) and _only_updates(block, store)


def _only_updates(block: tir.BlockOp, store: tir.StoreOp) -> bool:
    for op in block.body.block.ops:
        if op is store or isinstance(op, tir.InitOp):
            continue
        if isinstance(op, tir.LoadOp):
            same = (op.indices, tuple(op.operands_)) == (store.indices, tuple(store.operands_))
            if op.buffer is store.buffer and not same:
                return False
        elif op.regions or not op.name.startswith(("arith.", "math.", "tir.apply")):
            return False
    return True


def _step(offset: IntExpr, axis: int) -> IntExpr | None:
    """How far the element moves with an axis, `None` where that is not one number."""
    return offset.coefficient_of(Arg(axis))


def _is_contiguous(reduction: _Reduction, axis: int) -> bool:
    """Whether every operand stays or moves by one element along the axis, and one of them moves."""
    steps = [_step(o, axis) for o in reduction.reads]
    return all(s is not None and (not s.terms or s == ONE) for s in steps) and ONE in steps


def _rearrange(reduction: _Reduction, target: Target) -> bool:
    innermost = max(reduction.reduce)
    rows = [
        axis
        for axis in reduction.spatial
        if _step(reduction.write, axis) == ONE and _is_contiguous(reduction, axis)
    ]
    length = reduction.reduce[innermost].extent.constant
    is_window = bool(rows) and length is not None and length < LEAST_DOT
    if _is_contiguous(reduction, innermost) and not is_window:
        return _tile_dot(reduction, target)
    return _tile_rows(reduction, rows[-1]) if rows else False


def _factor(extent: IntExpr, candidates: Sequence[int]) -> int | None:
    size = extent.constant
    if size is None or size <= 1:
        return None
    return next((f for f in candidates if size % f == 0), None)


def _tile_dot(reduction: _Reduction, target: Target) -> bool:
    """As many results at once as registers can hold, the reduction innermost."""
    nest = reduction.nest
    outer, inner = list(reduction.spatial.values()), list[Loop]()
    long = [loop for loop in outer if loop.extent != ONE]
    sides = [ONE, ONE, *(loop.extent for loop in long)][-2:]
    tile = dot_tile(sides[0], sides[1], target)
    for loop, factor in zip(long[-2:], tile[-len(long) :], strict=False):
        if factor is not None:
            first, second = nest.split(loop, factor)
            second.kind = "unrolled"
            outer[outer.index(loop)] = first
            inner.append(second)
    nest.reorder([*outer, *reduction.reduce.values(), *inner])
    return bool(inner)


def dot_tile(rows: IntExpr, columns: IntExpr, target: Target) -> tuple[int | None, int | None]:
    """Rows and columns of a tile of sums along a reduction; `None` where none divides them."""
    row = _factor(rows, ROW_TILES)
    fitting = COLUMN_TILES if row is None else _columns_beside(row, target)
    return row, _factor(columns, fitting)


def _columns_beside(rows: int, target: Target) -> list[int]:
    """The tiles of columns whose sums have registers, with a vector of each row and of a column."""
    return [c for c in COLUMN_TILES if rows * c + min(rows, c) + 1 <= target.vector_registers]


def _sharing_last(reduction: _Reduction, row: int) -> list[Loop]:
    """The other spatial loops, last one whose steps use the same part of what moves with the row.

    That is the loop over rows of a product, and the one over a convolution's output channels.
    """
    moving = [o for o in reduction.reads if _step(o, row) == ONE]
    loops = {a: loop for a, loop in reduction.spatial.items() if a != row}
    sharing = [
        a
        for a, loop in loops.items()
        if _factor(loop.extent, ROW_TILES) is not None and all(_step(o, a) == ZERO for o in moving)
    ]
    last = sharing[-1:]
    return [*(loop for a, loop in loops.items() if a not in last), *(loops[a] for a in last)]


def chunk_of(length: int | None) -> int | None:
    """The least part of a lone row, of equal ones, that a thread may work on alone."""
    vectors = (length or 0) // CHUNK_STEP
    counts = range(vectors * CHUNK_STEP // LEAST_CHUNK, 1, -1)
    if vectors * CHUNK_STEP != length:
        return None
    return next((vectors // n * CHUNK_STEP for n in counts if vectors % n == 0), None)


def _tile_rows(reduction: _Reduction, axis: int) -> bool:
    """A contiguous spatial loop innermost; rows and reduction steps share the result's traffic."""
    nest, row = reduction.nest, reduction.spatial[axis]
    outer = _sharing_last(reduction, axis)
    reduce, blocks, inner = list(reduction.reduce.values()), list[Loop](), list[Loop]()
    last = reduce[-1]
    if (
        (extent := last.extent.constant)
        and extent > REDUCTION_BLOCK
        and not extent % REDUCTION_BLOCK
    ):
        block, reduce[-1] = nest.split(last, REDUCTION_BLOCK)
        blocks.append(block)
    for group, factors in ((outer, ROW_TILES), (reduce, REDUCTION_TILES)):
        if group and (factor := _factor(group[-1].extent, factors)) is not None:
            group[-1], second = nest.split(group[-1], factor)
            second.kind = "unrolled"
            inner.append(second)
    chunks: list[Loop] = []
    if all(loop.extent == ONE for loop in outer) and (size := chunk_of(row.extent.constant)):
        chunk, row = nest.split(row, size)
        chunks.append(chunk)
    nest.reorder([*chunks, *outer[:-1], *blocks, *outer[-1:], *reduce, row, *inner])
    return True

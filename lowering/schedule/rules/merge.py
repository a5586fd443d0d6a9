"""Fuse loop nests: compute the consumers of a result in the loops of its producer.

The epilogue of a reduction runs on each tile of results, and rows of a softmax stay in the cache::

    for i, k, j: T[i, j] += …                    for i:
    for i, j: Y[i, j] = relu(T[i, j])     ⇒        for k, j: T[i, j] += …
                                                   for j: Y[i, j] = relu(T[i, j])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from math import prod

from xdsl.ir import Operation

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, IntExpr
from ....dialects.nesting import ancestors, operations_in
from ....dialects.sym import Values
from ...analysis.block_accesses import accessed_axes, has_reuse
from ..blocks import (
    ScheduleError,
    blocks_in,
    iterator_kinds,
    loaded_buffers,
    loops_around,
    loops_between,
    perfect_nest,
    statements,
    stored_buffers,
)
from ..primitives.schedule import Schedule
from ..required_ranges import required_ranges
from .lanes import choose_lanes
from .whole_reductions import moves_whole

TILE = 8
"""The maximum trip count of loops over a register tile that are unrolled."""

MOST_RESULTS = 512
"""The most elements of a register tile: those of 32 vectors of 512 bits."""

LONG = 16
"""The least elements of a row for which vectorization is profitable."""

ANY, APART = -1, -2
"""Choices of a search besides the number of a loop: the best one by the rule, and none."""


def merge_rows(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Fuse the nests of several reductions, such as those of a softmax, over shared loops.

    This applies only if no reduction reuses elements; those with reuse are tiled first.
    """
    reductions = [block for block in blocks_in(func) if block.init is not None]
    if len(reductions) > 1 and not any(has_reuse(block) for block in reductions):
        _merge(sch, func, target, only_rows=True)


def merge_consumers(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Move every block into the best loop of the nest whose results it uses."""
    _merge(sch, func, target, only_rows=False)


def _merge(sch: Schedule, func: tir.PrimFuncOp, target: Target, only_rows: bool) -> None:
    done: list[Operation] = []
    for statement in list(statements(func).ops):
        block = movable_block(statement)
        nest = None if block is None else _producer(block, done)
        if block is not None and nest is not None:
            if not (only_rows and any(has_reuse(b) for b in blocks_in(nest))):
                if _merge_into(sch, block, nest, target):
                    continue
        done.append(statement)


def movable_block(statement: Operation) -> tir.BlockOp | None:
    """The only block of a perfect nest of serial loops; `None` for reductions with reuse."""
    blocks = blocks_in(statement)
    if len(blocks) != 1 or perfect_nest(blocks[0]) is not statement or has_reuse(blocks[0]):
        return None
    kinds = {loop.kind.data for loop in loops_around(blocks[0])}
    annotated = any(loop.annotations is not None for loop in loops_around(blocks[0]))
    return None if annotated or kinds - {"serial"} else blocks[0]


def _producer(block: tir.BlockOp, done: Sequence[Operation]) -> Operation | None:
    """The last statement that stores what the block loads."""
    loaded = loaded_buffers(block)
    return next((op for op in reversed(done) if stored_buffers(op) & loaded), None)


def _merge_into(sch: Schedule, block: tir.BlockOp, nest: Operation, target: Target) -> bool:
    """Move a block into the best loop of a statement that permits it; whether there is one.

    That is the innermost loop, unless the block goes through columns there. After a reduction it is
    the innermost one in which the block still has long rows, since a tile of results is too narrow
    for vectors. A block that reduces over rows keeps the loop over its results, which is
    vectorized, and one along rows takes the innermost loop. A search may try another loop first.
    """
    lanes = _lanes_of_reductions(nest, target)
    loops = [loop for loop in _loops_of_producers(block, nest) if loop not in lanes]
    places = range(APART, len(loops))
    place = sch.decide(f"{block.block_name.data}.place", ANY, lambda: places)
    if place == APART:
        return False
    own_lanes = _lanes_of_reductions(perfect_nest(block), target)
    along_rows = _reduces_lanes(block, target)

    @cache
    def extents(loop: tir.ForOp) -> Sequence[IntExpr] | None:
        return _extents(block, loop, nest)

    preferred = (
        loop
        for loop in loops
        if along_rows
        or (not own_lanes and not _loops_in(loop) and not _has_columns(block, extents(loop)))
        or _has_long_rows(block, extents(loop))
    )
    tried: set[tir.ForOp] = set()
    chosen = () if place == ANY else (loops[place],)
    reduces = any(b.init is not None for b in blocks_in(nest))
    others = (loop for loop in loops if reduces or not _has_columns(block, extents(loop)))
    for loop in chain(chosen, preferred, () if own_lanes else others):
        if loop in tried:
            continue
        tried.add(loop)
        if not moves_whole(sch, block, loop):
            continue
        made = loops_between(block, loop)
        if any(op.kind.data == "unrolled" for op in _loops_in(loop) if op not in made):
            _unroll(sch, made)
        return True
    return False


def _lanes_of_reductions(nest: Operation, target: Target) -> list[tir.ForOp]:
    """The long loops over results that column reductions in a nest will vectorize."""
    found: list[tir.ForOp] = []
    for block in blocks_in(nest):
        lanes = None if block.init is None or has_reuse(block) else choose_lanes(block, target)
        if lanes is not None and iterator_kinds(lanes.loop, block) == {"spatial"}:
            extent = lanes.loop.extent.data.constant
            if extent is None or extent >= LONG:
                found.append(lanes.loop)
    return found


def _reduces_lanes(block: tir.BlockOp, target: Target) -> bool:
    """Whether the loop that will be vectorized is one of a reduction."""
    lanes = choose_lanes(block, target)
    return lanes is not None and iterator_kinds(lanes.loop, block) == {"reduce"}


def _extents(block: tir.BlockOp, loop: tir.ForOp, statement: Operation) -> Sequence[IntExpr] | None:
    """The extents of a block's axes in an iteration; `None` if the block cannot move there."""
    try:
        parts = required_ranges(block, loop, statement, Values())
    except ScheduleError:
        return None
    whole = (axis.extent.data for axis in block.axes.data)
    return [parts[i].extent if i in parts else extent for i, extent in enumerate(whole)]


def _has_columns(block: tir.BlockOp, extents: Sequence[IntExpr] | None) -> bool:
    """Whether extents are several elements of a block without a reduction, but no long row."""
    several = extents is not None and any(extent != ONE for extent in extents)
    return several and block.init is None and not _has_long_rows(block, extents)


def _has_long_rows(block: tir.BlockOp, extents: Sequence[IntExpr] | None) -> bool:
    """Whether extents are those of at least `LONG` elements of a block's last dim."""
    stores = [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]
    axes = accessed_axes(block, stores[0]) if stores and extents is not None else None
    if extents is None or not axes or axes[-1] is None:
        return False
    whole, extent = block.axes.data[axes[-1]].extent.data, extents[axes[-1]]
    return extent.constant is None or extent.constant >= LONG or (extent == whole != ONE)


def _loops_of_producers(block: tir.BlockOp, statement: Operation) -> list[tir.ForOp]:
    """The loops around all blocks that store what the block loads, innermost first.

    Vectorized and thread-bound loops are left out, and those inside of them.
    """
    loaded = loaded_buffers(block)
    inside = operations_in(statement)
    stores = [s for s in inside if isinstance(s, tir.StoreOp) and s.buffer in loaded]
    around = [list(ancestors(s)) for s in stores]
    blocks = [next(i for i, p in enumerate(a) if isinstance(p, tir.BlockOp)) for a in around]
    nests = [
        [p for p in a[position:] if isinstance(p, tir.ForOp)]
        for a, position in zip(around, blocks, strict=True)
    ]
    shared = [loop for loop in nests[0] if all(loop in n for n in nests[1:])] if nests else []
    return [loop for loop in shared if all(_has_statements(p) for p in (loop, *ancestors(loop)))]


def _has_statements(op: Operation) -> bool:
    return not isinstance(op, tir.ForOp) or op.kind.data in ("serial", "parallel", "unrolled")


def _loops_in(op: Operation) -> list[tir.ForOp]:
    return [o for o in operations_in(op) if isinstance(o, tir.ForOp) and o is not op]


def _unroll(sch: Schedule, loops: Sequence[tir.ForOp]) -> None:
    """Unroll the loops over a register tile, so that its elements stay in registers."""
    extents = [loop.extent.data.constant for loop in loops]
    if None in extents or prod(e or 1 for e in extents) > MOST_RESULTS:
        return
    for loop, extent in zip(loops, extents, strict=True):
        if extent is not None and extent <= TILE:
            sch.unroll(sch.rv(loop))

"""Whether the loops around a block, as far as predicates let it run, store all of a buffer once.

::

    for i, j in (16, 8):
      block "T" (v = i * 8 + j) where i * 8 + j < 120: T[v] = …        T: [120]

The predicate says no more than ``i < 15``: 15 and 8 iterations store 120 different elements.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects import tir
from ...dialects.bounds import Interval, interval_of, is_less
from ...dialects.int_expr import ONE, ZERO, Atom, IntExpr
from ..analysis.iter_map import fills
from .blocks import loops_around
from .iterator_map import IteratorMap


def stores_all_once(store: tir.StoreOp, block: tir.BlockOp) -> bool:
    """Whether iterations around a block with spatial axes store each element of a buffer once.

    Loops must begin at 0, with bounds that do not depend on each other.
    """
    loops = loops_around(block)
    if not loops or any(op.min.data != ZERO or op.extent.data.args() for op in loops):
        return False
    iterators = IteratorMap.of(block, loops[0], loops[0])
    extents: dict[Atom, IntExpr] | None = dict(iterators.extents)
    for bound in block.predicates.data:
        room = iterators.over_loops(bound.rhs.data - bound.lhs.data, block.numbering())
        extents = None if extents is None else _limited(room, extents)
    type_ = store.buffer.type
    assert isinstance(type_, tir.BufferType)
    return extents is not None and fills(iterators.stored(store), extents, type_.dims)


def _limited(room: IntExpr, extents: Mapping[Atom, IntExpr]) -> dict[Atom, IntExpr] | None:
    """The extents of loops where ``0 < room``; `None` unless that ends one of the loops alone.

    ``0 < 120 - i * 8 - j`` with j in [0, 8) is ``i < 15``.
    """
    room = room.substitute({a: ZERO for a, extent in extents.items() if extent == ONE})
    steps = {a: -(room.split_on(a) or (ZERO, ZERO))[0] for a in room.atoms() if a in extents}
    top = max(steps, key=lambda a: steps[a].constant or 0, default=None)
    step, size = (0, 0) if top is None else (steps[top].constant or 0, extents[top].constant)
    if top is None or step <= 0 or size is None or room.offset % step:
        return None
    ranges = {a: Interval.range(0, extent) for a, extent in extents.items()}
    low = interval_of(room - room.offset + step * IntExpr.of(top), ranges)
    if low is None or low.upper != ZERO or not is_less(-low.lower, IntExpr.of(step)):
        return None
    return {**extents, top: IntExpr.of(min(size, max(room.offset // step, 0)))}

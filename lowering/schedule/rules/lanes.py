"""Vectorize a loop of each nest: the one along which memory is contiguous.

::

    for i, k: Y[i] += X[i, k]                 ⇒      for i: for k vectorized: …
    for i, k: Y[i] += X[k, i]                 ⇒      for i vectorized: for k: …
    for i, j: Y[i, j] = X[i, j] + B[j]        ⇒      for i: for j vectorized: …

A vectorized reduction loop keeps partial results in lanes. `vectorize-loops` combines them after
the loop by a horizontal reduction, and masks the remainder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf

from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE, ZERO
from ....dialects.nesting import operations_in
from ...analysis.strides import Strides
from ...cost_model import UNKNOWN_EXTENT
from ..blocks import ScheduleError, blocks_in, iterator_kinds, loaded_buffers, nest_loops
from ..kinds import verify_kind
from ..loop_checks import verify_plain
from ..primitives.schedule import Schedule

TRANSPOSING = 6
"""The cost of a vector that is transposed in registers, in vector loads, if it has more lanes."""

INTERLEAVED_COLUMNS = 8
"""The most columns of a transpose that is as fast in scalars: LLVM interleaves their stores."""

INTERLEAVED_ROWS = 64
"""The most rows of a transpose for which LLVM does not: it vectorizes a longer loop over them."""

COMBINING = 12
"""The cost of a horizontal reduction, in vector loads."""

WINDOW = 32
"""Reductions of at most this many elements, such as pooling windows, are unrolled."""

STRIPS = (1, 2, 4, 8)
"""Vectors in a strip that a search may try."""

LONGEST_UNROLLED = 64
"""Reductions of at most this many elements may be unrolled by a search."""

TILE = 4
"""The maximum trip count of a loop that is kept inside the vectorized reduction and unrolled."""


@dataclass(frozen=True)
class Lanes:
    """A loop that can be vectorized, and the cost of an iteration then, in vector loads."""

    loop: tir.ForOp
    cost: float


def vectorize_nests(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Vectorize the cheapest loop of every nest of plain loops, if one can be vectorized."""
    for block in blocks_in(func):
        choice = choose_lanes(block, target)
        if choice is not None:
            loop = _decide_loop(sch, block, choice, target)
            run_in_lanes(sch, block, _decide_strip(sch, block, loop, target))


def _decide_loop(sch: Schedule, block: tir.BlockOp, best: Lanes, target: Target) -> tir.ForOp:
    """The cheapest loop, or that of a search; loops are numbered from the outermost."""
    loops = nest_loops(block)
    costs: dict[int, float] = {}

    def candidates() -> dict[int, float]:
        costs.update({loops.index(x.loop): x.cost for x in lanes_of(block, target)})
        return costs

    name, default = f"{block.block_name.data}.lanes", loops.index(best.loop)
    return loops[sch.decide(name, default, candidates, costs.__getitem__)]


def _decide_strip(sch: Schedule, block: tir.BlockOp, loop: tir.ForOp, target: Target) -> tir.ForOp:
    """The loop, or strips of some vectors of an elementwise block, which become straight-line."""
    extent = loop.extent.data.constant
    if block.init is not None or extent is None or not loaded_buffers(block):
        return loop
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    lanes = target.lanes(max(8 * byte_width(s.value.type) for s in stores))
    counts = [n for n in STRIPS if extent % (n * lanes) == 0 and extent > n * lanes]
    vectors = sch.decide(f"{block.block_name.data}.vectors", 0, lambda: counts)
    return sch.loop(sch.split(sch.rv(loop), [None, vectors * lanes])[1]) if vectors else loop


def choose_lanes(block: tir.BlockOp, target: Target) -> Lanes | None:
    """The cheapest loop of a block to vectorize; `None` if a loop is not plain or none is "
    "profitable."""
    return next(lanes_of(block, target), None)


def lanes_of(block: tir.BlockOp, target: Target) -> Iterator[Lanes]:
    """The loops of a block that can be vectorized with profit, the cheapest first.

    None if a loop is not plain. Those around an unrolled one are unchanged.
    """
    loops = nest_loops(block)
    unrolled = [i for i, loop in enumerate(loops) if loop.kind.data == "unrolled"]
    loops = loops[unrolled[-1] + 1 :] if unrolled else loops
    try:
        for loop in loops:
            verify_plain(loop)
    except ScheduleError:
        return
    own = {loop.loop_var for loop in loops}
    if block.predicates.data or any(own & {*loop.operands_} for loop in loops):
        return
    strides = Strides(block)
    costs = [(loop, _cost(loop, strides, target)) for loop in loops]
    found = [Lanes(loop, cost) for loop, cost in costs if cost is not None]
    cheapest = sorted(found, key=lambda lanes: lanes.cost)
    yield from (lanes for lanes in cheapest if _runs_in_any_order(lanes.loop, block))


def _cost(loop: tir.ForOp, strides: Strides, target: Target) -> float | None:
    """The cost of a vectorized iteration; `None` if strides forbid it or scalars cost no more."""
    block = strides.block
    kinds = iterator_kinds(loop, block)
    extent = loop.extent.data.constant
    if kinds not in ({"spatial"}, {"reduce"}) or loop.extent.data == ONE or not strides.stores:
        return None
    is_reduction = kinds == {"reduce"}
    wanted = ZERO if is_reduction else ONE
    if set(strides.store_steps(loop.loop_var)) != {wanted}:
        return None
    bits = max(8 * byte_width(s.value.type) for s in strides.stores)
    lanes = target.lanes(bits)
    steps = strides.load_steps(loop.loop_var)
    if is_reduction and ONE not in steps:
        return None
    count = extent or 16 * lanes
    gathers = sum(
        min(lanes, TRANSPOSING) if _is_transposed(op, loop, strides, lanes) else lanes
        for op, step in zip(strides.loads, steps, strict=True)
        if step not in (ZERO, ONE) and not _is_repeated(op, loop, strides, lanes)
    )
    vectors = -(-count // lanes)
    accesses = len(strides.stores) + len(steps)
    cost = vectors * (accesses + gathers) + (COMBINING if is_reduction else 0)
    return cost / count if cost < count * accesses else None


def _is_transposed(op: tir.LoadOp, loop: tir.ForOp, strides: Strides, lanes: int) -> bool:
    """Whether vectors of an elementwise block are loaded along another loop, and transposed."""
    if set(strides.block.axis_kinds) != {"spatial"}:
        return False
    rows = [x for x in nest_loops(strides.block) if strides.step(op, x.loop_var) == ONE]
    lengths = [x.extent.data.constant or UNKNOWN_EXTENT for x in rows]
    if not rows or lengths[-1] < lanes:
        return False
    columns = loop.extent.data.constant or UNKNOWN_EXTENT
    is_interleaved = rows[-1] is loop.parent_op() and lengths[-1] > INTERLEAVED_ROWS
    return not is_interleaved or columns > INTERLEAVED_COLUMNS


def _is_repeated(op: tir.LoadOp, loop: tir.ForOp, strides: Strides, lanes: int) -> bool:
    """Whether the elements that several iterations load each are one vector: it is shuffled."""
    offsets = strides.offsets(op, loop.loop_var, lanes)
    return offsets is not None and max(offsets) - min(offsets) < lanes


def run_in_lanes(sch: Schedule, block: tir.BlockOp, loop: tir.ForOp) -> None:
    """Vectorize a loop of a block inside its spatial loops, and around its other reduction loops.

    The reduction loops then accumulate vectors.
    """
    loops = nest_loops(block)
    others = [op for op in loops if op is not loop]
    is_reduction = "reduce" in iterator_kinds(loop, block)
    if is_reduction:
        behind = [op for op in loops[loops.index(loop) + 1 :] if _is_tile(op, block)]
    else:
        behind = []
    inside = [op for op in others if "reduce" in iterator_kinds(op, block)]
    outside = [op for op in others if op not in inside and op not in behind]
    order = [*outside, loop, *inside, *behind]
    if order != loops and not sch.applies(sch.reorder, *map(sch.rv, order)):
        if loops[-1] is not loop:
            return
    if not is_reduction and inside and _decide_unroll(sch, block, inside):
        behind = inside
    for tile in behind:
        sch.unroll(sch.rv(tile))
    sch.vectorize(sch.rv(loop))


def _decide_unroll(sch: Schedule, block: tir.BlockOp, loops: list[tir.ForOp]) -> bool:
    """Whether the reduction loops inside of lanes are unrolled."""
    is_window = _is_window(loops, block)
    extents = [loop.extent.data.constant for loop in loops]
    is_short = None not in extents and prod(e or 1 for e in extents) <= LONGEST_UNROLLED
    choices = (0, 1) if is_short else ()
    return bool(sch.decide(f"{block.block_name.data}.unroll", int(is_window), lambda: choices))


def _is_window(loops: list[tir.ForOp], block: tir.BlockOp) -> bool:
    """Whether loops have at most `WINDOW` iterations in all, and no conditions: they are unrolled.

    Unrolling would repeat the conditions in each copy of the body.
    """
    extents = [loop.extent.data.constant for loop in loops]
    if None in extents or prod(e or 1 for e in extents) > WINDOW:
        return False
    return not any(isinstance(op, scf.IfOp) for op in block.walk())


def _runs_in_any_order(loop: tir.ForOp, block: tir.BlockOp) -> bool:
    try:
        verify_kind(loop, "vectorized")
    except ScheduleError:
        return False
    return True


def _is_tile(loop: tir.ForOp, block: tir.BlockOp) -> bool:
    """Whether a loop is over at most `TILE` results, and no reduction."""
    extent = loop.extent.data.constant
    return "reduce" not in iterator_kinds(loop, block) and extent is not None and extent <= TILE

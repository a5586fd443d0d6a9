"""Tile reductions over sliding windows whose lanes are channels: depthwise convolutions, pools.

::

    for h, w, c, r, s: Y[h, w, c] += X[h + r, w + s, c] * W[r, s, c]

⇒

    for h, w0, c0:
      for w unrolled, c vectorized: T[w, c] = 0
      for r:
        for w unrolled, s unrolled, c vectorized:
          T[w, c] += X[h + r, w0 * 7 + w + s, c0 * 8 + c] * W[r, s, c0 * 8 + c]
      for w unrolled, c vectorized: Y[h, w0 * 7 + w, c0 * 8 + c] = T[w, c]

Windows of a tile share elements of a row, which are loaded once, and so is a row of the weights. A
padded copy of the data is not made: `r` runs over the rows that exist, and tiles at both ends of a
row are separate, so that what they read of the padding is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects import arith, scf
from xdsl.ir import SSAValue

from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE
from ....dialects.nesting import enclosing, operations_in
from ...analysis.reductions import Accumulation
from ...analysis.strides import Strides
from ..blocks import (
    ScheduleError,
    blocks_in,
    iterator_kinds,
    loops_around,
    plain_loops,
    uses_of,
)
from ..conditions import choices_of
from ..inline import EXPRESSIONS
from ..primitives.random_variables import LoopRV
from ..primitives.schedule import Schedule
from ..reducer import reducer_of
from .loop_partition import interior, peel_remainder, trim_remainder
from .match_contraction import Contraction, is_apart
from .storage import compact_scratch
from .write_back import consumer_of, write_back

WIDEST = 8
"""The most results of a tile: as many accumulators hide the latency of multiply-adds, and more of
them only take compile time."""

MOST_TAPS = 16
"""The most elements of a row of a window, which are unrolled."""

MOST_ENDS = 4
"""The most tiles at the ends of a row that get code of their own."""


@dataclass(frozen=True)
class SlidingWindows:
    """A reduction over windows; `contraction.n` is the axis of its lanes."""

    contraction: Contraction
    column: int
    """The axis along a row of results, whose windows overlap."""
    tap: int
    """The axis along a row of a window."""

    @cached_property
    def width(self) -> int:
        """The number of results in a row."""
        return _size(self.contraction, self.column)

    @cached_property
    def taps(self) -> int:
        """The number of elements in a row of a window."""
        return _size(self.contraction, self.tap)

    @cached_property
    def operands(self) -> int:
        """The number of loaded operands."""
        return len(self.contraction.rhs)


def _size(contraction: Contraction, axis: int) -> int:
    size = contraction.extent(axis).constant
    assert size is not None
    return size


def tile_windows(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every reduction over sliding windows along its rows and lanes."""
    for block in blocks_in(func):
        if windows_of(block) is None:
            continue
        _inline_padding(sch, block)
        windows = windows_of(block)
        assert windows is not None
        _tile(sch, windows, target)


def windows_of(block: tir.BlockOp) -> SlidingWindows | None:
    """The sliding windows that a block reduces; `None` for other blocks and for scheduled ones."""
    loops = plain_loops(block)
    if not loops or block.init is None or block.predicates.data or not _accumulates(block):
        return None
    strides = Strides(block, bound=False)
    (store,) = strides.stores
    loads = tuple(op for op in strides.loads if op.buffer is not store.buffer)
    if not is_apart(block, store, loads):
        return None
    kinds = block.axis_kinds
    spatial, reduce = ([a for a in loops if kinds[a] == k] for k in ("spatial", "reduce"))
    if len(spatial) + len(reduce) < len(loops):
        return None
    lanes = [a for a in spatial if _is_contiguous(strides, loads, block.axis_vars[a])]
    if not lanes:
        return None
    contraction = Contraction(block, loops, store, lanes[-1], (), loads, ())
    found = [
        SlidingWindows(contraction, column, tap)
        for column in spatial
        for tap in reduce
        if column != lanes[-1] and _is_fixed(contraction, column, tap)
        if _overlaps(contraction, column, tap)
    ]
    return found[-1] if found else None


def _accumulates(block: tir.BlockOp) -> bool:
    """Whether a block accumulates one value, by arithmetic on loads and conditions."""
    work = [op for op in operations_in(block) if not isinstance(op, tir.BlockOp | tir.InitOp)]
    if any(not isinstance(op, tir.StoreOp) and not op.name.startswith(EXPRESSIONS) for op in work):
        return False
    try:
        updates = reducer_of(block).updates
    except ScheduleError:
        return False
    return len(updates) == 1 and isinstance(updates[0].store.value.owner, Accumulation)


def _is_contiguous(strides: Strides, loads: Sequence[tir.LoadOp], axis: SSAValue) -> bool:
    """Whether the result and all operands are contiguous along an axis."""
    steps = [*strides.store_steps(axis), *(strides.step(op, axis) for op in loads)]
    return all(step == ONE for step in steps)


def _is_fixed(contraction: Contraction, *axes: int) -> bool:
    """Whether axes and lanes have a known number of elements, more than one."""
    sizes = [contraction.extent(axis).constant for axis in (*axes, contraction.n)]
    return all(size is not None and size > 1 for size in sizes)


def _overlaps(contraction: Contraction, column: int, tap: int) -> bool:
    """Whether windows that are next to each other in a row may share elements."""
    strides, axes, taps = contraction.strides, contraction.block.axis_vars, _size(contraction, tap)
    for load in contraction.rhs:
        steps = [strides.step(load, axes[axis]) for axis in (column, tap)]
        move, reach = (0 if step is None else step.constant or 0 for step in steps)
        if move and reach and taps <= MOST_TAPS:
            return any(move * p % reach == 0 and move * p // reach < taps for p in range(1, WIDEST))
    return False


def _inline_padding(sch: Schedule, block: tir.BlockOp) -> None:
    """Read the data of windows instead of a padded copy, if that is as contiguous."""
    for buffer in block.read_buffers:
        stores = uses_of(buffer).stores if isinstance(buffer.owner, tir.AllocBufferOp) else []
        producer = enclosing(stores[0], tir.BlockOp) if len(stores) == 1 else None
        if producer is not None and _only_pads(producer):
            sch.applies(sch.compute_inline, sch.rv(producer))
            return


def _only_pads(block: tir.BlockOp) -> bool:
    """Whether a block copies data, with constants around it, in the same layout."""
    strides = Strides(block, bound=False)
    if len(strides.loads) != 1 or not choices_of(block):
        return False
    kinds = (tir.LoadOp, tir.StoreOp, tir.ApplyOp, scf.IfOp, scf.YieldOp)
    known = (*kinds, arith.ConstantOp, arith.CmpiOp, arith.AndIOp)
    if not all(isinstance(op, known) for op in operations_in(block) if op is not block):
        return False
    steps = [strides.store_steps(v) + strides.load_steps(v) for v in block.axis_vars]
    return [ONE, ONE] in steps


def _tile(sch: Schedule, windows: SlidingWindows, target: Target) -> None:
    """Apply the tile; where a primitive is refused, the schedule is slower but correct."""
    contraction = windows.contraction
    lanes = min(target.lanes(contraction.element_bits), _size(contraction, contraction.n))
    width = choose_width(windows, target)
    consumer = consumer_of(contraction)
    columns, vectors = _tile_loops(sch, windows, width, lanes, target)
    write_back(sch, contraction.block, consumer, vectors, lanes)
    compact_scratch(sch, contraction.block.write_buffers[0])
    peel_remainder(sch, vectors, contraction.extent(contraction.n), lanes)
    for block in [b for b in blocks_in(columns) if b.init is not None]:
        _start_before(sch, block)
    for part in _parts(sch, columns, windows.width // width):
        for block in blocks_in(part):
            sch.applies(sch.fold_conditions, sch.rv(block))
        trim_remainder(sch, part)


def choose_width(windows: SlidingWindows, target: Target) -> int:
    """The results in a tile: balanced over a row, with registers left for a row of weights."""
    weights = windows.taps if windows.operands > 1 else 0
    most = max(min(WIDEST, target.vector_registers - weights - 2), WIDEST // 2)
    return -(-windows.width // -(-windows.width // most))


def _tile_loops(
    sch: Schedule, windows: SlidingWindows, width: int, lanes: int, target: Target
) -> tuple[tir.ForOp, tir.ForOp]:
    """Split and reorder the loops; returns those over tiles of a row, and over vectors of lanes."""
    contraction = windows.contraction
    loops, kinds = contraction.loops, contraction.block.axis_kinds
    column, results = sch.split(sch.rv(loops[windows.column]), [None, width])
    vector, lane = sch.split(sch.rv(loops[contraction.n]), [None, lanes])
    blocks = list[LoopRV]()
    if (count := _vectors_in_cache(windows, lanes, target)) is not None:
        block, vector = sch.split(vector, [None, count])
        blocks.append(block)
    inner = (windows.column, windows.tap, contraction.n)
    rest = {a: sch.rv(op) for a, op in loops.items() if a not in inner}
    outer = [op for a, op in rest.items() if kinds[a] == "spatial"]
    reduce = [op for a, op in rest.items() if kinds[a] == "reduce"]
    tap = sch.rv(loops[windows.tap])
    sch.reorder(*outer[:1], *blocks, *outer[1:], column, vector, *reduce, results, tap, lane)
    sch.unroll(results)
    sch.unroll(tap)
    sch.vectorize(lane)
    return sch.loop(column), sch.loop(vector)


def _vectors_in_cache(windows: SlidingWindows, lanes: int, target: Target) -> int | None:
    """Vectors whose weights, and the data of a row of windows, fit half of the first cache.

    `None` if the weights of all do, since longer rows of memory are read faster.
    """
    contraction = windows.contraction
    sizes = [_size_of_vector(windows, load, lanes) for load in contraction.rhs]
    if any(size is None for size in sizes):
        return None
    room, vectors = target.caches.l1 // 2, -(-_size(contraction, contraction.n) // lanes)
    weights = [
        size or 0
        for load, size in zip(contraction.rhs, sizes, strict=True)
        if not contraction.uses(load, windows.column)
    ]
    if sum(weights) * vectors <= room:
        return None
    most = max(room // sum(size or 0 for size in sizes), 1)
    return next(n for n in range(min(most, vectors), 0, -1) if vectors % n == 0)


def _size_of_vector(windows: SlidingWindows, load: tir.LoadOp, lanes: int) -> int | None:
    """The bytes that a row of windows loads of a buffer for a vector; `None` if not known."""
    contraction = windows.contraction
    axes = [*contraction.k, windows.column]
    sizes = [contraction.extent(a).constant for a in axes if contraction.uses(load, a)]
    if windows.column in axes and contraction.uses(load, windows.column):
        sizes.remove(windows.taps)  # windows overlap
    assert isinstance(load.buffer.type, tir.BufferType)
    width = lanes * byte_width(load.buffer.type.element_type)
    return None if None in sizes else prod(size or 1 for size in sizes) * width


def _start_before(sch: Schedule, block: tir.BlockOp) -> None:
    """Start the sums of a tile before their loops, which then run over data only."""
    sch.applies(sch.drop_predicates, sch.rv(block))  # refused for lanes that are masked
    loops = loops_around(block)
    steps = [op for op in loops if "reduce" in iterator_kinds(op, block)]
    sums = [op for op in loops if op.kind.data == "unrolled"]
    first = min(steps[0], sums[0], key=loops.index)
    sch.decompose_reduction(sch.rv(block), sch.rv(first))
    for loop in steps:
        if loop.kind.data == "serial":
            sch.applies(sch.skip_padding, sch.rv(loop))  # refused without padding


def _parts(sch: Schedule, columns: tir.ForOp, whole: int) -> list[tir.ForOp]:
    """Partition a loop over tiles of which `whole` are whole: ends of a row, and its interior.

    Each tile at an end is a part, if there are few.
    """
    tiles = columns.extent.data.constant
    assert tiles is not None
    start, end = interior(columns, 0, whole)
    if start >= end:
        start = end = tiles
    if start + tiles - end > MOST_ENDS:
        start, end = 0, whole
    sizes = [*[1] * start, end - start, *[1] * (tiles - end)]
    sizes = [size for size in sizes if size]
    if len(sizes) == 1:
        return [columns]
    made = sch.loop_partition(sch.rv(columns), sizes, preserve_unit_iters=False)
    return [sch.loop(part) for part in made]

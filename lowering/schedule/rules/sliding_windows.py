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
row are separate, so that what they read of the padding is known. In planes, padding is at the ends
of vectors too: without masks for it, a padded copy is made of each plane.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, scf

from ....backend.target import Target
from ....dialects import tir
from ....dialects.dtypes import byte_width
from ....dialects.int_expr import ONE
from ....dialects.nesting import enclosing, operations_in
from ...analysis.strides import Strides
from ...equal_parts import balanced, largest_divisor
from ..blocks import blocks_in, iterator_kinds, loops_around, only_writer
from ..conditions import choices_of
from ..primitives.random_variables import LoopRV
from ..primitives.schedule import Schedule
from .loop_partition import interior, peel_remainder, trim_remainder
from .match_windows import SlidingWindows, windows_of
from .panels import lay_out_panels
from .storage import compact_scratch
from .write_back import consumer_of, write_back

WIDEST = 8
"""The most results of a tile: as many accumulators hide the latency of multiply-adds, and more of
them only take compile time."""

LINE_BITS = 512
"""The usual size of a cache line."""

RESULTS_SHARE = 16
"""What results take of the first cache, as a divisor of its size, beside rows of windows."""

MOST_ENDS = 4
"""The most tiles at the ends of a row that get code of their own."""


def tile_windows(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Tile every reduction over sliding windows along its rows and lanes."""
    for block in blocks_in(func):
        windows = windows_of(block)
        copy = None if windows is None else _copy_of_data(windows)
        if windows is not None and copy is not None and _only_pads(copy, windows, target):
            if sch.applies(sch.compute_inline, sch.rv(copy)):
                windows, copy = windows_of(block), None
        if windows is None:
            continue
        # Without masks, lanes of which some are padding would be loaded one by one.
        if not choices_of(windows.contraction.block) or _has_masks(windows, target):
            _tile(sch, windows, copy, target)


def _has_masks(windows: SlidingWindows, target: Target) -> bool:
    """Whether there are masks for lanes of padding, or no such lanes."""
    return not windows.in_planes or target.isa.masks(windows.contraction.element_bits)


def _copy_of_data(windows: SlidingWindows) -> tir.BlockOp | None:
    """The block that makes the padded or permuted copy of the data, if there is one."""
    contraction = windows.contraction
    for load in contraction.rhs:
        producer = only_writer(load.buffer)
        if producer is not None and contraction.uses(load, windows.column):
            if set(producer.axis_kinds) == {"spatial"}:
                return producer
    return None


def _only_pads(block: tir.BlockOp, windows: SlidingWindows, target: Target) -> bool:
    """Whether a block copies data, with constants around it that masks stand for, in its layout."""
    strides = Strides(block, bound=False)
    if len(strides.loads) != 1 or not choices_of(block) or not _has_masks(windows, target):
        return False
    kinds = (tir.LoadOp, tir.StoreOp, tir.ApplyOp, scf.IfOp, scf.YieldOp)
    known = (*kinds, arith.ConstantOp, arith.CmpiOp, arith.AndIOp)
    if not all(isinstance(op, known) for op in operations_in(block) if op is not block):
        return False
    steps = [strides.store_steps(v) + strides.load_steps(v) for v in block.axis_vars]
    return [ONE, ONE] in steps


def _tile(sch: Schedule, windows: SlidingWindows, copy: tir.BlockOp | None, target: Target) -> None:
    """Apply the tile; where a primitive is refused, the schedule is slower but correct."""
    contraction = windows.contraction
    lanes = min(target.lanes(contraction.element_bits), windows.length)
    name = contraction.block.block_name.data
    widest = range(1, min(windows.width, target.vector_registers - 2) + 1)
    width = sch.decide(f"{name}.width", choose_width(windows, target), lambda: widest)
    consumer = consumer_of(contraction)
    in_block = _vectors_in_cache(windows, lanes, target)
    if copy is not None:
        in_block = None if windows.in_planes else _vectors_in_line(windows, lanes)
    vectors = -(-windows.length // lanes)
    blocks = [0, *(n for n in range(1, vectors) if vectors % n == 0)]
    in_block = sch.decide(f"{name}.block", in_block or 0, lambda: blocks) or None
    outer, columns, vectors = _tile_loops(sch, windows, width, lanes, in_block)
    _lay_out_weights(sch, windows, lanes)
    if copy is not None and outer is not None:
        sch.applies(sch.compute_at, sch.rv(copy), sch.rv(outer))
        compact_scratch(sch, copy.write_buffers[0])
    write_back(sch, contraction.block, consumer, vectors, lanes)
    compact_scratch(sch, contraction.block.write_buffers[0])
    peel_remainder(sch, vectors, contraction.extent(contraction.n), lanes)
    for sums in [b for b in blocks_in(columns) if b.init is not None]:
        _start_before(sch, sums)
    for part in _parts(sch, columns, windows.width // width):
        for inner in blocks_in(part):
            sch.applies(sch.fold_conditions, sch.rv(inner))
        # A power of two of last elements are a vector without masks.
        trim_remainder(sch, part, trims_lanes=(windows.length % lanes).bit_count() == 1)


def _lay_out_weights(sch: Schedule, windows: SlidingWindows, lanes: int) -> None:
    """Let the constant weights of a vector of channels follow each other in memory."""
    func = enclosing(windows.contraction.block, tir.PrimFuncOp)
    loads = {load.buffer: load for load in windows.contraction.rhs}  # one of each buffer
    for buffer, load in loads.items():
        if func is not None and buffer in func.layout_free and windows.length > lanes:
            lay_out_panels(sch, windows.contraction, load, lanes)


def choose_width(windows: SlidingWindows, target: Target) -> int:
    """The results in a tile: balanced over a row, with registers left for a row of weights."""
    weights = windows.taps if windows.operands > 1 else 0
    most = max(min(WIDEST, target.vector_registers - weights - 2), WIDEST // 2)
    return balanced(windows.width, most)


def _tile_loops(
    sch: Schedule, windows: SlidingWindows, width: int, lanes: int, in_block: int | None
) -> tuple[tir.ForOp | None, tir.ForOp, tir.ForOp]:
    """Split and reorder the loops.

    Returns the loops over planes, or else over blocks of `in_block` vectors, if there are several,
    over tiles of a row, and over vectors.
    """
    contraction = windows.contraction
    loops, kinds = contraction.loops, contraction.block.axis_kinds
    column, results = sch.split(sch.rv(loops[windows.column]), [None, width])
    vector, lane = sch.split(sch.rv(loops[contraction.n]), [None, lanes])
    blocks = list[LoopRV]()
    if in_block is not None:
        block, vector = sch.split(vector, [None, in_block])
        blocks.append(block)
    inner = (windows.column, windows.tap, contraction.n)
    rest = {a: sch.rv(op) for a, op in loops.items() if a not in inner}
    reduce = [op for a, op in rest.items() if kinds[a] == "reduce"]
    rows = [op for a, op in rest.items() if kinds[a] == "spatial" and windows.moves(a)]
    others = [op for op in rest.values() if op not in reduce and op not in rows]
    tap = sch.rv(loops[windows.tap])
    sch.reorder(*others, *blocks, *rows, column, vector, *reduce, results, tap, lane)
    sch.unroll(results)
    sch.unroll(tap)
    sch.vectorize(lane)
    outer = others[-1:] if windows.in_planes else blocks
    return sch.loop(outer[0]) if outer else None, sch.loop(column), sch.loop(vector)


def _vectors_in_line(windows: SlidingWindows, lanes: int) -> int | None:
    """Vectors that a copy of the data is made for at a time: what fits a cache line.

    The copy of some channels stays in the cache. It reads few streams, each of many elements, if
    the channels of the data are apart.
    """
    contraction = windows.contraction
    vectors = -(-windows.length // lanes)
    most = max(LINE_BITS // (lanes * contraction.element_bits), 1)
    found = largest_divisor(vectors, most)
    return None if found == vectors else found


def _vectors_in_cache(windows: SlidingWindows, lanes: int, target: Target) -> int | None:
    """Vectors whose weights, and the data of a row of windows, fit the first cache.

    The next row of windows then finds most of its data there. A block takes at most half of the
    cache where the weights of all channels take more than that. `None` if all channels fit, if one
    vector alone does, since longer rows of memory are read faster, and if the last one is masked.
    """
    contraction = windows.contraction
    vectors, left = divmod(windows.length, lanes)
    sizes = [_size_of_vector(windows, load, lanes) for load in contraction.rhs]
    if any(size is None for size in sizes):
        return None
    weights = [
        size or 0
        for load, size in zip(contraction.rhs, sizes, strict=True)
        if not contraction.uses(load, windows.column)
    ]
    vectors += left > 0
    l1, each = target.caches.l1, sum(size or 0 for size in sizes)
    evicts_weights = sum(weights) * vectors > l1 // 2
    room = l1 // 2 if evicts_weights else l1 - l1 // RESULTS_SHARE
    if each * vectors <= room:
        return None
    most = max(room // each, 1)
    found = largest_divisor(vectors, most)
    if not evicts_weights and (left or found == 1):
        return None
    return None if found == vectors else found


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

"""The cost model: estimates the cycles that kernels take on a core.

Schedules and graph passes compare these estimates; `benchmarks/plans.py` compares the chosen plans
with the best ones. The facts of the processor are in its `MachineModel`, the sizes of its caches
and its registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, log2, prod

from xdsl.ir import Operation

from ..backend.machine_model import LINE
from ..backend.target import Target
from ..dialects import tir
from ..dialects.dtypes import byte_width
from ..dialects.sym import Values
from ..dialects.tir.regions import infer_regions

UNKNOWN_EXTENT = 1024
"""The assumed value of a symbolic extent."""

PAGE = 4096
"""Bytes; addresses that are a multiple of this apart share few sets of a cache."""

UNEVEN = 1.05
"""The cost factor of cache blocks whose last tile of columns is partial: all tiles have masks."""


@dataclass(frozen=True)
class Rows:
    """The possible numbers of rows: `counts`, equally likely, or others that are a `multiple`.

    A tile has at most `most`. Of the tiles that cost up to `slack` times as much as the best one,
    the one of fewest rows is chosen.
    """

    counts: Sequence[int]
    multiple: int = 1
    slack: float = 1.0
    is_known: bool = False
    """Whether the number of rows is static."""
    most: int = UNKNOWN_EXTENT


@dataclass(frozen=True)
class Columns:
    """The number of columns, and the `depth` of their sums; `None` is symbolic.

    Columns are in panels of width `panel`, if that is given. With `row_bytes` they are read in
    place, from a matrix of this row stride. Panels larger than the cache are blocked by `steps`,
    which has the steps in a block for panels of one vector, of two vectors, and so on. A vector of
    columns takes so many `registers` after conversions. Columns of words are for dot products.
    """

    count: int | None
    depth: int | None
    panel: int | None = None
    row_bytes: int | None = None
    steps: Sequence[int] = ()
    registers: int = 1
    is_words: bool = False


@dataclass(frozen=True)
class MatmulSize:
    """The sizes m, n and k of a contraction; n is vectorized by `lanes`."""

    m: int
    n: int
    k: int
    lanes: int

    @property
    def rhs_vectors(self) -> int:
        """Vectors of the right operand."""
        return -(-self.n // self.lanes) * self.k

    @property
    def result_vectors(self) -> int:
        """Vectors of the results."""
        return self.m * -(-self.n // self.lanes)


class CostModel:
    """Cycles of kernels on one core of a target."""

    def __init__(self, target: Target):
        self.target, self.caches, self.machine = target, target.caches, target.model

    # Moving vectors.

    def transpose(self, lanes: int) -> float:
        """Cycles per vector of a transposed square: shuffles, and a load or a store.

        Shuffles exchange halves of vectors, so that their number is the logarithm of the lanes.
        """
        return self.machine.shuffle * log2(lanes) + 1

    def permute(self, lanes: int) -> float:
        """Cycles per vector of a tensor that is transposed, written, and read again."""
        return self.transpose(lanes) + 2 * self.machine.copy

    def reduce_lanes(self, lanes: int) -> float:
        """Cycles of a horizontal sum among others, as `lower-multi-reduction` emits it."""
        return self.machine.shuffle * log2(lanes) / 4

    # Contractions.

    def is_sped_by_rows(self, rows: int, vectors: int) -> bool:
        """Whether a tile with fewer rows takes less time."""
        return rows > 1 and rows * vectors > self.machine.fma_rate * self.machine.fma_latency

    def tiled(self, size: MatmulSize, tile_cost: float) -> float:
        """Cycles of tiles that take `tile_cost` for each vector of products."""
        return tile_cost * size.result_vectors * size.k

    def packed(self, size: MatmulSize, tile_cost: float) -> float:
        """Cycles of tiles whose right operand is packed in panels."""
        masked = self.machine.masked * size.k if size.n % size.lanes else 0.0
        rhs_bytes = size.rhs_vectors * (self.target.vector_bits // 8)
        copy = self.machine.copy + (self.machine.l3_strided if rhs_bytes > self.caches.l2 else 0.0)
        return self.tiled(size, tile_cost) + copy * size.rhs_vectors + masked

    def transposed(self, size: MatmulSize, tile_cost: float) -> float:
        """Cycles of tiles whose right operand is transposed in panels."""
        return self.tiled(size, tile_cost) + self.transpose(size.lanes) * size.rhs_vectors

    def swapped(self, size: MatmulSize, tile_cost: float) -> float:
        """Cycles of tiles with swapped operands, whose results are transposed as well."""
        results = self.transpose(size.lanes) * size.result_vectors
        return self.transposed(size, tile_cost) + results

    def streamed(self, size: MatmulSize, rows: int) -> float:
        """Cycles of updating results in memory, each vector for `rows` rows at once."""
        vectors, alone = divmod(size.n, size.lanes)
        rhs_bytes = size.rhs_vectors * (self.target.vector_bits // 8)
        rhs = self.machine.stream_operand if rhs_bytes > self.caches.l1 // 2 else 0.0
        step = vectors * (self.machine.stream + (self.machine.stream_row + rhs) / rows)
        starts = size.m * (self.machine.result * vectors + self.machine.scalar_result * alone)
        starts += self.machine.stream_start * size.m * size.k / rows
        return starts + size.m * size.k * (step + alone * self.machine.stream_scalar)

    def inner_products(self, size: MatmulSize, tile_cost: float) -> float:
        """Cycles of tiles of inner products that take `tile_cost` for each product."""
        return tile_cost * size.m * size.n * size.k

    # Loops.

    def is_small(self, loop: tir.ForOp, most: float) -> bool:
        """Whether a loop takes at most `most` cycles, both by its operations and by its bytes."""
        cycles = self.operation(loop)
        if cycles is None or cycles > most:
            return False
        accesses = cycles / self.machine.lane_operation * self.machine.access
        return accesses <= most or min(accesses, _bytes_touched(loop) * self.machine.byte) <= most

    def operation(self, op: Operation) -> float | None:
        """Cycles of an operation without memory accesses; `None` if extents are not constant."""
        if not isinstance(op, tir.ForOp):
            return self.inside(op) if op.regions else self.machine.operation
        trips, body = op.extent.data.constant, self.inside(op)
        if trips is None or body is None:
            return None
        is_vector = op.kind.data == "vectorized"
        lanes = self.machine.lane_operation / self.machine.operation if is_vector else 1.0
        return trips * body * lanes

    def inside(self, op: Operation) -> float | None:
        """The cycles of the operations in an operation's regions, each once."""
        inner = [o for region in op.regions for block in region.blocks for o in block.ops]
        cycles = [self.operation(o) for o in inner]
        known = [c for c in cycles if c is not None]
        return sum(known) if len(known) == len(cycles) else None


class TileCost:
    """Cycles of register tiles of a contraction's results."""

    def __init__(self, rows: Rows, columns: Columns, lanes: int, target: Target):
        self.rows, self.columns, self.lanes, self.target = rows, columns, lanes, target
        self.machine, self.caches = target.model, target.caches
        self.depth = columns.depth or UNKNOWN_EXTENT
        self.vectors = -(-(columns.count or UNKNOWN_EXTENT) // lanes)
        self.vector_bytes = target.vector_bits // 8

    def per_result(self, rows: int, vectors: int) -> float:
        """Cycles of tiles of this size for each vector of products."""
        whole, left = divmod(self.vectors, vectors)
        masked = 0 if (self.columns.count or 0) % self.lanes == 0 else 1
        spent = masked * sum(self.rows.counts) * self.machine.masked
        if copied := self._copied(vectors, left):
            moved = copied * self.machine.copy + masked * self.machine.masked
            spent += len(self.rows.counts) * self.depth * moved
        is_known = self.rows.is_known and not self.columns.steps
        for count in self.rows.counts:
            for height, tiles in _parts(count, rows, is_known):
                spent += tiles * self._cycles(height, vectors) * whole
                last = vectors if self.columns.steps else left  # blocks have whole tiles only
                spent += tiles * self._cycles(height, last) if left else 0.0
        return spent / (sum(self.rows.counts) * self.vectors * self.depth)

    def _copied(self, vectors: int, left: int) -> int:
        """Vectors of remaining columns that are packed, since they make up no tile in place."""
        in_place = self.columns.row_bytes is not None
        is_whole = (self.columns.count or 0) % (vectors * self.lanes) == 0
        return left or vectors if in_place and not is_whole else 0

    def _cycles(self, rows: int, vectors: int) -> float:
        """Cycles of a tile, which may be a remainder."""
        row_bytes, rate = self.columns.row_bytes, self.machine.fma_rate
        # A vector that starts anywhere is in two lines of the cache.
        lines = 1 if row_bytes is None or row_bytes % self.vector_bytes == 0 else 2
        work, loads = rows * vectors / rate, (rows + vectors) / rate
        latency = self.machine.fma_latency
        step = max(work, (rows + vectors * lines) / rate, latency) + self.machine.load * loads
        cycles = self.depth * (step + self._waiting(rows, vectors))
        cycles += self.machine.loop_start + self.machine.result * rows * vectors
        cycles += self.machine.l3_result * rows * self._result_lines(vectors)
        return self._in_blocks(cycles, rows, vectors) if self.columns.steps else cycles

    def _result_lines(self, vectors: int) -> float:
        """Cache lines of a row of results; partial ones are written by other tiles too.

        0 if all results fit the second cache.
        """
        nbytes = max(self.rows.counts) * self.vectors * self.vector_bytes
        if nbytes <= self.caches.l2:
            return 0.0
        row_bytes = (self.columns.count or 0) * self.vector_bytes // self.lanes
        shared = gcd(row_bytes, vectors * self.vector_bytes) % LINE
        return vectors * self.vector_bytes / LINE + (0.5 if shared else 0.0)

    def _in_blocks(self, cycles: float, rows: int, vectors: int) -> float:
        """Cycles of a tile with cache blocking, from `cycles` with all steps in one block."""
        blocks, held = -(-self.depth // self.columns.steps[vectors - 1]), rows * vectors
        cycles += (blocks - 1) * (self.machine.loop_start + held)
        cycles += blocks * self.machine.l3_update * held
        is_even = (self.columns.count or 0) % (vectors * self.lanes) == 0
        return cycles if is_even else cycles * UNEVEN

    def _waiting(self, rows: int, vectors: int) -> float:
        """Cycles in which a step waits for loads of columns."""
        machine, row_bytes, highest = self.machine, self.columns.row_bytes, max(self.rows.counts)
        room, near, apart = self.caches.l2 * 5 // 8, 0.0, 0  # beside rows of the other operand
        if row_bytes is not None:
            room, near, apart = 2 * self.caches.l2, machine.strided_panel, gcd(row_bytes, PAGE)
        held_bytes = self.depth * max(vectors * self.vector_bytes, apart)
        is_far = not self.columns.steps and held_bytes > room and highest > rows
        waiting = (machine.l3_panel if is_far else near) * vectors
        if row_bytes is not None and self.vectors * self.depth * self.vector_bytes > self.caches.l2:
            waiting += machine.l3_strided * vectors
        is_read_again = len(self.rows.counts) > 1 or (row_bytes is None and highest > rows)
        if is_read_again and vectors * self.depth * self.vector_bytes > self.caches.l1:
            work = max(rows * vectors / machine.fma_rate, machine.fma_latency)
            panel = machine.l2_words if self.columns.is_words else machine.l2_panel
            waiting += max(0.0, machine.l2_gap * vectors - work) + panel * vectors
        return waiting


@dataclass(frozen=True)
class InnerProductCost:
    """Cycles of tiles of inner products, `repeats` times of `length` products each."""

    rows: int
    columns: int
    length: int
    repeats: int
    lanes: int
    element_bytes: int
    target: Target

    def per_product(self, height: int, width: int) -> float:
        """Cycles of tiles of this size for each product."""
        tiles = -(-self.rows // height)
        cycles = sum(
            n * m * self._cycles(h, w, tiles)
            for h, n in parts_of(self.rows, height)
            for w, m in parts_of(self.columns, width)
        )
        return cycles / (self.rows * self.columns * self.length * self.repeats)

    def _cycles(self, height: int, width: int, tiles: int) -> float:
        machine, steps = self.target.model, -(-self.length // self.lanes) * self.repeats
        # Columns stay in the first cache while all tiles of rows are computed.
        missed = height * (self._operand(self.rows) if tiles > 1 else 0.0)
        missed += width * self._operand(self.columns) / tiles
        loads = machine.unaligned_load * (height + width) + missed
        step = max(height * width / machine.fma_rate, loads, machine.fma_latency)
        return steps * step + height * width * CostModel(self.target).reduce_lanes(self.lanes)

    def _operand(self, count: int) -> float:
        """Cycles per vector of an operand of `count` rows beyond the first cache."""
        machine, caches = self.target.model, self.target.caches
        nbytes = count * self.length * self.repeats * self.element_bytes
        if nbytes <= caches.l1 // 2:
            return 0.0
        return machine.l2_operand if nbytes <= caches.l2 else machine.l3_operand


def _parts(count: int, rows: int, is_known: bool) -> list[tuple[int, int]]:
    """Pairs of a tile's rows and the number of such tiles; static remainders have fewer rows."""
    whole, left = divmod(count, rows)
    return parts_of(count, rows) if is_known and whole else [(rows, whole + (left > 0))]


def parts_of(count: int, size: int) -> list[tuple[int, int]]:
    """Pairs of a tile's size and the number of such tiles; the remainder is smaller."""
    whole, left = divmod(count, size)
    return [(n, times) for n, times in ((size, whole), (left, 1)) if n and times]


def _bytes_touched(loop: tir.ForOp) -> int:
    """Bytes of the regions that a loop reads and writes of buffers defined outside."""
    assert loop.parent is not None
    reads, writes = infer_regions(loop.parent, Values(), [loop])
    total = 0
    for region in (*reads, *writes):
        type_ = region.buffer.type
        assert isinstance(type_, tir.BufferType)
        size = prod(extent.constant or 0 for extent in region.extents)
        total += size * byte_width(type_.element_type)
    return total

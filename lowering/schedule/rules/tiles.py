"""Which tile of a contraction's results is kept in vector registers.

A tile of `rows` x `vectors` takes ``rows * vectors`` accumulators, `vectors` registers for a row of
one operand and a broadcast value of the other; each step of the reduction loads ``rows + vectors``
values for as many multiplications as there are accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from ....backend.target import Target
from ...costs import COPY, LATENCY

LONG = 1024
"""What an extent that is only known at run time is taken for."""

PAGE = 4096
"""Bytes from which on addresses that are a multiple apart share few lines of a cache."""

SPARE_REGISTERS = 4
"""Vector registers that are not accumulators: a row of an operand and what is on its way."""

LOAD = 0.15
"""Cycles that a load takes although multiplications run beside it."""

FAR = 0.5
"""Cycles that a vector of a panel takes besides where the panel does not fit the cache."""

APART = 0.05
"""The same for a vector of a matrix where it is: its rows are on pages of their own."""

SECOND, SECOND_LOAD = 1.15, 0.03
"""Cycles between two vectors of a panel that only the second cache has room for, and what each of
them takes although multiplications run beside it."""

START = 20.0
"""Cycles that a tile takes besides its multiplications."""

ADD_UP = 16.0
"""Cycles to add a vector of a tile to what other blocks of steps made, in the last cache."""

UNEVEN = 1.05
"""How much longer blocks take whose last tile of columns is not whole: all have masks then."""


@dataclass(frozen=True)
class Tile:
    """Rows of a register tile, and the vectors of columns in each; `cost` is time per result."""

    rows: int
    vectors: int
    cost: float


@dataclass(frozen=True)
class Rows:
    """How many rows there may be: each of `counts` is as likely, or others that are a `multiple`.

    A tile has at most `most`. Of tiles that take up to `slack` times as long as the best one the
    lowest is chosen.
    """

    counts: Sequence[int]
    multiple: int = 1
    slack: float = 1.0
    is_known: bool = False
    """Whether it is known when tiles are made."""
    most: int = LONG


@dataclass(frozen=True)
class Columns:
    """How many columns there are, of sums of `depth` products; `None` is not known.

    They are in panels that are `panel` columns wide, if that is given; with `row_bytes` they are
    those of a matrix, where they are, whose rows are so far apart. Panels that leave the cache are
    worked on in blocks of `steps`: those for one vector of columns, for two, and so on.
    """

    count: int | None
    depth: int | None
    panel: int | None = None
    row_bytes: int | None = None
    steps: Sequence[int] = ()


def choose_tile(rows: Rows, columns: Columns, lanes: int, target: Target) -> Tile:
    """The tile that takes the least time for so many results."""
    registers, highest = target.vector_registers, max(rows.counts)
    cost = _Cost(rows, columns, lanes, target)
    in_panel = None if columns.panel is None else columns.panel // lanes
    # A single row waits for memory: more than keeps the multipliers busy only pads the last panel.
    most = 2 * LATENCY if highest == 1 else registers
    widest = in_panel or min(cost.vectors, most)
    candidates = [
        Tile(r, v, cost.per_result(r, v))
        for r in range(1, min(highest, rows.most, registers) + 1)
        for v in range(1, widest + 1)
        if _fits(r, v, registers) and (in_panel is None or in_panel % v == 0)
        if rows.multiple == 1 or rows.multiple % r == 0
    ]
    limit = rows.slack * min(t.cost for t in candidates)
    good = [t for t in candidates if t.cost <= limit]
    return min(good, key=lambda t: (t.rows if rows.slack > 1 else 0, t.cost, -t.rows * t.vectors))


def cost_of(tile: Tile, rows: Rows, columns: Columns, lanes: int, target: Target) -> float:
    """The time per result of a tile for other numbers of rows or columns."""
    return _Cost(rows, columns, lanes, target).per_result(tile.rows, tile.vectors)


class _Cost:
    """What tiles of some rows and columns take."""

    def __init__(self, rows: Rows, columns: Columns, lanes: int, target: Target):
        self.rows, self.columns, self.lanes, self.caches = rows, columns, lanes, target.caches
        self.depth = columns.depth or LONG
        self.vectors = -(-(columns.count or LONG) // lanes)
        self.vector_bytes = target.vector_bits // 8

    def per_result(self, rows: int, vectors: int) -> float:
        """Cycles of tiles of this size, as a part of those for one vector of products each."""
        whole, left = divmod(self.vectors, vectors)
        spent = len(self.rows.counts) * self._copied(vectors, left) * self.depth * COPY
        is_known = self.rows.is_known and not self.columns.steps
        for count in self.rows.counts:
            for height, tiles in _parts(count, rows, is_known):
                spent += tiles * self._cycles(height, vectors) * whole
                last = vectors if self.columns.steps else left  # blocks have whole tiles only
                spent += tiles * self._cycles(height, last) if left else 0.0
        return spent / (sum(self.rows.counts) * self.vectors * self.depth)

    def _copied(self, vectors: int, left: int) -> int:
        """Vectors of columns that are copied, for they make up no tile where they are."""
        in_place = self.columns.row_bytes is not None
        is_whole = (self.columns.count or 0) % (vectors * self.lanes) == 0
        return left or vectors if in_place and not is_whole else 0

    def _cycles(self, rows: int, vectors: int) -> float:
        """Cycles of a tile, which may be smaller than others."""
        row_bytes = self.columns.row_bytes
        # A vector that starts anywhere is in two lines of the cache.
        lines = 1 if row_bytes is None or row_bytes % self.vector_bytes == 0 else 2
        work, loads = rows * vectors / 2, (rows + vectors) / 2
        step = max(work, (rows + vectors * lines) / 2, LATENCY) + LOAD * loads
        cycles = self.depth * (step + self._waiting(rows, vectors)) + START + 2 * work
        return self._in_blocks(cycles, rows, vectors) if self.columns.steps else cycles

    def _in_blocks(self, cycles: float, rows: int, vectors: int) -> float:
        """Cycles of a tile that would take so many with all steps in one block."""
        blocks, held = -(-self.depth // self.columns.steps[vectors - 1]), rows * vectors
        cycles += (blocks - 1) * (START + held) + blocks * ADD_UP * held
        is_even = (self.columns.count or 0) % (vectors * self.lanes) == 0
        return cycles if is_even else cycles * UNEVEN

    def _waiting(self, rows: int, vectors: int) -> float:
        """Cycles of a step in which a tile waits for its columns."""
        row_bytes, highest = self.columns.row_bytes, max(self.rows.counts)
        room, near, apart = self.caches.l2 * 5 // 8, 0.0, 0  # beside rows of the other operand
        if row_bytes is not None:
            room, near, apart = 2 * self.caches.l2, APART, gcd(row_bytes, PAGE)
        held_bytes = self.depth * max(vectors * self.vector_bytes, apart)
        is_far = not self.columns.steps and held_bytes > room and highest > rows
        waiting = (FAR if is_far else near) * vectors
        is_read_again = len(self.rows.counts) > 1 or (row_bytes is None and highest > rows)
        if is_read_again and vectors * self.depth * self.vector_bytes > self.caches.l1:
            waiting += max(0.0, SECOND * vectors - max(rows * vectors / 2, LATENCY))
            waiting += SECOND_LOAD * vectors
        return waiting


def _parts(count: int, rows: int, is_known: bool) -> list[tuple[int, int]]:
    """The heights of tiles and how many have them; if it is known, what is left has a lower one."""
    whole, left = divmod(count, rows)
    return parts_of(count, rows) if is_known and whole else [(rows, whole + (left > 0))]


def parts_of(count: int, size: int) -> list[tuple[int, int]]:
    """The sizes of tiles and how many have them, where what is left has a smaller one."""
    whole, left = divmod(count, size)
    return [(n, times) for n, times in ((size, whole), (left, 1)) if n and times]


def is_sped_by_rows(tile: Tile) -> bool:
    """Whether a tile with fewer rows takes less time."""
    return tile.rows > 1 and tile.rows * tile.vectors > 2 * LATENCY


def _fits(rows: int, vectors: int, registers: int) -> bool:
    """Whether the accumulators fit; a single row may multiply straight from memory."""
    accumulators = rows * vectors
    held = 1 if rows == 1 else vectors
    return accumulators <= registers - SPARE_REGISTERS and accumulators + held <= registers - 1

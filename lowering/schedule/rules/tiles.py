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

LONG = 1024
"""What an extent that is only known at run time is taken for."""

PAGE = 4096
"""Bytes from which on addresses that are a multiple apart share few lines of a cache."""

SPARE_REGISTERS = 4
"""Vector registers that are not accumulators: a row of an operand and what is on its way."""

LATENCY = 5
"""Cycles until the result of a multiply-add can be added to; two of them start in each cycle."""

LOAD = 0.15
"""Cycles that a load takes although multiplications run beside it."""

FAR = 0.5
"""Cycles that a vector of a panel takes besides where the panel does not fit the cache."""

APART = 0.05
"""The same for a vector of a matrix where it is: its rows are on pages of their own."""

COPY = 3.5
"""Cycles that it takes to copy a vector to a panel."""

NARROWER = 1.02
"""How much longer tiles may take that are narrower, where nobody knows how many columns there are:
the last one has fewer columns beyond the end then."""

SECOND, SECOND_LOAD = 1.15, 0.03
"""Cycles between two vectors of a panel that only the second cache has room for, and what each of
them takes although multiplications run beside it."""

START = 20.0
"""Cycles that a tile takes besides its multiplications."""


@dataclass(frozen=True)
class Tile:
    """Rows of a register tile, and the vectors of columns in each; `cost` is time per result."""

    rows: int
    vectors: int
    cost: float


@dataclass(frozen=True)
class Rows:
    """How many rows there may be: each of `counts` is as likely, or others that are a `multiple`.

    Of tiles that take up to `slack` times as long as the best one the lowest is chosen.
    """

    counts: Sequence[int]
    multiple: int = 1
    slack: float = 1.0
    is_known: bool = False
    """Whether it is known when tiles are made."""


def choose_tile(
    rows: Rows,
    most_rows: int,
    columns: int | None,
    depth: int | None,
    lanes: int,
    target: Target,
    panel: int | None = None,
    is_blocked: bool = False,
    row_bytes: int | None = None,
) -> Tile:
    """The tile that takes the least time for results of a size; `None` is not known.

    It has at most so many rows, and a width that divides `panel` where that is given. With
    `is_blocked`, panels that leave the cache are worked on in parts; with `row_bytes`, columns are
    those of a matrix, where they are, whose rows are so far apart.
    """
    registers = target.vector_registers
    in_vectors = -(-(columns or LONG) // lanes)
    # A single row waits for memory: more than keeps the multipliers busy only pads the last panel.
    highest = max(rows.counts)
    most = 2 * LATENCY if highest == 1 else registers
    widest = min(in_vectors, most) if panel is None else panel // lanes
    vector = target.vector_bits // 8
    room = target.caches.l2 * 5 // 8  # beside rows of the other operand
    held = target.caches.l1 // vector
    steps = depth or LONG
    lines = 1 if row_bytes is None or row_bytes % vector == 0 else 2
    near, apart = 0.0, 0
    if row_bytes is not None:
        room, near, apart = 2 * target.caches.l2, APART, gcd(row_bytes, PAGE)

    def tile_cycles(r: int, v: int) -> float:
        """Cycles of a tile that may be smaller than others."""
        held_bytes = steps * max(v * vector, apart)
        is_far = not is_blocked and held_bytes > room and highest > r
        waiting = (FAR if is_far else near) * v
        is_read_again = len(rows.counts) > 1 or (row_bytes is None and highest > r)
        if is_read_again and v * steps > held:
            waiting += max(0.0, SECOND * v - max(r * v / 2, LATENCY)) + SECOND_LOAD * v
        return _cycles(r, v, steps, lines, waiting)

    def cost(r: int, v: int) -> float:
        whole, left = divmod(in_vectors, v)
        # Columns in place that make up no tile are copied.
        copied = 0 if row_bytes is None or not (columns or 0) % (v * lanes) else left or v
        spent = len(rows.counts) * copied * steps * COPY
        for count in rows.counts:
            tiles = _parts(count, r, rows.is_known and not is_blocked)
            spent += sum(n * tile_cycles(height, v) for height, n in tiles) * whole
            spent += sum(n * tile_cycles(height, left) for height, n in tiles) if left else 0.0
        return spent / (sum(rows.counts) * in_vectors * steps)

    candidates = [
        Tile(r, v, cost(r, v))
        for r in range(1, min(highest, most_rows, registers) + 1)
        for v in range(1, widest + 1)
        if _fits(r, v, registers) and (panel is None or panel // lanes % v == 0)
        if rows.multiple == 1 or rows.multiple % r == 0
    ]
    limit = rows.slack * min(t.cost for t in candidates)
    good = [t for t in candidates if t.cost <= limit]
    return min(good, key=lambda t: (t.rows if rows.slack > 1 else 0, t.cost, -t.rows * t.vectors))


def _parts(count: int, rows: int, is_known: bool) -> list[tuple[int, int]]:
    """The heights of tiles and how many have them; if it is known, what is left has a lower one."""
    whole, left = divmod(count, rows)
    if not left:
        return [(rows, whole)]
    return [(rows, whole), (left, 1)] if is_known and whole else [(rows, whole + 1)]


def is_sped_by_rows(tile: Tile) -> bool:
    """Whether a tile with fewer rows takes less time."""
    return tile.rows > 1 and tile.rows * tile.vectors > 2 * LATENCY


def _fits(rows: int, vectors: int, registers: int) -> bool:
    """Whether the accumulators fit; a single row may multiply straight from memory."""
    accumulators = rows * vectors
    held = 1 if rows == 1 else vectors
    return accumulators <= registers - SPARE_REGISTERS and accumulators + held <= registers - 1


def _cycles(rows: int, vectors: int, depth: int, lines: int, waiting: float) -> float:
    """Cycles of a tile, each vector of whose columns is in so many lines of the cache."""
    work, loads = rows * vectors / 2, (rows + vectors) / 2
    step = max(work, (rows + vectors * lines) / 2, LATENCY) + LOAD * loads + waiting
    return depth * step + START + 2 * work

"""Which tile of a contraction's results is kept in vector registers.

A tile of `rows` x `vectors` takes ``rows * vectors`` accumulators, `vectors` registers for a row of
one operand and a broadcast value of the other; each step of the reduction loads ``rows + vectors``
values for as many multiplications as there are accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....backend.target import Target

LONG = 1024
"""What an extent that is only known at run time is taken for."""

SPARE_REGISTERS = 4
"""Vector registers that are not accumulators: a row of an operand and what is on its way."""

LATENCY = 5
"""Cycles until the result of a multiply-add can be added to; two of them start in each cycle."""

LOAD = 0.15
"""Cycles that a load takes although multiplications run beside it."""

FAR = 0.5
"""Cycles that a vector of a panel takes besides where the panel does not fit the cache."""

NARROWER = 1.02
"""How much longer tiles may take that are narrower, where nobody knows how many columns there are:
the last one has fewer columns beyond the end then."""

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


def choose_tile(
    rows: Rows,
    most_rows: int,
    columns: int | None,
    depth: int | None,
    lanes: int,
    target: Target,
    panel: int | None = None,
    is_blocked: bool = False,
    is_strided: bool = False,
) -> Tile:
    """The tile that takes the least time for results of a size; `None` is not known.

    It has at most so many rows, and a width that divides `panel` where that is given. With
    `is_blocked`, panels that leave the cache are worked on in parts; with `is_strided`, a panel is
    columns of a matrix where it is, which the cache after the first is too far for: each row of it
    is on another page.
    """
    registers = target.vector_registers
    in_vectors = -(-(columns or LONG) // lanes)
    # A single row waits for memory: more than keeps the multipliers busy only pads the last panel.
    highest = max(rows.counts)
    most = 2 * LATENCY if highest == 1 else registers
    widest = min(in_vectors, most) if panel is None else panel // lanes
    vector = target.vector_bits // 8
    cache = target.caches.l1 if is_strided else target.caches.l2
    room = cache * 5 // 8 // vector  # beside rows of the other operand
    held = target.caches.l1 // vector

    def cost(r: int, v: int) -> float:
        is_far = not is_blocked and v * (depth or LONG) > room and highest > r
        waiting = FAR * v if is_far else 0.0
        if len(rows.counts) > 1 and v * (depth or LONG) > held:  # a load takes a cycle then
            waiting += max(0.0, v - max(r * v / 2, LATENCY))
        spent = [_cycles(r, v, n, in_vectors, depth or LONG, waiting) for n in rows.counts]
        return sum(spent) / (sum(rows.counts) * in_vectors * (depth or LONG))

    candidates = [
        Tile(r, v, cost(r, v))
        for r in range(1, min(highest, most_rows, registers) + 1)
        for v in range(1, widest + 1)
        if _fits(r, v, registers) and (panel is None or panel // lanes % v == 0)
        if rows.multiple == 1 or rows.multiple % r == 0
    ]
    is_open = columns is None and panel is None
    limit = (max(rows.slack, NARROWER) if is_open else rows.slack) * min(t.cost for t in candidates)
    good = [t for t in candidates if t.cost <= limit]

    def preference(t: Tile) -> tuple[float, ...]:
        lowest = t.rows if rows.slack > 1 else 0
        return t.vectors if is_open else 0, lowest, t.cost, -t.rows * t.vectors

    return min(good, key=preference)


def is_sped_by_rows(tile: Tile) -> bool:
    """Whether a tile with fewer rows takes less time."""
    return tile.rows > 1 and tile.rows * tile.vectors > 2 * LATENCY


def _fits(rows: int, vectors: int, registers: int) -> bool:
    """Whether the accumulators fit; a single row may multiply straight from memory."""
    accumulators = rows * vectors
    held = 1 if rows == 1 else vectors
    return accumulators <= registers - SPARE_REGISTERS and accumulators + held <= registers - 1


def _cycles(
    rows: int, vectors: int, all_rows: int, all_vectors: int, depth: int, waiting: float
) -> float:
    """Cycles when tiles of this size make all results."""
    count = -(-all_rows // rows) * -(-all_vectors // vectors)
    work, loads = rows * vectors / 2, (rows + vectors) / 2
    step = max(work, loads, LATENCY) + LOAD * loads + waiting
    return count * (depth * step + START + 2 * work)

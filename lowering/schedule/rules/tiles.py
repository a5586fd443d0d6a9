"""Which tile of a contraction's results is kept in vector registers.

A tile of `rows` x `vectors` takes ``rows * vectors`` accumulators, `vectors` registers for a row of
one operand and a broadcast value of the other; each step of the reduction loads ``rows + vectors``
values for as many multiplications as there are accumulators.
"""

from __future__ import annotations

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

START = 20.0
"""Cycles that a tile takes besides its multiplications."""


@dataclass(frozen=True)
class Tile:
    """Rows of a register tile, and the vectors of columns in each; `cost` is time per result."""

    rows: int
    vectors: int
    cost: float


def choose_tile(
    rows: int | None,
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
    most = 2 * LATENCY if rows == 1 else registers
    widest = min(in_vectors, most) if panel is None else panel // lanes
    cache = target.caches.l1 if is_strided else target.caches.l2
    room = cache * 5 // 8 // (target.vector_bits // 8)  # beside rows of the other operand

    def cost(r: int, v: int) -> float:
        is_far = not is_blocked and v * (depth or LONG) > room and (rows or LONG) > r
        return _cost(r, v, rows or LONG, in_vectors, depth or LONG, FAR * v if is_far else 0.0)

    candidates = [
        Tile(r, v, cost(r, v))
        for r in range(1, min(rows or LONG, most_rows, registers) + 1)
        for v in range(1, widest + 1)
        if _fits(r, v, registers) and (panel is None or panel // lanes % v == 0)
    ]
    return min(candidates, key=lambda t: (t.cost, -t.rows * t.vectors))


def _fits(rows: int, vectors: int, registers: int) -> bool:
    """Whether the accumulators fit; a single row may multiply straight from memory."""
    accumulators = rows * vectors
    held = 1 if rows == 1 else vectors
    return accumulators <= registers - SPARE_REGISTERS and accumulators + held <= registers - 1


def _cost(
    rows: int, vectors: int, all_rows: int, all_vectors: int, depth: int, waiting: float
) -> float:
    """Cycles for each vector of results that is wanted, when tiles of this size make them all."""
    count = -(-all_rows // rows) * -(-all_vectors // vectors)
    work, loads = rows * vectors / 2, (rows + vectors) / 2
    step = max(work, loads, LATENCY) + LOAD * loads + waiting
    cycles = count * (depth * step + START + 2 * work)
    return cycles / (max(all_rows, 1) * max(all_vectors, 1) * max(depth, 1))

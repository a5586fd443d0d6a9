"""Choose the register tile of a contraction.

A tile of `rows` x `vectors` takes ``rows * vectors`` accumulators, `vectors` registers for a row of
one operand, and one for a broadcast element of the other. Each step of the reduction makes
``rows + vectors`` loads and ``rows * vectors`` multiply-adds.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...cost_model import TileCost

SPARE_REGISTERS = 4
"""Vector registers kept free of accumulators, for a row of an operand and for loads in flight."""

CONVERTED_REGISTERS = 9
"""Vector registers for the broadcast operand and for products before they are added, if operands
are converted."""


ROUNDING = 1e-6
"""Costs that differ by less are equal."""


@dataclass(frozen=True)
class Tile:
    """Rows of a register tile, and the vectors of columns in each.

    `cost` is cycles per vector multiply-add.
    """

    rows: int
    vectors: int
    cost: float


def choose_tile(cost: TileCost) -> Tile:
    """The tile of least cost; of those within ``rows.slack``, the one of fewest rows.

    Of tiles of the same cost, the one whose last panel is padded least, then the one that divides
    the rows, or leaves most in the last tile, then the largest one.
    """
    rows, found = cost.rows, tiles_of(cost)
    limit = rows.slack * min(t.cost for t in found) + ROUNDING
    good = [t for t in found if t.cost <= limit]

    def order(t: Tile) -> tuple[float, ...]:
        fewest = t.rows if rows.slack > 1 else 0
        missing = -cost.vectors % t.vectors, -max(rows.counts) % t.rows
        return fewest, round(t.cost / ROUNDING), *missing, -t.rows * t.vectors

    return min(good, key=order)


def tiles_of(cost: TileCost) -> list[Tile]:
    """The tiles that fit in registers, and in panels if columns have these."""
    rows, target = cost.rows, cost.target
    registers, highest = target.vector_registers, max(rows.counts)
    in_panel = None if cost.columns.panel is None else cost.columns.panel // cost.lanes
    # A single row is bound by memory: wider tiles only pad the last panel.
    single = int(target.model.row_vectors)
    widest = in_panel or min(cost.vectors, single if highest == 1 else registers)
    return [
        Tile(r, v, cost.per_result(r, v))
        for r in range(1, min(highest, rows.most, registers) + 1)
        for v in range(1, widest + 1)
        if tile_fits(r, v, registers, cost.columns.registers)
        and (in_panel is None or in_panel % v == 0)
        if rows.multiple == 1 or rows.multiple % r == 0
    ]


def tile_fits(rows: int, vectors: int, registers: int, each: int = 1) -> bool:
    """Whether a tile fits in registers; a single row may use memory operands.

    A vector of columns takes `each` of them.
    """
    accumulators = rows * vectors
    held = each * (1 if rows == 1 else vectors) + (0 if each == 1 else CONVERTED_REGISTERS)
    return accumulators <= registers - SPARE_REGISTERS and accumulators + held <= registers - 1

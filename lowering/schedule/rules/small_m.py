"""Multiversioning for small m, if m is symbolic.

A contraction that packs columns does so in each call, also for a single row. For small m, reading
columns in place takes less time; the cost model determines up to which m.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....backend.target import Target
from ...cost_model import UNKNOWN_EXTENT, Columns, Rows, TileCost
from .contraction_plan import (
    SMALL_M,
    UNKNOWN_ROWS,
    Plan,
    count_of,
    is_contiguous,
    most_rows,
    plan_in_place,
    row_bytes,
)
from .tiles import choose_tile


@dataclass(frozen=True)
class SmallM:
    """A plan for fewer rows than `limit`."""

    plan: Plan
    limit: int


def small_m(panels: Plan, target: Target) -> SmallM | None:
    """The plan for small m, if m is symbolic and reading in place is faster for small values."""
    contraction, m, lanes = panels.contraction, panels.m, panels.lanes
    if m is None or not panels.packs or contraction.m != (m,):
        return None
    if contraction.extent(m).constant is not None or panels.is_swapped:
        return None
    if not is_contiguous(contraction):
        return None
    count = contraction.extent(contraction.n).constant
    packed = Columns(count, count_of(contraction, contraction.k))
    columns = Columns(count, packed.depth, row_bytes=row_bytes(contraction))
    rows = Rows([min(most_rows(contraction, m), SMALL_M)])
    tile = choose_tile(TileCost(rows, columns, lanes, target))
    plan = plan_in_place(contraction, m, tile, lanes)
    if plan is None or plan.packs_rest:  # its copy would be made for large m too
        return None
    for tried in range(tile.rows, UNKNOWN_EXTENT, tile.rows):
        few, many = (
            TileCost(Rows([tried]), c, lanes, target).per_result(t.rows, t.vectors)
            for t, c in ((tile, columns), (panels.tile, packed))
        )
        if tried * many + target.model.copy <= tried * few * UNKNOWN_ROWS:
            return SmallM(plan, tried - tile.rows + 1) if tried > tile.rows else None
    return SmallM(plan, UNKNOWN_EXTENT)

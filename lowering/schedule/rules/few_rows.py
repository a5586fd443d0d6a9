"""What to do with few rows, where only the run time knows how many there are.

A contraction that copies columns to panels does so in each call, also for a single row. Few rows
take less time where columns are read in place: the cost model says up to how many.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....backend.target import Target
from ....dialects.int_expr import ONE
from ...costs import COPY
from .contraction_plan import (
    FEW_ROWS,
    UNKNOWN_ROWS,
    Plan,
    count_of,
    most_rows,
    plan_in_place,
    row_bytes,
)
from .products import step_along
from .tiles import LONG, Columns, Rows, choose_tile, cost_of


@dataclass(frozen=True)
class FewRows:
    """A plan for fewer rows than `limit`."""

    plan: Plan
    limit: int


def few_rows(panels: Plan, target: Target) -> FewRows | None:
    """The plan for few rows, if there may be few, and if one without panels is quicker for some."""
    product, row, lanes = panels.product, panels.row, panels.lanes
    if row is None or not panels.packs or product.rows != (row,):
        return None
    if product.extent(row).constant is not None or panels.is_turned:
        return None
    if any(step_along(product, op, product.column) != ONE for op in product.moving):
        return None
    count = product.extent(product.column).constant
    packed = Columns(count, count_of(product, product.reduce))
    columns = Columns(count, packed.depth, row_bytes=row_bytes(product))
    rows = Rows([min(most_rows(product, row), FEW_ROWS)])
    tile = choose_tile(rows, columns, lanes, target)
    plan = plan_in_place(product, row, tile, lanes)
    if plan is None or plan.packs_rest:  # a copy would be made also for many rows
        return None
    for tried in range(tile.rows, LONG, tile.rows):
        few = cost_of(tile, Rows([tried]), columns, lanes, target)
        many = cost_of(panels.tile, Rows([tried]), packed, lanes, target)
        if tried * many + COPY <= tried * few * UNKNOWN_ROWS:
            return FewRows(plan, tried - tile.rows + 1) if tried > tile.rows else None
    return FewRows(plan, LONG)

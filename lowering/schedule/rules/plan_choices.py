"""The choices that a search has for a contraction: the kind of its plan, its tile, its blocks.

The default of each is that of the cost model. Only what registers allow is a candidate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ....backend.target import Target
from ..primitives.schedule import Schedule
from .cache_blocks import CacheBlocks, blockable_steps, cache_blocks
from .contraction_plan import (
    Plan,
    candidates,
    choose_panel,
    choose_rows,
    is_contiguous,
    plan_in_place,
    plan_of,
    row_bytes,
    row_tiles_of,
    tile_cost,
)
from .inner_products import inner_product_cost, inner_product_tiles
from .match_contraction import Contraction
from .tiles import Tile, tiles_of

LEAST_STEPS = 64
"""The least steps in a block: results are loaded and stored for each."""

MOST_PANEL_VECTORS = 8
"""The most vectors in a panel of a constant operand."""


def decide_plan(sch: Schedule, contraction: Contraction, target: Target) -> Plan | None:
    """The plan for a contraction; `None` if no tiling suits it, or if it is streamed."""
    if sch.decisions is None:
        return plan_of(contraction, target)
    found = {_kind(c.plan): c for c in candidates(contraction, target)}
    if not found:
        return None
    name, default = _name(contraction), min(found.values(), key=lambda c: c.cycles)
    kind = sch.decide(f"{name}.plan", _kind(default.plan), lambda: found, lambda k: found[k].cycles)
    plan = found[kind].plan
    if plan is None:
        return None
    plan = _decide_tile(sch, name, plan, target)
    return _decide_rows(sch, name, _decide_blocks(sch, name, plan, target), target)


def decide_panel(sch: Schedule, contraction: Contraction, target: Target) -> int | None:
    """The width of panels for a constant right operand; `None` if it keeps its layout."""
    width = choose_panel(contraction, target)
    if width is None:
        return None
    lanes = target.lanes(contraction.element_bits)
    counts = range(1, MOST_PANEL_VECTORS + 1)
    vectors = sch.decide(f"{_name(contraction)}.panel", width // lanes, lambda: counts)
    return vectors * lanes


def decide_tile(sch: Schedule, contraction: Contraction, lanes: int, target: Target) -> Tile:
    """The tile of a contraction whose operands are packed."""
    axis, default = choose_rows(contraction, lanes, target)
    if sch.decisions is None:
        return default
    found = {(t.rows, t.vectors): t for t in tiles_of(tile_cost(contraction, axis, lanes, target))}
    size = default.rows, default.vectors
    name = f"{_name(contraction)}.tile"
    return found[sch.decide(name, size, lambda: found, lambda tile: found[tile].cost)]


def _name(contraction: Contraction) -> str:
    return contraction.block.block_name.data


def _kind(plan: Plan | None) -> str:
    if plan is None:
        return "streamed"
    if plan.is_inner_product:
        return "inner products"
    return "swapped" if plan.is_swapped else "packed" if plan.packs else "in place"


def _decide_tile(sch: Schedule, name: str, plan: Plan, target: Target) -> Plan:
    """The plan with another tile, if that is chosen."""
    default = plan.tile.rows, plan.tile.vectors
    others = (_with_tile(plan, tile) for tile in _tiles(plan, target))
    plans = {(p.tile.rows, p.tile.vectors): p for p in others if p is not None}
    plans[default] = plan
    tile = sch.decide(f"{name}.tile", default, lambda: plans, lambda t: plans[t].tile.cost)
    return plans[tile]


def _tiles(plan: Plan, target: Target) -> Iterable[Tile]:
    """The tiles of a plan's kind that fit in registers."""
    contraction, m, lanes = plan.contraction, plan.m, plan.lanes
    if plan.is_inner_product and m is not None:
        cost = inner_product_cost(contraction, m, lanes, target)
        return () if cost is None else inner_product_tiles(contraction, cost, target)
    in_place = not plan.packs and contraction.panel is None and is_contiguous(contraction)
    apart = row_bytes(contraction) if in_place else None
    return tiles_of(tile_cost(contraction, m, lanes, target, contraction.panel, apart))


def _with_tile(plan: Plan, tile: Tile) -> Plan | None:
    """A plan with another tile, if it suits."""
    if not plan.packs_rest:
        columns = plan.contraction.extent(plan.contraction.n).constant
        is_whole = plan.packs or plan.is_inner_product or plan.contraction.panel is not None
        if not is_whole and (columns or 0) % (tile.vectors * plan.lanes):
            return plan_in_place(plan.contraction, plan.m, tile, plan.lanes)
        return replace(plan, tile=tile)
    return plan_in_place(plan.contraction, plan.m, tile, plan.lanes)


def _decide_blocks(sch: Schedule, name: str, plan: Plan, target: Target) -> Plan:
    """The plan with cache blocks, if that is chosen."""
    blocks = cache_blocks(plan.contraction, plan.m, plan.tile, plan.lanes, target)
    if plan.is_inner_product or plan.is_swapped:
        return replace(plan, blocks=blocks)
    chosen = sch.decide(f"{name}.blocks", _sizes(blocks), lambda: _block_sizes(plan))
    if not chosen:
        return plan
    steps, row_tiles, column_tiles = chosen
    return replace(plan, blocks=CacheBlocks(steps, row_tiles or None, column_tiles or None))


def _decide_rows(sch: Schedule, name: str, plan: Plan, target: Target) -> Plan:
    """The plan with blocks of rows, if there is a choice."""
    default = row_tiles_of(plan, target)
    if default is None:
        return plan
    tiles = sch.decide(f"{name}.row_tiles", default, lambda: _parts(default))
    return replace(plan, row_tiles=tiles or None)


def _sizes(blocks: CacheBlocks | None) -> tuple[int, ...]:
    """Blocks as a decision: no sizes without blocks, and 0 for all tiles."""
    if blocks is None:
        return ()
    return blocks.steps, blocks.row_tiles or 0, blocks.column_tiles or 0


def _block_sizes(plan: Plan) -> list[tuple[int, ...]]:
    """Blocks of steps that divide their number, with all tiles or some of them."""
    contraction, m = plan.contraction, plan.m
    steps, columns = blockable_steps(contraction), contraction.extent(contraction.n).constant
    rows = None if m is None else contraction.extent(m).constant
    found: list[tuple[int, ...]] = [()]
    if steps is None or rows is None or columns is None or columns % plan.width:
        return found
    in_column, in_row = -(-rows // plan.tile.rows), -(-columns // plan.width)
    for depth in (n for n in range(LEAST_STEPS, steps) if steps % n == 0):
        for row_tiles in _parts(in_column):
            found += [(depth, row_tiles, tiles) for tiles in _parts(in_row)]
    return found


def _parts(count: int) -> list[int]:
    """All of `count`, as 0, or parts of a half, a quarter, …"""
    return [0, *(-(-count // n) for n in (2, 4, 8) if count >= 2 * n)]

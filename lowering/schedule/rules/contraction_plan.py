"""How a contraction is tiled: the row axis, the tile, and where its columns come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, Arg, Compound, IntExpr
from ....dialects.sym import exprs_of
from ...costs import LATENCY
from .cache_blocks import CacheBlocks, block_steps, cache_blocks, can_block
from .inner_products import choose_inner_products
from .match_contraction import Contraction, column_dim, dense_bytes, step_along
from .plan_cost import (
    copied_cycles,
    panel_cycles,
    streamed_cycles,
    swapped_cycles,
    tile_cycles,
)
from .swapped_operands import swap_operands
from .tiles import LONG, PAGE, Columns, Rows, Tile, choose_tile

ROWS_APART = 8
"""The most rows of a tile whose distance is only known at run time: each needs an address."""

ROWS_ON_PAGES = 10
"""The most rows whose distance is a multiple of `PAGE`: they share few lines of a cache."""

SMALL_M = 4
"""The most rows of a tile if their number is only known at run time, when there may be one."""

UNKNOWN_ROWS = 1.1
"""How much worse a tile is for an extent that is only known at run time: there may be few rows."""

LOWER = 1.02
"""How much longer full tiles may take that are lower: fewer rows are left by them then."""


@dataclass(frozen=True)
class Plan:
    """What to do with a contraction; `m` is `None` where it has one row only."""

    contraction: Contraction
    m: int | None
    tile: Tile
    lanes: int
    packs: bool
    packs_rest: bool = False
    """Whether columns are packed that make up no tile, where the others are read in place."""
    blocks: CacheBlocks | None = None
    is_swapped: bool = False
    """Whether columns are the rows of results, which are stored along the others."""
    is_inner_product: bool = False
    """Whether sums are along neighbours, each in lanes of its own; a tile has columns then."""

    @property
    def width(self) -> int:
        """Columns of the tile."""
        return self.tile.vectors * self.lanes


def plan_of(contraction: Contraction, target: Target) -> Plan | None:
    """The plan for a contraction; `None` where tiles of rows and columns do not suit it."""
    plan = _tiles_of(contraction, target)
    if plan is None:
        return None
    blocks = cache_blocks(contraction, plan.m, plan.tile, plan.lanes, target)
    return replace(plan, blocks=blocks)


def _tiles_of(contraction: Contraction, target: Target) -> Plan | None:
    """The plan without blocks."""
    lanes = target.lanes(contraction.element_bits)
    if lanes < 2:
        return None
    panel = next((w for op in contraction.rhs if (w := panel_width(contraction, op))), None)
    if panel is None and _is_one_panel(contraction, lanes, target):
        panel = contraction.extent(contraction.n).constant
    m, tile = choose_rows(contraction, lanes, target, panel)
    if panel is not None:
        ready = len(contraction.rhs) == 1
        return Plan(contraction, m, tile, lanes, False) if ready and not panel % lanes else None
    columns = contraction.extent(contraction.n).constant
    contiguous = all(step_along(contraction, op, contraction.n) == ONE for op in contraction.rhs)
    width = tile.vectors * lanes
    if contiguous and columns == width:  # one panel is what it is already
        return Plan(contraction, m, tile, lanes, False)
    if not contiguous:
        return _plan_of_neighbours(contraction, m, tile, lanes, target)
    rows = count_of(contraction, contraction.m)
    in_place = m, tile
    if rows is not None:
        in_place = choose_rows(contraction, lanes, target, row_bytes=row_bytes(contraction))
    plan = plan_in_place(contraction, *in_place, lanes)
    if not is_packable(contraction):
        return plan
    copied = Plan(contraction, m, tile, lanes, True)
    if rows is None or (m is not None and can_block(contraction, m, lanes, target)):
        return copied
    found = [
        (streamed_cycles(contraction, lanes), None),
        (copied_cycles(contraction, tile, lanes), copied),
    ]
    if plan is not None:
        found.append((tile_cycles(contraction, plan.tile, lanes), plan))
    return min(found, key=lambda f: f[0])[1]


def plan_in_place(contraction: Contraction, m: int | None, tile: Tile, lanes: int) -> Plan | None:
    """A plan for columns that are neighbours and stay where they are, if they can."""
    columns, width = contraction.extent(contraction.n).constant, tile.vectors * lanes
    if m is None or columns is None:
        return None
    if columns % width == 0:
        return Plan(contraction, m, tile, lanes, False)
    is_matrix = is_packable(contraction) and all(
        not contraction.uses(contraction.rhs[0], axis)
        for axis, kind in enumerate(contraction.block.axis_kinds)
        if kind == "spatial" and axis in contraction.loops and axis != contraction.n
    )
    suits = columns > width and is_matrix
    return Plan(contraction, m, tile, lanes, False, True) if suits else None


def is_near(contraction: Contraction, target: Target) -> bool:
    """Whether what moves with the columns fits the cache beside rows of the other operand.

    If not, sums wait for it, and that a tile has more rows than there are takes no time.
    """
    sizes = [dense_bytes(load.buffer) for load in contraction.rhs]
    return all(size is not None and size <= target.caches.l2 * 5 // 8 for size in sizes)


def _is_one_panel(contraction: Contraction, lanes: int, target: Target) -> bool:
    """Whether columns are neighbours, and no more than in a panel for unknown numbers of rows."""
    columns = contraction.extent(contraction.n).constant
    return (
        columns is not None
        and columns % lanes == 0
        and columns <= 2 * LATENCY * lanes
        and is_near(contraction, target)
        and any(contraction.extent(axis).constant is None for axis in contraction.m)
        and all(step_along(contraction, op, contraction.n) == ONE for op in contraction.rhs)
    )


def choose_rows(
    contraction: Contraction,
    lanes: int,
    target: Target,
    panel: int | None = None,
    row_bytes: int | None = None,
) -> tuple[int | None, Tile]:
    """The axis whose values are the rows of a tile, and the tile; see `choose_tile`."""
    count = contraction.extent(contraction.n).constant
    columns = Columns(count, count_of(contraction, contraction.k), panel, row_bytes)
    if not contraction.m:
        return None, choose_tile(Rows([1]), Columns(count, columns.depth, panel), lanes, target)
    found: list[tuple[float, int, Tile]] = []
    for axis in contraction.m:
        size = contraction.extent(axis).constant
        most = most_rows(contraction, axis)
        has_versions = panel is not None and is_near(contraction, target)
        if size is None and not has_versions:
            most = min(most, SMALL_M)
        steps = () if count is None else block_steps(contraction, axis, lanes, target)
        rows = _rows_of(contraction.extent(axis), LOWER if has_versions else 1.0)
        rows, columns = replace(rows, most=most), replace(columns, steps=steps)
        tile = choose_tile(rows, columns, lanes, target)
        found.append((tile.cost * (UNKNOWN_ROWS if size is None else 1), -axis, tile))
    _, axis, tile = min(found, key=lambda f: f[:2])
    return -axis, tile


def _rows_of(extent: IntExpr, slack: float) -> Rows:
    """How many rows there may be; of those left by whole tiles each number is as likely."""
    if extent.constant is not None:
        return Rows([extent.constant or LONG], is_known=True)
    (monomial, step), *more = extent.terms
    atom = monomial[0] if len(monomial) == 1 and not more else None
    if isinstance(atom, Compound) and (end := atom.rhs.constant) is not None:
        if atom.op == "mod" and step == 1 and 1 < end <= LONG:
            return Rows(range(1, end))
        if atom.op == "floordiv" and step == end:  # full tiles of so many rows
            return Rows([LONG], end)
    return Rows([LONG], slack=slack)


def most_rows(contraction: Contraction, axis: int) -> int:
    """How many rows a tile may have for what their addresses and the first cache allow."""
    steps = [_stride(contraction, op, axis) for op in contraction.lhs]
    if None in steps:
        return ROWS_APART
    apart = {(step or 0) * contraction.element_bits // 8 % PAGE for step in steps}
    return ROWS_ON_PAGES if steps and apart == {0} else LONG


def _stride(contraction: Contraction, load: tir.LoadOp, axis: int) -> int | None:
    step = step_along(contraction, load, axis)
    return None if step is None else step.constant


def _plan_of_neighbours(
    contraction: Contraction, m: int | None, tile: Tile, lanes: int, target: Target
) -> Plan | None:
    """The plan where columns are no neighbours: they get so in panels, or the rows do.

    `None` if no operand can be copied, or if sums along what both have as neighbours are quicker.
    """
    if m is None or not is_packable(contraction):
        return None
    plan = Plan(contraction, m, tile, lanes, True)
    if count_of(contraction, contraction.m) is None or can_block(contraction, m, lanes, target):
        return plan
    dots, inner_product_tile = choose_inner_products(contraction, m, lanes, target)
    found = [
        (panel_cycles(contraction, tile, lanes), plan),
        (dots, Plan(contraction, m, inner_product_tile, lanes, False, is_inner_product=True)),
    ]
    swapped = swap_operands(contraction)
    if swapped is not None and is_packable(swapped):
        side, tile = choose_rows(swapped, lanes, target)
        if side is not None and cache_blocks(swapped, side, tile, lanes, target) is None:
            plan = Plan(swapped, side, tile, lanes, True, is_swapped=True)
            found.append((swapped_cycles(swapped, tile, lanes), plan))
    return min(found, key=lambda f: f[0])[1]


def count_of(contraction: Contraction, axes: Sequence[int]) -> int | None:
    """How many values these axes have in all, if that is known."""
    sizes = [contraction.extent(axis).constant for axis in axes]
    return None if None in sizes else prod(size or 0 for size in sizes)


def row_bytes(contraction: Contraction) -> int:
    """How far a column's elements are apart, 0 if that is not known."""
    step = _stride(contraction, contraction.rhs[0], contraction.k[-1])
    return (step or 0) * contraction.element_bits // 8


def is_packable(contraction: Contraction) -> bool:
    """Whether one operand has all columns, at a dim of their own, and is the same for all rows."""
    (load, *more) = contraction.rhs
    return (
        not more
        and not any(contraction.uses(load, axis) for axis in contraction.m)
        and column_dim(contraction, load) is not None
    )


def panel_width(contraction: Contraction, load: tir.LoadOp) -> int | None:
    """The width of the panels that an operand is laid out in: ``[j floordiv w, …, j mod w]``.

    A single panel is only known by being wider than there are columns.
    """
    type_ = load.buffer.type
    assert isinstance(type_, tir.BufferType)
    indices = exprs_of(load.indices)
    width = type_.dims[-1].constant if type_.rank > 1 else None
    if width is None or type_.element_strides()[-1] != ONE:
        return None
    var = contraction.block.axis_vars[contraction.n]
    column = next((IntExpr.of(Arg(i)) for i, v in enumerate(load.operands_) if v is var), None)
    used = [i for e in indices[1:-1] for i in e.args() if load.operands_[i] is var]
    if column is None or used:
        return None
    columns = contraction.extent(contraction.n).constant
    if columns is not None and columns < width and indices[-1] == column:
        return width if var not in [load.operands_[i] for i in indices[0].args()] else None
    is_compound = isinstance(indices[0].as_atom, Compound)
    whole = (indices[0], indices[-1]) == (column // width, column % width)
    return width if whole and is_compound else None

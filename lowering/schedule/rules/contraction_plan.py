"""Plans for contractions: the axis of a tile's rows, the tile, and whether an operand is packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, Compound, IntExpr
from ...cost_model import PAGE, UNKNOWN_EXTENT, Columns, CostModel, MatmulSize, Rows, TileCost
from ...sizes import is_worth_keeping
from ..blocks import uses_of
from .cache_blocks import CacheBlocks, block_steps, cache_blocks, can_block, row_tiles_in_block
from .inner_products import choose_inner_products
from .match_contraction import (
    Contraction,
    column_dim,
    dense_bytes,
    dot_of,
    registers_of_words,
    step_along,
)
from .register_tile import ROW_TILES
from .swapped_operands import swap_operands
from .tiles import Tile, choose_tile

ROWS_APART = 8
"""The most rows of a tile if their stride is symbolic: each needs an address register."""

ROWS_ON_PAGES = 10
"""The most rows of a tile if their stride is a multiple of `PAGE`: they share few cache sets."""

SMALL_M = 4
"""The most rows of a tile if m is symbolic, and may be 1."""

UNKNOWN_ROWS = 1.1
"""The cost factor of a tile along an axis of symbolic extent, which may be small."""

LOWER = 1.02
"""The cost factor up to which full tiles of fewer rows are preferred: they leave less remainder."""

NARROW_GAIN = 1.05
"""How many times as long whole registers must take for vectors of half of one."""


@dataclass(frozen=True)
class Plan:
    """How to schedule a contraction; `m` is `None` if it has one row only."""

    contraction: Contraction
    m: int | None
    tile: Tile
    lanes: int
    packs: bool
    packs_rest: bool = False
    """Whether the remainder of the columns is packed, while full tiles are read in place."""
    blocks: CacheBlocks | None = None
    row_tiles: int | None = None
    """Tiles of rows in a block, for which all panels are read in turn; `None` means all."""
    is_swapped: bool = False
    """Whether operands are swapped: m is vectorized, and results are transposed."""
    is_inner_product: bool = False
    """Whether k is vectorized; `tile.vectors` then counts columns."""
    outermost: tuple[int, ...] = ()
    """Axes whose loops come before those over panels, in which all products follow each other."""

    @property
    def width(self) -> int:
        """Columns of the tile."""
        return self.tile.vectors * self.lanes


def choose_vector_width(contraction: Contraction, target: Target) -> Target:
    """The target with vectors of half a register, if panels of a constant are padded less then.

    Where half registers are no faster, that never pays.
    """
    lanes, columns = target.lanes(contraction.element_bits), contraction.extent(contraction.n)
    if columns.constant is None or lanes < 4:
        return target
    wide, narrow = (-(-columns.constant // n) for n in (lanes, lanes // 2))
    pays = narrow * NARROW_GAIN <= wide * target.model.narrow_rate
    return target.narrow if pays else target


def plan_of(contraction: Contraction, target: Target) -> Plan | None:
    """The cheapest plan for a contraction; `None` if no tiling suits it."""
    found = candidates(contraction, target)
    plan = min(found, key=lambda c: c.cycles).plan if found else None
    if plan is None:
        return None
    blocks = cache_blocks(contraction, plan.m, plan.tile, plan.lanes, target)
    plan = replace(plan, blocks=blocks)
    return replace(plan, row_tiles=row_tiles_of(plan, target))


def row_tiles_of(plan: Plan, target: Target) -> int | None:
    """The tiles of rows in a block of a plan; `None` means all."""
    reads_panels = not (plan.packs or plan.packs_rest or plan.is_swapped or plan.is_inner_product)
    if plan.m is None or plan.blocks is not None or not reads_panels:
        return None
    return row_tiles_in_block(plan.contraction, plan.m, plan.tile, plan.lanes, target)


class Candidate(NamedTuple):
    """A plan and its cost; without a plan, `tile_reductions` schedules the contraction."""

    cycles: float
    plan: Plan | None


def cycles_of(plan: Plan, target: Target) -> float:
    """The cycles of a plan, from the cost of its tile."""
    model, size = CostModel(target), size_of(plan.contraction, plan.lanes)
    if plan.is_inner_product:
        return model.inner_products(size, plan.tile.cost)
    if plan.is_swapped:
        return model.swapped(size, plan.tile.cost)
    if not plan.packs:
        return model.tiled(size, plan.tile.cost)
    priced = model.packed if is_contiguous(plan.contraction) else model.transposed
    return priced(size, plan.tile.cost)


def is_contiguous(contraction: Contraction) -> bool:
    """Whether the right operand is contiguous along n."""
    return all(step_along(contraction, op, contraction.n) == ONE for op in contraction.rhs)


def candidates(contraction: Contraction, target: Target) -> list[Candidate]:
    """The best plan of each kind that suits a contraction, without cache blocks."""
    lanes = target.lanes(contraction.element_bits)
    if lanes < 2:
        return []
    size = size_of(contraction, lanes)
    panel = contraction.panel
    if panel is None and _is_one_panel(contraction, lanes, target):
        panel = contraction.extent(contraction.n).constant
    m, tile = choose_rows(contraction, lanes, target, panel)
    whole = Plan(contraction, m, tile, lanes, False)
    tiled = Candidate(cycles_of(whole, target), whole)
    if panel is not None:
        return [tiled] if len(contraction.rhs) == 1 and panel % lanes == 0 else []
    if not is_contiguous(contraction):
        return _transposed(contraction, m, tile, size, target)
    if contraction.extent(contraction.n).constant == whole.width:  # a panel already
        return [tiled]
    return _contiguous(contraction, m, tile, size, target)


def _contiguous(
    contraction: Contraction, m: int | None, tile: Tile, size: MatmulSize, target: Target
) -> list[Candidate]:
    """Candidates where the right operand is contiguous along n: packed, in place, or streamed."""
    lanes = size.lanes
    is_known = count_of(contraction, contraction.m) is not None
    in_place = m, tile
    if is_known:
        in_place = choose_rows(contraction, lanes, target, row_bytes=row_bytes(contraction))
    plan = plan_in_place(contraction, *in_place, lanes)
    found = [Candidate(cycles_of(plan, target), plan)] if plan is not None else []
    if not is_packable(contraction):
        return found
    copied = Plan(contraction, m, tile, lanes, packs=True)
    packed = Candidate(cycles_of(copied, target), copied)
    if not is_known or (m is not None and can_block(contraction, m, lanes, target)):
        return [packed]
    streamed = CostModel(target).streamed(size, shared_rows(size))
    return [Candidate(streamed, None), packed, *found]


def shared_rows(size: MatmulSize) -> int:
    """Rows that `tile_reductions` updates in one pass over the columns."""
    return next((rows for rows in ROW_TILES if size.m % rows == 0), 1)


def plan_in_place(contraction: Contraction, m: int | None, tile: Tile, lanes: int) -> Plan | None:
    """A plan that reads contiguous columns in place, if there is one."""
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
    """Whether the right operand fits the second cache beside rows of the left one.

    If not, its loads are the bottleneck, and padding rows of a tile cost no time.
    """
    sizes = [dense_bytes(load.buffer) for load in contraction.rhs]
    return all(size is not None and size <= target.caches.l2 * 5 // 8 for size in sizes)


def _is_one_panel(contraction: Contraction, lanes: int, target: Target) -> bool:
    """Whether contiguous columns make up one panel at most, for a symbolic number of rows."""
    columns = contraction.extent(contraction.n).constant
    return (
        columns is not None
        and columns % lanes == 0
        and columns <= target.model.row_vectors * lanes
        and is_near(contraction, target)
        and any(contraction.extent(axis).constant is None for axis in contraction.m)
        and is_contiguous(contraction)
    )


def choose_rows(
    contraction: Contraction,
    lanes: int,
    target: Target,
    panel: int | None = None,
    row_bytes: int | None = None,
) -> tuple[int | None, Tile]:
    """The axis of a tile's rows, and the tile; see `choose_tile`."""
    found: list[tuple[float, int | None, Tile]] = []
    for axis in reversed(contraction.m or (None,)):
        tile = choose_tile(tile_cost(contraction, axis, lanes, target, panel, row_bytes))
        is_known = axis is None or contraction.extent(axis).constant is not None
        found.append((tile.cost * (1 if is_known else UNKNOWN_ROWS), axis, tile))
    _, axis, tile = min(found, key=lambda f: f[0])
    return axis, tile


def tile_cost(
    contraction: Contraction,
    axis: int | None,
    lanes: int,
    target: Target,
    panel: int | None = None,
    row_bytes: int | None = None,
) -> TileCost:
    """The cost of tiles with rows along `axis`, or of one row; see `Columns` for the rest."""
    count, depth = contraction.extent(contraction.n).constant, count_of(contraction, contraction.k)
    registers = registers_of_words(contraction, target)
    if axis is None:
        columns = Columns(count, depth, panel, registers=registers)
        return TileCost(Rows([1]), columns, lanes, target)
    most = most_rows(contraction, axis)
    has_versions = panel is not None and is_near(contraction, target)
    if contraction.extent(axis).constant is None and not has_versions:
        most = min(most, SMALL_M)
    steps = () if count is None else block_steps(contraction, axis, lanes, target)
    rows = _rows_of(contraction.extent(axis), LOWER if has_versions else 1.0)
    is_words = dot_of(contraction) is not None
    columns = Columns(count, depth, panel, row_bytes, steps, registers, is_words)
    return TileCost(replace(rows, most=most), columns, lanes, target)


def _rows_of(extent: IntExpr, slack: float) -> Rows:
    """The possible numbers of rows; in a remainder, all numbers are equally likely."""
    if extent.constant is not None:
        return Rows([extent.constant or UNKNOWN_EXTENT], is_known=True)
    (monomial, step), *more = extent.terms
    atom = monomial[0] if len(monomial) == 1 and not more else None
    if isinstance(atom, Compound) and (end := atom.rhs.constant) is not None:
        if atom.op == "mod" and step == 1 and 1 < end <= UNKNOWN_EXTENT:
            return Rows(range(1, end))
        if atom.op == "floordiv" and step == end:  # full tiles of so many rows
            return Rows([UNKNOWN_EXTENT], end)
    return Rows([UNKNOWN_EXTENT], slack=slack)


def most_rows(contraction: Contraction, axis: int) -> int:
    """The most rows of a tile, limited by their addresses and by conflicts in the first cache."""
    steps = [_stride(contraction, op, axis) for op in contraction.lhs]
    if None in steps:
        return ROWS_APART
    apart = {(step or 0) * contraction.element_bits // 8 % PAGE for step in steps}
    return ROWS_ON_PAGES if steps and apart == {0} else UNKNOWN_EXTENT


def _stride(contraction: Contraction, load: tir.LoadOp, axis: int) -> int | None:
    step = step_along(contraction, load, axis)
    return None if step is None else step.constant


def _transposed(
    contraction: Contraction, m: int | None, tile: Tile, size: MatmulSize, target: Target
) -> list[Candidate]:
    """Candidates where the right operand is not contiguous along n: an operand is transposed.

    Inner products read both in place. There are no candidates if the operand cannot be packed.
    """
    if m is None or not is_packable(contraction):
        return []
    lanes = size.lanes
    plan = Plan(contraction, m, tile, lanes, packs=True)
    found = [Candidate(cycles_of(plan, target), plan)]
    if count_of(contraction, contraction.m) is None or can_block(contraction, m, lanes, target):
        return found
    inner_tile = choose_inner_products(contraction, m, lanes, target)
    if inner_tile is not None:
        plan = Plan(contraction, m, inner_tile, lanes, packs=False, is_inner_product=True)
        found.append(Candidate(cycles_of(plan, target), plan))
    swapped = swap_operands(contraction)
    if swapped is not None and is_packable(swapped):
        side, tile = choose_rows(swapped, lanes, target)
        if side is not None and cache_blocks(swapped, side, tile, lanes, target) is None:
            plan = Plan(swapped, side, tile, lanes, packs=True, is_swapped=True)
            found.append(Candidate(cycles_of(plan, target), plan))
    return found


def size_of(contraction: Contraction, lanes: int) -> MatmulSize:
    """The sizes m, n and k of a contraction; `UNKNOWN_EXTENT` for symbolic ones."""

    def size(axis: int) -> int:
        return contraction.extent(axis).constant or UNKNOWN_EXTENT

    m, k = (prod(map(size, axes)) for axes in (contraction.m, contraction.k))
    return MatmulSize(m, size(contraction.n), k, lanes)


def count_of(contraction: Contraction, axes: Sequence[int]) -> int | None:
    """The product of the extents of axes; `None` if one is symbolic."""
    sizes = [contraction.extent(axis).constant for axis in axes]
    return None if None in sizes else prod(size or 0 for size in sizes)


def row_bytes(contraction: Contraction) -> int:
    """The stride in bytes between elements of a column; 0 if it is symbolic."""
    step = _stride(contraction, contraction.rhs[0], contraction.k[-1])
    return (step or 0) * contraction.element_bits // 8


def is_packable(contraction: Contraction) -> bool:
    """Whether one operand alone is indexed by n, in a dim of its own, and not by m."""
    (load, *more) = contraction.rhs
    return (
        not more
        and not contraction.is_gathered(load)
        and not any(contraction.uses(load, axis) for axis in contraction.m)
        and column_dim(contraction, load) is not None
    )


def choose_panel(contraction: Contraction, target: Target) -> int | None:
    """The width of the panels in which a constant right operand is laid out, that of a tile.

    `None` if it cannot be packed, or if padding takes too much memory.
    """
    (load, *_), lanes = contraction.rhs, target.lanes(contraction.element_bits)
    size, columns = dense_bytes(load.buffer), contraction.extent(contraction.n).constant
    if lanes < 2 or not size or columns is None or not is_packable(contraction):
        return None
    if uses_of(load.buffer).loads != [load]:
        return None
    width = choose_rows(contraction, lanes, target)[1].vectors * lanes
    padded = size // columns * (-(-columns // width) * width)
    return width if is_worth_keeping(padded, size) else None

"""Versions of contractions: for whole tiles, for whole blocks of rows, for the rest, for small m.

Each version has a plan of its own. The consumer of the results is in each of them.
"""

from __future__ import annotations

from dataclasses import replace

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ZERO
from ...cost_model import CostModel
from ..primitives.schedule import Schedule
from .contraction_plan import Plan, is_near
from .match_contraction import Contraction, contraction_of
from .plan_choices import decide_plan
from .small_m import SmallM, small_m
from .write_back import consumer_of, copy_results, is_cheap


def versions_of(sch: Schedule, plan: Plan, target: Target) -> list[Plan]:
    """Plans for full tiles, or blocks, of rows and for the remaining rows.

    The remainder is peeled again while tiles of fewer rows take less time.
    """
    contraction, m = plan.contraction, plan.m
    few = small_m(plan, target)
    if few is not None:
        return _versions_by_count(sch, plan, few)
    if m is None or plan.packs or plan.blocks:
        return [plan]
    if plan.row_tiles is not None:
        return _versions_in_blocks(sch, plan, m, plan.row_tiles, target)
    if contraction.extent(m).constant is not None:
        return [plan]
    is_slower = CostModel(target).is_sped_by_rows(plan.tile.rows, plan.tile.vectors)
    if not is_slower or not is_near(contraction, target):
        return [plan]
    consumer = _consumer(sch, contraction)
    if not is_cheap(consumer):  # repeating it in each version costs compile time and run time
        return [plan]
    blocks = _peeled(sch, contraction, m, plan.tile.rows, consumer) or [contraction.block]
    plans = [decide_plan(sch, rematch(b, contraction.panel), target) for b in blocks]
    found = [p for p in plans if p is not None]
    return [*found[:1], *(version for p in found[1:] for version in versions_of(sch, p, target))]


def _versions_in_blocks(
    sch: Schedule, plan: Plan, m: int, row_tiles: int, target: Target
) -> list[Plan]:
    """Plans for whole blocks of rows and for the remaining rows."""
    contraction, size = plan.contraction, row_tiles * plan.tile.rows
    if contraction.extent(m) % size == ZERO:
        return [plan]
    # each part has a consumer, also an expensive one: the parts are few, and large
    parts = _peeled(sch, contraction, m, size, _consumer(sch, contraction))
    if parts is None:
        plan = replace(plan, row_tiles=None)
        return [replace(plan, contraction=rematch(contraction.block, contraction.panel))]
    whole, rest = (rematch(block, contraction.panel) for block in parts)
    other = decide_plan(sch, rest, target)
    return [replace(plan, contraction=whole), *([] if other is None else [other])]


def _consumer(sch: Schedule, contraction: Contraction) -> tir.BlockOp:
    """The block that uses the results, or one that copies them."""
    return consumer_of(contraction) or copy_results(sch, contraction.block)


def _peeled(
    sch: Schedule, contraction: Contraction, m: int, size: int, consumer: tir.BlockOp
) -> list[tir.BlockOp] | None:
    """The blocks of whole parts of the rows and of the others; `None` if that is refused."""
    block, loop = sch.rv(contraction.block), sch.rv(rematch(contraction.block).loops[m])
    parts = sch.try_(sch.peel, block, loop, size, sch.rv(consumer))
    return None if parts is None else [sch.block(part) for part in parts]


def _versions_by_count(sch: Schedule, plan: Plan, few: SmallM) -> list[Plan]:
    """Plans for small and large m, unless the consumer is expensive to repeat."""
    contraction, m = plan.contraction, plan.m
    consumer = _consumer(sch, contraction)
    if m is None or not is_cheap(consumer):
        return [plan]
    block, loop = sch.rv(contraction.block), sch.rv(rematch(contraction.block).loops[m])
    parts = sch.try_(sch.specialize, block, loop, few.limit, sch.rv(consumer))
    if parts is None:
        return [plan]
    blocks = map(sch.block, parts)
    return [
        replace(p, contraction=rematch(b)) for p, b in zip((few.plan, plan), blocks, strict=True)
    ]


def rematch(block: tir.BlockOp, panel: int | None = None) -> Contraction:
    """Match a block again that is known to be a contraction; `panel` is its width of panels."""
    contraction = contraction_of(block)
    assert contraction is not None
    return replace(contraction, panel=panel)

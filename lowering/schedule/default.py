"""`schedule-default`: where default schedules attach, rules that may rewrite a PrimFunc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import tir
from .blocks import IS_SCHEDULED
from .compact import compact_buffers
from .merge import merge_consumers, merge_rows
from .register_tile import tile_reductions
from .rules.borders import partition_borders
from .rules.columns import stream_products, stream_rows
from .rules.contraction import tile_contractions
from .rules.lanes import vectorize_nests
from .rules.parallelize import parallelize
from .rules.rows import split_long_reductions, tile_rows, widen_choices
from .rules.stream import stream_results
from .rules.transpose import tile_transposes

Rule = Callable[[tir.PrimFuncOp, Target], None]

RULES: tuple[Rule, ...] = (
    split_long_reductions,
    widen_choices,
    tile_rows,
    merge_rows,
    tile_contractions,
    stream_products,
    tile_reductions,
    merge_consumers,
    partition_borders,
    stream_rows,
    tile_transposes,
    vectorize_nests,
    stream_results,
    compact_buffers,
    parallelize,
)
"""The rules, applied in order to every PrimFunc that is not scheduled already."""


@dataclass(frozen=True)
class ScheduleDefaultPass(ModulePass):
    """Apply the default rules to every PrimFunc without the attribute ``tir.is_scheduled``.

    `target` is the text of a `Target`, whose registers and caches the rules ask about.
    """

    name = "schedule-default"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target(self.target)
        for function in list(op.body.block.ops):
            if isinstance(function, tir.PrimFuncOp) and function.attr(IS_SCHEDULED) is None:
                for rule in RULES:
                    rule(function, target)

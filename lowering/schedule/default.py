"""`schedule-default`: where default schedules attach, rules that may rewrite a PrimFunc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects import tir
from .compact import compact_buffers
from .merge import merge_consumers, merge_rows
from .register_tile import IS_SCHEDULED, tile_reductions

Rule = Callable[[tir.PrimFuncOp, Target], None]

RULES: tuple[Rule, ...] = (merge_rows, tile_reductions, merge_consumers, compact_buffers)
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

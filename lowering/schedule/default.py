"""`schedule-default`: where default schedules attach, rules that may rewrite a PrimFunc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import tir
from .register_tile import tile_reductions

Rule = Callable[[tir.PrimFuncOp], None]

RULES: tuple[Rule, ...] = (tile_reductions,)
"""The rules, applied in order to every PrimFunc."""


@dataclass(frozen=True)
class ScheduleDefaultPass(ModulePass):
    """Apply the default rules to every PrimFunc of the module."""

    name = "schedule-default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in list(op.body.block.ops):
            if isinstance(function, tir.PrimFuncOp):
                for rule in RULES:
                    rule(function)

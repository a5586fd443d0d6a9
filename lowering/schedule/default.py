"""`schedule-default`: where default schedules attach, rules that may rewrite a PrimFunc."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...backend.target import Target
from ...dialects import tir
from ...dialects.diagnostics import suggestion
from .blocks import IS_SCHEDULED
from .navigate import drop_plain_root
from .primitives.schedule import Schedule
from .primitives.trace import Trace
from .rules.column_reductions import stream_products, vectorize_column_reductions
from .rules.contraction import tile_contractions
from .rules.lanes import vectorize_nests
from .rules.loop_partition import partition_loops
from .rules.merge import merge_consumers, merge_rows
from .rules.parallelize import parallelize
from .rules.register_tile import tile_reductions
from .rules.row_reductions import split_long_reductions, tile_rows, vectorize_arg_reductions
from .rules.storage import compact_buffers
from .rules.stream import stream_results
from .rules.transpose import tile_transposes

Rule = Callable[[Schedule, tir.PrimFuncOp, Target], None]

RULES: dict[str, Rule] = {
    "split-reductions": split_long_reductions,
    "argument-reductions": vectorize_arg_reductions,
    "row-reductions": tile_rows,
    "fuse-rows": merge_rows,
    "contractions": tile_contractions,
    "stream-products": stream_products,
    "reduction-tiles": tile_reductions,
    "fuse-consumers": merge_consumers,
    "loop-partition": partition_loops,
    "column-reductions": vectorize_column_reductions,
    "transposes": tile_transposes,
    "vectorize": vectorize_nests,
    "nontemporal": stream_results,
    "compact-buffers": compact_buffers,
    "parallelize": parallelize,
}
"""The rules by name, applied in order to every PrimFunc that is not scheduled already."""


def schedule_function(
    module: ModuleOp, function: tir.PrimFuncOp, target: Target, rules: Collection[str] | None = None
) -> Trace:
    """Apply the rules, all or those of these names, to a function; returns what they did."""
    sch = Schedule(module)
    for name, rule in RULES.items():
        if rules is None or name in rules:
            rule(sch, function, target)
    drop_plain_root(function)  # which is there once a block was looked for in it
    return sch.trace.simplified()


def unscheduled_functions(module: ModuleOp) -> list[tir.PrimFuncOp]:
    """The functions of a module whose loops nobody has asked for."""
    functions = [op for op in module.body.block.ops if isinstance(op, tir.PrimFuncOp)]
    return [f for f in functions if f.attr(IS_SCHEDULED) is None]


@dataclass(frozen=True)
class ScheduleDefaultPass(ModulePass):
    """Apply the default rules to every PrimFunc without the attribute ``tir.is_scheduled``.

    `target` is the text of a `Target`, whose registers and caches the rules ask about. With `rules`
    only those of these names run.
    """

    name = "schedule-default"
    target: str = "llvm"
    rules: tuple[str, ...] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for name in self.rules or ():
            if name not in RULES:
                known = ", ".join(RULES)
                raise PassFailedException(
                    f"expected a rule ({known}), got '{name}'{suggestion(name, RULES)}"
                )
        target = Target(self.target)
        for function in unscheduled_functions(op):
            schedule_function(op, function, target, self.rules)

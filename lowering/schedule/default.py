"""`schedule-default`: apply the default schedule rules to every PrimFunc without a schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ...backend.build_key import EXTENSIONS
from ...backend.target import Target
from ...dialects import tir
from ...dialects.diagnostics import suggestion
from ...dialects.tir.control import has_jumps
from ...dialects.tir.func import LAYOUT_FREE
from ..graph.rewrite_layout import rewrite_calls
from .blocks import IS_SCHEDULED
from .layout import MovedParameter
from .navigate import drop_plain_root
from .primitives.decisions import Decisions
from .primitives.schedule import Schedule
from .primitives.trace import Trace
from .rules.attention import tile_attention
from .rules.block_products import tile_block_products
from .rules.channels_last import lay_out_channels_last
from .rules.column_reductions import stream_products, vectorize_column_reductions
from .rules.contraction import tile_contractions
from .rules.lanes import vectorize_nests
from .rules.loop_partition import partition_loops
from .rules.merge import merge_consumers, merge_rows
from .rules.parallelize import parallelize
from .rules.register_tile import tile_reductions
from .rules.row_groups import group_rows
from .rules.row_pairs import tile_row_pairs
from .rules.row_reductions import split_long_reductions, tile_rows, vectorize_arg_reductions
from .rules.sliding_windows import tile_windows
from .rules.storage import compact_buffers
from .rules.stream import stream_results
from .rules.transpose import tile_transposes
from .rules.winograd import tile_winograd

Rule = Callable[[Schedule, tir.PrimFuncOp, Target], None]

RULES: dict[str, Rule] = {
    "channels-last": lay_out_channels_last,
    "attention": tile_attention,
    "block-products": tile_block_products,
    "split-reductions": split_long_reductions,
    "argument-reductions": vectorize_arg_reductions,
    "row-reductions": tile_rows,
    "row-groups": group_rows,
    "fuse-rows": merge_rows,
    "winograd": tile_winograd,
    "sliding-windows": tile_windows,
    "row-pairs": tile_row_pairs,
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


def register_rule(name: str, *, before: str | None = None) -> Callable[[Rule], Rule]:
    """Decorator: add a rule from outside the package, before the rule of a name or as the last.

    Builds are then not cached. Defining a function again in its module replaces it. Raises
    ValueError for the name of another rule and an unknown `before`.
    """

    def register(rule: Rule) -> Rule:
        known = RULES.get(name, rule)
        if (known.__module__, known.__qualname__) != (rule.__module__, rule.__qualname__):
            raise ValueError(f"expected a new name of a rule, got '{name}' twice")
        rules = {n: r for n, r in RULES.items() if n != name}
        if before is not None and before not in rules:
            hint = suggestion(before, rules)
            raise ValueError(f"expected a rule ({', '.join(rules)}), got '{before}'{hint}")
        at = list(rules).index(before) if before is not None else len(rules)
        items = list(rules.items())
        RULES.clear()
        RULES.update([*items[:at], (name, rule), *items[at:]])
        EXTENSIONS.add(f"rule {name}")
        return rule

    return register


class DefaultScheduler:
    """Applies the rules, all or those of these names, to the functions of a module, in place."""

    def __init__(self, module: ModuleOp, target: Target, rules: Collection[str] | None = None):
        self.module, self.target, self.moved = module, target, list[MovedParameter]()
        self.rules = [rule for name, rule in RULES.items() if rules is None or name in rules]

    def functions(self) -> Iterator[tir.PrimFuncOp]:
        """The functions without a user's schedule and jumps, each to be scheduled before the next.

        Then calls get their constants in the layouts that schedules have chosen, and the functions
        that transform these layouts follow.
        """
        functions = [op for op in self.module.body.block.ops if isinstance(op, tir.PrimFuncOp)]
        free = [f for f in functions if f.attr(IS_SCHEDULED) is None and not has_jumps(f)]
        yield from free
        yield from rewrite_calls(self.module, self.moved)

    def schedule(self, function: tir.PrimFuncOp, decisions: Decisions | None = None) -> Trace:
        """Apply the rules to a function, with the choices of a search; returns their trace."""
        sch = Schedule(self.module)
        sch.decisions = decisions
        for rule in self.rules:
            rule(sch, function, self.target)
        drop_plain_root(function)  # looking up blocks creates a root block
        function.set_attr(LAYOUT_FREE, None)
        self.moved += sch.moved_parameters
        return sch.trace.simplified()


@dataclass(frozen=True)
class ScheduleDefaultPass(ModulePass):
    """Apply the default rules to every PrimFunc without the attribute ``tir.is_scheduled``.

    If a schedule transforms the layout of a layout-free parameter, all calls are updated.
    `target` is the text of a `Target`; the rules query its registers and caches. With `rules`, only
    the rules of these names run.
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
        scheduler = DefaultScheduler(op, Target(self.target), self.rules)
        for function in scheduler.functions():
            scheduler.schedule(function)

"""Spaces of schedules: functions from decisions to scheduled kernels.

`PostOrderApply` is the space of the default rules, with their choices free; `ScheduleFn` that of a
user's function that samples. The counterparts are TVM's ``ms.space_generator``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ..backend.target import Target
from ..dialects.tir.func import LAYOUT_FREE, PrimFuncOp
from ..ir.equality import structural_hash
from ..ir.module import IRModule
from ..lowering.graph.verify_kernels import IS_VERIFIED, verify_kernel
from ..lowering.schedule.blocks import IS_SCHEDULED, ScheduleError
from ..lowering.schedule.default import DefaultScheduler
from ..lowering.schedule.layout import MovedParameter
from ..lowering.schedule.primitives.decisions import Decision, Decisions
from ..tir.schedule import Schedule, Trace
from .workload import kernel_of


@dataclass(frozen=True)
class Sample:
    """A scheduled kernel: the decisions that were asked for, and the trace of its primitives."""

    decisions: tuple[Decision, ...]
    trace: Trace
    mod: IRModule
    moved: tuple[MovedParameter, ...] = ()
    """The parameters whose layout the schedule transforms."""

    @property
    def values(self) -> dict[str, Any]:
        """The answers by name."""
        return {d.name: d.value for d in self.decisions}

    @property
    def cost(self) -> float:
        """The logarithm of the estimated time as a part of the default's."""
        return sum(d.cost for d in self.decisions)

    @cached_property
    def key(self) -> int:
        """A number that equal schedules share."""
        return structural_hash(self.mod, map_free_vars=True)


class SpaceGenerator:
    """A space of schedules; TVM's ``SpaceGenerator``."""

    has_default = False
    """Whether the default schedule is in the space."""

    def sample(self, mod: IRModule, target: Target, decisions: Decisions) -> Sample:
        """Schedule a copy of a workload's module; raises ScheduleError if that is not possible."""
        raise NotImplementedError

    @staticmethod
    def create(kind: Any) -> SpaceGenerator:
        """A space by name, "post-order-apply", or that of a function; raises ValueError."""
        if isinstance(kind, SpaceGenerator):
            return kind
        if kind == "post-order-apply":
            return PostOrderApply()
        if callable(kind):
            return ScheduleFn(cast("Callable[[Schedule], Any]", kind))
        raise ValueError(f"expected a space ('post-order-apply' or a function), got {kind!r}")


class PostOrderApply(SpaceGenerator):
    """The default rules with their choices free; TVM's ``PostOrderApply``."""

    has_default = True

    def sample(self, mod: IRModule, target: Target, decisions: Decisions) -> Sample:
        copy = mod.clone()
        scheduler = DefaultScheduler(copy.op, target)
        trace = scheduler.schedule(kernel_of(copy), decisions)
        _mark(kernel_of(copy))
        return Sample(tuple(decisions.made), trace, copy, tuple(scheduler.moved))


class ScheduleFn(SpaceGenerator):
    """A user's function that schedules and samples; TVM's ``ScheduleFn``.

    `sch_fn` takes a `tir.Schedule`. It changes it, or returns it, or returns others made from it,
    of which the first counts.
    """

    def __init__(self, sch_fn: Callable[[Schedule], Any]):
        self.sch_fn = sch_fn

    def sample(self, mod: IRModule, target: Target, decisions: Decisions) -> Sample:
        sch = Schedule(mod, seed=decisions.seed)
        sch.decisions = decisions
        returned = self.sch_fn(sch)
        if isinstance(returned, Iterable):
            returned = next(iter(cast("Sequence[Any]", returned)), None)
        found = sch if returned is None else returned
        if not isinstance(found, Schedule):
            raise ScheduleError(f"expected a schedule, got a {type(found).__name__}")
        copy = found.mod.clone()
        _mark(kernel_of(copy))
        moved = tuple(found.moved_parameters)
        return Sample(tuple(decisions.made), found.trace.copy(), copy, moved)


def default_sample(mod: IRModule, target: Target) -> Sample:
    """The default schedule of a workload."""
    return PostOrderApply().sample(mod, target, Decisions())


def replayed(mod: IRModule, trace: Trace) -> Schedule:
    """The schedule of a trace on a workload's module.

    Raises ScheduleError if it does not apply, and Diagnostic for a kernel with certain
    uninitialized reads or data races.
    """
    verify_kernel(kernel_of(mod))
    sch = Schedule(mod)
    trace.apply_to_schedule(sch)
    for function in sch.state.functions():
        _mark(function)
        function.set_attr(LAYOUT_FREE, None)
    return sch


def _mark(function: PrimFuncOp) -> None:
    """Note that a kernel, which was verified, has its schedule, also if that changed nothing."""
    function.set_attr(IS_SCHEDULED, True)
    function.set_attr(IS_VERIFIED, True)


def replayed_sample(mod: IRModule, trace: Trace) -> Sample:
    """What a trace makes of a workload's module; raises as `replayed`."""
    sch = replayed(mod, trace)
    return Sample((), sch.trace.copy(), sch.mod, tuple(sch.moved_parameters))

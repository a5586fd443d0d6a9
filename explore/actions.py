"""What the explorer's page runs on demand: schedules, checks and profiles."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from ..backend.target import Target
from ..dialects import relax
from ..dialects.diagnostics import Diagnostic
from ..display.highlight import highlighted_lines
from ..driver import build
from ..inspection import stage_text
from ..ir.function import PrimFunc
from ..ir.module import IRModule
from ..lowering.functions import PRIVATE, functions_by_name
from ..pipeline import STAGES, make_pass
from ..profiling.report import ProfileReport
from ..reference.check import CheckError, check_pipeline, public_functions
from ..reference.evaluate import parameters
from ..reference.inputs import copy_arguments, draw_arguments
from ..schedules import DefaultSchedule
from ..script import from_source
from ..tir.schedule import Schedule
from .exploration import Exploration
from .lines import assembly_lines
from .schedule_program import ProgramError, run_schedule

DEFAULT_SIZE = 64
"""The value of a symbol for which none is given."""

_SECONDS = 0.2
"""For how long two builds of a kernel are timed side by side."""


class Actions:
    """The actions on one exploration; each takes and returns data of JSON.

    Mistakes of the user come back as ``{"error": message}``.
    """

    def __init__(self, exploration: Exploration):
        self.exploration = exploration
        self._known: Mapping[str, Callable[..., dict[str, Any]]] = {
            "schedule": self.schedule,
            "check": self.check,
            "profile": self.profile,
        }

    def run(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run an action; raises KeyError for an unknown one, TypeError for other arguments."""
        action = self._known[name]
        signature(action).bind(**arguments)
        try:
            return action(**arguments)
        except ProgramError as error:
            return {"error": str(error), "line": error.line}
        except (CheckError, Diagnostic, TypeError, ValueError) as error:
            return {"error": str(error).strip().splitlines()[0]}

    @property
    def target(self) -> str:
        """What everything is compiled for."""
        return str(self.exploration.target)

    def schedule(self, kernel: str, text: str, sizes: Mapping[str, int]) -> dict[str, Any]:
        """A kernel with a schedule: TensorIR, assembly, and its time beside the default one's."""
        known = {k.name: k for k in self.exploration.kernels}
        if kernel not in known:
            raise ValueError(f"expected a kernel ({', '.join(known)}), got '{kernel}'")
        sch = _scheduled(known[kernel], text)
        lines = assembly_lines(stage_text(sch.mod, "asm", self.target, kernel))
        found: dict[str, Any] = {
            "script": highlighted_lines(sch.mod.script(), "python"),
            "asm": highlighted_lines("\n".join(line.text for line in lines), "asm"),
        }
        if Target(self.target).is_host:
            default = _scheduled(known[kernel], known[kernel].function)
            found.update(_compared(default.mod, sch.mod, self.target, kernel, sizes))
        return found

    def check(self) -> dict[str, Any]:
        """For each pass whether it leaves results as they are, up to the first that does not."""
        module, passed = self.exploration.module, list[str]()
        passes = [(n, make_pass(n, self.target)) for s in STAGES for n in s.passes]
        try:
            check_pipeline(module, passes, on_checked=passed.append)
        except CheckError as error:
            return {"passed": passed, "problem": str(error)}
        return {"passed": passed}

    @cached_property
    def _executable(self) -> Any:
        return build(self.exploration.module, self.exploration.target)

    def _arguments(self, sizes: Mapping[str, int]) -> tuple[str, list[Any]]:
        """The first public function, of the graph if there is one, and random arguments for it."""
        functions = functions_by_name(self.exploration.module)
        names = public_functions(self.exploration.module)
        graph = [name for name in names if isinstance(functions[name], relax.FuncOp)]
        name = (graph or names)[0]
        return name, _drawn(functions[name], sizes)

    def profile(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """The time of each kernel of the first public function, and the machine's roofline."""
        name, args = self._arguments(sizes)
        report: ProfileReport = self._executable.profile(name, *args)
        machine = max((k.machine for k in report), key=lambda m: m.threads, default=None)
        return {
            "function": name,
            "microseconds": report.median * 1e6,
            "kernels": [
                {
                    "name": k.name,
                    "calls": k.calls,
                    "microseconds": k.median * 1e6,
                    "share": report.share(k),
                    "operations": k.operations,
                    "bytes": k.bytes,
                    "roofline": k.roofline,
                    "bound": k.bound,
                }
                for k in report
            ],
            "flops": None if machine is None else machine.flops_per_second,
            "levels": []
            if machine is None
            else [
                {"name": level.name, "bandwidth": level.bytes_per_second}
                for level in machine.levels
            ],
        }


def _scheduled(kernel: DefaultSchedule, text: str) -> Schedule:
    """A kernel with the schedule of a text, in a module of its own, which users can call."""
    function = from_source(kernel.kernel)[kernel.name]
    sch = Schedule(IRModule({kernel.name: function.without_attr(PRIVATE)}))
    sch.work_on(kernel.name)
    run_schedule(text, sch)
    return sch


def _drawn(op: Any, sizes: Mapping[str, int]) -> list[Any]:
    symbols = dict.fromkeys(_symbols(op), DEFAULT_SIZE) | dict(sizes)
    return draw_arguments(op, np.random.default_rng(0), symbols, (0, 2))


def _symbols(op: Any) -> set[str]:
    dims = [d for _, type_ in parameters(op) for d in getattr(type_, "dims", None) or ()]
    return {symbol for dim in dims for symbol in dim.symbols()}


def _compared(
    default: IRModule, edited: IRModule, target: str, kernel: str, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """The times of two forms of a kernel in interleaved rounds, and how far results differ."""
    function = default[kernel]
    assert isinstance(function, PrimFunc)
    args = _drawn(function.op, sizes)
    calls = [build(module, target)[kernel] for module in (default, edited)]
    own = [copy_arguments(args) for _ in calls]
    for call, values in zip(calls, own, strict=True):
        call(*values)
    difference = max(
        float(np.max(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)), initial=0.0))
        for a, b in zip(*own, strict=True)
    )
    times: list[list[float]] = [[], []]
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end or len(times[0]) < 3:
        for found, call, values in zip(times, calls, own, strict=True):
            begin = time.perf_counter()
            call(*values)
            found.append(time.perf_counter() - begin)
    before, after = (statistics.median(found) * 1e6 for found in times)
    return {"default_microseconds": before, "microseconds": after, "difference": difference}

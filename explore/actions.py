"""What the explorer's page runs on demand: schedules, checks, profiles and values."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ..backend.target import Target
from ..debugging.report import DebugReport
from ..dialects import relax
from ..dialects.diagnostics import Diagnostic
from ..display.highlight import highlighted_lines
from ..driver import build
from ..inspection import stage_text
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..lowering.functions import PRIVATE, functions_by_name
from ..pipeline import STAGES, make_pass
from ..profiling.report import ProfileReport
from ..reference.check import CheckError, check_pipeline, public_functions
from ..reference.inputs import array_functions, copy_arguments
from ..reference.values import EvaluationError
from ..runtime.native import NativeError
from ..runtime.structure import tensors_over
from ..schedules import DefaultSchedule
from ..script import from_source
from ..tir.schedule import Schedule
from .exploration import Exploration
from .lines import assembly_lines
from .schedule_program import ProgramError, run_schedule
from .values import draw_inputs, read_arrays, report_data, tensor_data

_SECONDS = 0.2
"""For how long two builds of a kernel are timed side by side."""

_MISTAKES = (CheckError, Diagnostic, EvaluationError, NativeError, TypeError, ValueError)
"""What programs and inputs of the user raise."""


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
            "values": self.values,
            "tensor": self.tensor,
        }
        self._report: DebugReport | None = None

    def run(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run an action; raises KeyError for an unknown one, TypeError for other arguments."""
        action = self._known[name]
        signature(action).bind(**arguments)
        try:
            return action(**arguments)
        except ProgramError as error:
            return {"error": str(error), "line": error.line}
        except _MISTAKES as error:
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
            check_pipeline(module, passes, registry=array_functions(), on_checked=passed.append)
        except CheckError as error:
            return {"passed": passed, "problem": str(error)}
        return {"passed": passed}

    @cached_property
    def _executable(self) -> Any:
        return build(self.exploration.module, self.exploration.target)

    @cached_property
    def _entry(self) -> tuple[str, Operation]:
        """The first public function, of the graph if there is one."""
        functions = functions_by_name(self.exploration.module)
        names = public_functions(self.exploration.module)
        graph = [name for name in names if isinstance(functions[name], relax.FuncOp)]
        name = (graph or names)[0]
        return name, functions[name]

    def _called(self, method: str, name: str, args: Sequence[Any], **options: Any) -> Any:
        """What a method of the executable says of a call of a function on NumPy arrays."""
        executable = self._executable
        tensors = tensors_over(executable[name].spec, args)
        return getattr(executable, method)(name, *tensors, **options)

    def values(
        self, stage: str, sizes: Mapping[str, int], seed: int, file: str | None
    ) -> dict[str, Any]:
        """The error of every operation at a stage, for random inputs or those of an npz file."""
        name, op = self._entry
        args = draw_inputs(op, sizes, seed, None if file is None else read_arrays(file))
        self._report = report = self._called("debug", name, args, stage=stage)
        return report_data(report)

    def tensor(self, operation: str, item: int, matrix: int) -> dict[str, Any]:
        """A matrix of the result of an operation, as `values` has found it."""
        if self._report is None:
            raise ValueError("expected values before a tensor of them, got none")
        return tensor_data(self._report[operation], item, matrix)

    def profile(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """The time of each kernel of the first public function, and the machine's roofline."""
        name, op = self._entry
        report: ProfileReport = self._called("profile", name, draw_inputs(op, sizes))
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


def _compared(
    default: IRModule, edited: IRModule, target: str, kernel: str, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """The times of two forms of a kernel in interleaved rounds, and how far results differ."""
    function = default[kernel]
    assert isinstance(function, PrimFunc)
    args = draw_inputs(function.op, sizes)
    calls = [build(module, target)[kernel] for module in (default, edited)]
    own = [tensors_over(call.spec, copy_arguments(args)) for call in calls]
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

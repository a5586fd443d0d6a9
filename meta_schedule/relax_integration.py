"""Tuning of the kernels of a program; TVM's ``ms.relax_integration``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.target import Target
from ..compilation import compile_module
from ..debugging.debugger import Debugger
from ..dialects import get_context, relax
from ..dialects.diagnostics import verify
from ..inspection import module_of, with_deep_stack, without_collector
from ..ir.base_function import BaseFunc
from ..ir.module import IRModule
from ..ir.operators import tensor_data
from ..ir.prim_func import PrimFunc
from ..lowering.functions import graph_functions
from ..lowering.graph.bind_params import bind_params
from ..pipeline import passes_before
from ..profiling.profiler import Profiler
from ..runtime.executable import Executable
from .apply_database import apply_database
from .arguments import Range
from .database import Database
from .space_generator import SpaceGenerator
from .task import TuneContext
from .tune import TuneConfig, tune_tasks
from .workload import Workload, kernels_of, normalized


@dataclass(frozen=True)
class ExtractedTask:
    """A kernel that a build of a program schedules; TVM's ``ExtractedTask``.

    `mod` has it as "main"; `weight` is the number of its calls in the program.
    """

    task_name: str
    mod: IRModule
    target: Target
    dispatched: list[IRModule]
    weight: int


def extract_tasks(
    mod: IRModule | BaseFunc,
    target: str | Target,
    params: Mapping[str, Any] | None = None,
    *,
    module_equality: str = "structural",
) -> list[ExtractedTask]:
    """The kernels that a build of a module for a target schedules, equal ones once.

    They are those after fusion. `params` are bound to parameters of "main" first. Raises ValueError
    for another `module_equality` than "structural", and as `relax.build`.
    """
    if module_equality != "structural":
        raise ValueError(f"expected module_equality 'structural', got '{module_equality}'")
    resolved = Target(target)
    lowered = kernels_lowered(bound(mod, params), resolved)
    calls = _calls(lowered)
    found: dict[str, ExtractedTask] = {}
    for name, function in kernels_of(lowered).items():
        kernel = normalized(PrimFunc(function))
        key, weight = Workload.of(kernel).shash, calls.get(name, 0) or 1
        if key in found:
            known = found[key]
            weight += known.weight
            name = known.task_name
        found[key] = ExtractedTask(name, kernel, resolved, [kernel], weight)
    return list(found.values())


def bound(mod: IRModule | BaseFunc, params: Mapping[str, Any] | None) -> IRModule:
    """A copy of a module, or one of a function, whose "main" has values for some parameters."""
    copy = mod.clone() if isinstance(mod, IRModule) else IRModule(module_of(mod))
    if params:
        bind_params(copy.op, "main", {k: tensor_data(v, str(k)) for k, v in params.items()})
    return copy


def kernels_lowered(mod: IRModule, target: Target) -> IRModule:
    """A copy of a module after the passes before `schedule-default`."""

    def lower() -> ModuleOp:
        copy, context = mod.op.clone(), get_context()
        verify(copy)
        with without_collector():
            for step in passes_before("schedule-default", str(target)):
                step.apply(context, copy)
        verify(copy)
        return copy

    return IRModule(with_deep_stack(mod.op, lower), mod.name)


def _calls(mod: IRModule) -> dict[str, int]:
    """The number of calls of each kernel in the graph functions of a module."""
    found: dict[str, int] = {}
    for function in graph_functions(mod.op):
        for op in function.walk():
            if isinstance(op, relax.CallTIROp):
                found[op.callee_name] = found.get(op.callee_name, 0) + 1
    return found


def tune_relax(
    mod: IRModule | BaseFunc,
    params: Mapping[str, Any] | None,
    target: str | Target,
    work_dir: str | Path,
    max_trials_global: int,
    *,
    op_names: Iterable[str] | None = None,
    space: Any = "post-order-apply",
    shape_ranges: Mapping[str, Range] | None = None,
    **options: Any,
) -> Database:
    """Search for fast schedules of the kernels that a build of a module schedules.

    With `op_names` only those with one of these in their names are tuned. Kernels with a symbol
    that has no range in `shape_ranges` are left out. Other options are those of `tune_tir`.
    """
    config = TuneConfig(max_trials_global, **options)
    generator, ranges = SpaceGenerator.create(space), dict(shape_ranges or {})
    tasks = [
        TuneContext(t.mod, t.target, generator, t.task_name, t.weight, ranges)
        for t in extract_tasks(mod, target, params)
        if op_names is None or any(name in t.task_name for name in op_names)
    ]
    return tune_tasks([t for t in tasks if t.is_bounded], work_dir, config)


def compile_relax(
    database: Database,
    mod: IRModule | BaseFunc,
    target: str | Target,
    params: Mapping[str, Any] | None = None,
    enable_warning: bool = False,
) -> Executable:
    """Build a module with the schedules of a database; raises as `relax.build`."""
    resolved = Target(target)
    tuned = tuned_module(bound(mod, params), database, resolved, enable_warning).op
    executable = with_deep_stack(tuned, lambda: compile_module(tuned, resolved))
    executable.profiler = Profiler(tuned, resolved)
    executable.debugger = Debugger(tuned, resolved)
    return executable


def tuned_module(
    mod: IRModule, database: Database, target: Target, enable_warning: bool = False
) -> IRModule:
    """A module after the passes before `schedule-default`, with the schedules of a database.

    With `enable_warning`, kernels that are not in it give a warning each.
    """
    lowered = kernels_lowered(mod, target)
    apply_database(lowered, database, target, enable_warning)
    return lowered

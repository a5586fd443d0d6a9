"""Tuning of single kernels; TVM's ``ms.tir_integration``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..backend.target import Target
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..tir.schedule import Schedule
from .arguments import Range
from .database import Database
from .space_generator import SpaceGenerator
from .task import TuneContext
from .tune import TuneConfig, tune_tasks
from .workload import kernels_of, normalized


def tune_tir(
    mod: IRModule | PrimFunc,
    target: str | Target,
    work_dir: str | Path,
    max_trials_global: int,
    *,
    space: Any = "post-order-apply",
    shape_ranges: Mapping[str, Range] | None = None,
    task_name: str | None = None,
    **options: Any,
) -> Database:
    """Search for fast schedules of the kernels of a module, at most `max_trials_global` of them.

    `space` is "post-order-apply", the default rules with their choices free, or a `ScheduleFn`.
    The default schedule stays unless a measurement shows that another one is faster; a `ScheduleFn`
    is only measured against it. `shape_ranges` has the least and the greatest value of each symbol
    of shapes. Other options are those of `TuneConfig`. Raises TypeError for an unknown option, and
    as `tune_tasks`.
    """
    config = TuneConfig(max_trials_global, **options)
    resolved, generator = Target(target), SpaceGenerator.create(space)
    kernels = {mod.name: mod.prim_func} if isinstance(mod, PrimFunc) else kernels_of(mod)
    if not kernels:
        raise ValueError("expected a kernel without a schedule, got none")
    tasks = [
        TuneContext(
            normalized(PrimFunc(function)),
            resolved,
            generator,
            name if task_name is None or len(kernels) > 1 else task_name,
            shape_ranges=shape_ranges or {},
        )
        for name, function in sorted(kernels.items())
    ]
    return tune_tasks(tasks, work_dir, config)


def compile_tir(
    database: Database, mod: IRModule | PrimFunc, target: str | Target
) -> Schedule | None:
    """The schedule of the best record of a kernel, as "main"; `None` if it was not tuned."""
    return database.query_schedule(mod, target)

"""Default schedules as Python: what was done to each kernel, to be read, changed and run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from .backend.target import HOST
from .dialects import get_context
from .dialects.diagnostics import verify
from .lowering.functions import PRIVATE
from .pipeline import passes_before

SCRIPT = '''\
"""The default schedule of '{name}' for the target "{target}"."""

from xrelax import tir
from xrelax.script import ir as I
from xrelax.script import tir as T

{kernel}


{schedule}


if __name__ == "__main__":
    sch = tir.Schedule(Module)
    schedule(sch)
    print(sch.mod.script())
'''


class DefaultSchedule(NamedTuple):
    """A kernel as TVMScript, before it is scheduled, and a Python function that schedules it.

    The kernel can be built and called by itself: it is public.
    """

    name: str
    kernel: str
    function: str


def default_schedules(module: ModuleOp, target: str = HOST) -> list[DefaultSchedule]:
    """The schedules of all kernels that the module becomes, but of those that have one already."""
    from .backend.target import Target
    from .lowering.schedule.default import DefaultScheduler
    from .script.printer import print_module

    copy, context = module.clone(), get_context()
    verify(copy)
    for step in passes_before("schedule-default", target):
        step.apply(context, copy)
    found: list[DefaultSchedule] = []
    scheduler = DefaultScheduler(copy, Target(target))
    for function in scheduler.functions():
        public = function.clone()
        public.set_attr(PRIVATE, None)
        name, script = function.sym_name.data, print_module(ModuleOp([public]))
        kernel = "\n".join(line for line in script.splitlines() if not line.startswith("#"))
        trace = scheduler.schedule(function)
        found.append(DefaultSchedule(name, kernel.strip(), trace.as_function("schedule", name)))
    return found


def schedule_text(module: ModuleOp, target: str = HOST, function: str | None = None) -> str:
    """The schedules, one after the other; raises ValueError for an unknown function."""
    found = default_schedules(module, target)
    if function is not None and function not in (names := [s.name for s in found]):
        raise ValueError(
            f"expected a kernel with a default schedule ({', '.join(names)}), got '{function}'"
        )
    return "\n\n".join(f"# {s.name}\n{s.function}" for s in found if function in (None, s.name))


def write_schedules(module: ModuleOp, folder: str | Path, target: str = HOST) -> None:
    """Write a script for each kernel, NAME.py, that schedules it as by default and prints it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    short = " ".join(w for w in target.split() if not w.startswith(("-mattr", "-mtriple")))
    for name, kernel, function in default_schedules(module, target):
        text = SCRIPT.format(name=name, target=short, kernel=kernel, schedule=function)
        (folder / f"{name}.py").write_text(text)

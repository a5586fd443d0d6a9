"""Steps of schedules as data, which name blocks and loops by where they are.

A step can be applied wherever what it names exists, so that others can be left out before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .themes import register_intrinsic

GPU_PRIMITIVES = ("bind",)
"""Those whose results no CPU runs: they are done on a copy."""


@dataclass(frozen=True)
class BlockAt:
    """A block by its name."""

    name: str

    def __str__(self) -> str:
        return f"sch.get_block({self.name!r})"


@dataclass(frozen=True)
class LoopAt:
    """A loop by its number, counted from the outermost one around a block."""

    block: str
    number: int

    def __str__(self) -> str:
        return f"sch.get_loops({self.block!r})[{self.number}]"


@dataclass(frozen=True)
class Step:
    """A call of a primitive; arguments are numbers, text, `BlockAt`, `LoopAt`, `Lambda`, steps
    whose result they are, or tuples of these.

    A tuple is a list in the call. `options` are keyword arguments.
    """

    primitive: str
    args: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = field(default=())

    def __str__(self) -> str:
        shown = [text_of(a) for a in self.args] + [f"{k}={text_of(v)}" for k, v in self.options]
        return f"sch.{self.primitive}({', '.join(shown)})"


@dataclass(frozen=True)
class Lambda:
    """A map of indices, by its text."""

    text: str

    def __str__(self) -> str:
        return self.text


def text_of(value: Any) -> str:
    """An argument in a script."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(text_of, value))}]"
    shown = isinstance(value, BlockAt | LoopAt | Lambda | Step)
    return str(value) if shown else repr(value)


class Missing(Exception):
    """What a step names does not exist, since steps before it were left out."""


def resolved(schedule: Any, value: Any, tally: dict[str, bool]) -> Any:
    """What an argument stands for; raises `Missing`. Steps among arguments are done."""
    match value:
        case BlockAt():
            tally["get_block"] = True
            return schedule.get_block(value.name)
        case LoopAt():
            tally["get_loops"] = True
            loops = schedule.get_loops(value.block)
            if value.number >= len(loops):
                raise Missing(str(value))
            return loops[value.number]
        case Lambda():
            return value.text
        case Step():
            return _call(schedule, value, tally)
        case tuple():
            return [resolved(schedule, v, tally) for v in value]
        case _:
            return value


def _call(schedule: Any, step: Step, tally: dict[str, bool]) -> Any:
    args = [resolved(schedule, a, tally) for a in step.args]
    options = {k: resolved(schedule, v, tally) for k, v in step.options}
    tally[step.primitive] = False
    if step.primitive == "tensorize":
        register_intrinsic()
    if step.primitive in GPU_PRIMITIVES:
        schedule = schedule.copy()
        args = [resolved(schedule, a, tally) for a in step.args]
    result = getattr(schedule, step.primitive)(*args, **options)
    tally[step.primitive] = True
    return result


def apply_step(schedule: Any, step: Step) -> dict[str, bool]:
    """Do a step; returns which primitives were tried, and whether they applied.

    A refusal by ScheduleError is no failure; whatever else is raised is.
    """
    from xrelax.tir.schedule import ScheduleError

    tally: dict[str, bool] = {}
    try:
        _call(schedule, step, tally)
    except (ScheduleError, Missing):
        pass
    return tally

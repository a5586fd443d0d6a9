"""Where programs come from: one drawn for each kind and seed."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

from . import draw_blocks, draw_loops
from .draw_kernel import draw_kernel
from .draw_schedule import DRAWERS, THEMES, Choice, theme_kernel
from .kernels import KernelProgram
from .steps import apply_step
from .texts import kernel_text
from .themes import register_intrinsic
from .view import blocks_of

KINDS = ("kernels", "schedules", *(["graphs"] if find_spec("torch") else []))
"""What can be drawn: graphs are compared with PyTorch."""
LOADED = (draw_blocks, draw_loops)
Tally: TypeAlias = "dict[str, bool]"
Functions: TypeAlias = "dict[str, Any]"


class Program(Protocol):
    """What can be built, run and compared: `KernelProgram`, `GraphProgram`."""

    def parsed(self) -> dict[str, Any]:
        """The functions by name; whatever it raises is a failure."""
        ...

    def compare(self, executable: Any) -> None:
        """Call the functions; raise `Wrong` where they differ from the evaluation."""
        ...


Drawn: TypeAlias = "Generator[tuple[Program, Tally], None, Functions | None]"


def draw_program(what: str, seed: int) -> Drawn:
    """A program, once for each moment at which more of it is known, and what was tried.

    Returns the program's functions, where they are known from drawing it.
    """
    rng = random.Random(f"{what} {seed}")
    match what:
        case "kernels":
            kernel, features = draw_kernel(rng, f"k{seed}")
            yield KernelProgram(kernel), {f"feature {f}": True for f in features}
        case "schedules":
            return (yield from _schedules(rng, seed))
        case "graphs":
            yield from _graph(rng, seed)
        case _:
            raise ValueError(f"expected one of {', '.join(KINDS)}, got {what}")


def everything(what: str) -> set[str]:
    """What programs of a kind are to use, by the tables of the compiler."""
    match what:
        case "schedules":
            from xrelax.tir.schedule import INSTRUCTIONS

            return {kind.method for kind in INSTRUCTIONS.values()}
        case "graphs":
            from xrelax.dialects.relax import OPERATORS

            from .cases import LEFT_OUT

            return {name for name in OPERATORS if not name.startswith(LEFT_OUT)}
        case _:
            return set()


def _schedules(rng: random.Random, seed: int) -> Drawn:
    """A kernel for a primitive, some steps of others, that primitive, and some more."""
    from xrelax.script import from_source
    from xrelax.tir.schedule import Schedule

    names = list(DRAWERS)
    goal = names[seed % len(names)]
    kernel = theme_kernel(rng, THEMES[goal], f"s{seed}")
    program = KernelProgram(kernel, is_left=rng.randrange(100) < 40)
    yield program, {}
    register_intrinsic()
    schedule = Schedule(from_source(kernel_text(program.kernel)), seed=0, debug_mask="all")
    before = rng.choice((0, 0, 1, 2)) if THEMES[goal] in ("any", "chain") else 0
    others = [name for name in names if THEMES[name] in ("any", THEMES[goal])]
    plan = [rng.choice(others) for _ in range(before)]
    plan += [goal, *(rng.choice(others) for _ in range(rng.choice((0, 1, 2))))]
    draw = Choice(rng)
    for primitive in plan:
        for program in _steps(primitive, draw, schedule, program):
            yield program, {}
            yield program, apply_step(schedule, program.steps[-1])
    # Some are scheduled once more, as those are that are shrunk: that has to be the same.
    return None if rng.randrange(100) < 25 else program.functions(schedule)


def _graph(rng: random.Random, seed: int) -> Iterator[tuple[Program, Tally]]:
    """A graph, with symbols for its dims where they are legal in it."""
    from .cases import labels
    from .draw_graph import draw_graph
    from .graphs import GraphProgram

    names = labels()
    while not (graph := draw_graph(rng, f"g{seed}", names[seed % len(names)])).outputs:
        pass
    tally = {n.operator or f"call of {n.label}": True for n in graph.nodes}
    yield GraphProgram(graph), tally
    if graph.is_symbolic and not _is_typed(GraphProgram(graph)):
        yield GraphProgram(replace(graph, is_symbolic=False)), {"feature symbols": False}
    elif graph.is_symbolic:
        yield GraphProgram(graph), {"feature symbols": True}


def _is_typed(program: Program) -> bool:
    """Whether shapes fit, and that is known: symbols of one size are different dims."""
    from xrelax.dialects.diagnostics import Diagnostic
    from xrelax.dialects.relax.types import tensors_in
    from xrelax.inspection import module_of
    from xrelax.ir.module import IRModule
    from xrelax.script import ScriptError

    try:
        module = module_of(IRModule(program.parsed()))
    except (ScriptError, Diagnostic):
        return False
    types = [t for op in module.walk() for r in op.results for t in tensors_in(r.type)]
    return all(t.dims is not None for t in types)


def _steps(
    primitive: str, draw: Choice, schedule: Any, program: KernelProgram
) -> Iterator[KernelProgram]:
    """The program with each step of a drawer, before the step is done."""
    generator = DRAWERS[primitive](draw, blocks_of(schedule))
    step = next(generator, None)
    while step is not None:
        program = program.followed_by(step)
        yield program
        try:
            step = generator.send(blocks_of(schedule))
        except StopIteration:
            return

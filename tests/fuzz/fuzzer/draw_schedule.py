"""Draws schedules: one way to draw the arguments of each primitive, such that it mostly applies.

A drawer is a generator of steps. It is sent the schedule's blocks as they are after each step, so
that a primitive can be prepared by others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from . import themes
from .draw_kernel import MAX_POINTS, draw_kernel
from .evaluate import points_of
from .steps import LoopAt, Step
from .syntax import Kernel
from .view import BlockView, LoopView

T = TypeVar("T")
Blocks = list[BlockView]
Steps = Generator[Step, Blocks, None]
Drawer = Callable[["Choice", Blocks], Steps]
DRAWERS: dict[str, Drawer] = {}
THEMES: dict[str, str] = {}
SCOPES = ("local", "global", "shared")


class Choice:
    """Draws with a random generator."""

    def __init__(self, rng: random.Random):
        self.rng = rng

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many cases out of 100."""
        return self.rng.randrange(100) < percent

    def one(self, options: Sequence[T]) -> list[T]:
        """One of several in a list, or none of none: ``for x in draw.one(found)``."""
        return [self.pick(options)] if options else []


def drawer(theme: str = "any") -> Callable[[Drawer], Drawer]:
    """Declare a function as the drawer of the primitive that it is called after."""

    def declare(function: Drawer) -> Drawer:
        name = function.__name__.strip("_")
        DRAWERS[name], THEMES[name] = function, theme
        return function

    return declare


def loops_in(blocks: Blocks) -> list[LoopView]:
    """All loops that have more than names, once for each block in them."""
    return [loop for b in blocks for loop in b.loops]


def named(blocks: Blocks, name: str) -> Blocks:
    """The block of a name, or none."""
    return [b for b in blocks if b.name == name]


def plain(blocks: Blocks) -> list[LoopView]:
    """Loops that may be partitioned."""
    return [loop for loop in loops_in(blocks) if loop.is_plain]


def spatial(blocks: Blocks) -> list[LoopView]:
    """Loops that may be partitioned and are bound to no reduction axis."""
    return [loop for loop in plain(blocks) if "reduce" not in loop.iterator_kinds]


def factors(draw: Choice, extent: int | None) -> tuple[int | None, ...]:
    """Factors of an extent, or such that cover it."""
    if extent and draw.chance(40):
        inner = draw.pick([d for d in range(1, extent + 1) if extent % d == 0])
        return (extent // inner, inner) if draw.chance(50) else (None, inner)
    return draw.pick(
        ((None, 2), (None, 3), (None, 4), (None, 8), (2, None), (None, 2, 2), (2, None, 3))
    )


def theme_kernel(rng: random.Random, theme: str, name: str) -> Kernel:
    """A kernel that suits a primitive, with as many iterations as drawn kernels may have."""
    while points_of(kernel := _theme_kernel(rng, theme, name)) > MAX_POINTS:
        pass
    return kernel


def _theme_kernel(rng: random.Random, theme: str, name: str) -> Kernel:
    match theme:
        case "product":
            return themes.product(rng, name)
        case "whole product":
            return themes.product(rng, name, whole=True)
        case "chain":
            return themes.chain(rng, name)
        case "padding":
            return themes.padding(rng, name)
        case "windows":
            return themes.windows(rng, name)
        case "shared windows":
            return themes.shared_windows(rng, name)
        case _:
            kinds = (themes.product, themes.chain, themes.chain, themes.padding)
            if rng.randrange(100) < 40:
                return rng.choice(kinds)(rng, name)
            return draw_kernel(rng, name, plain=True)[0]


def around(block: BlockView) -> list[int]:
    """Numbers of the loops that are the only statement in the one before, and that one."""
    return [
        i
        for i, loop in enumerate(block.loops[:-1])
        if loop.statements == 1 and loop.is_plain and block.loops[i + 1].is_plain
    ]


def at(block: BlockView, number: int) -> LoopAt:
    """A loop of a block."""
    return LoopAt(block.name, number)

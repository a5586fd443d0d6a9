"""Decisions: the choices that rules and sampling primitives leave to a search.

A rule asks the schedule for each of its choices::

    tile = sch.decide("Y.tile", (6, 4), candidates)

Without decisions the answer is the default, here ``(6, 4)``. A search gives some answers, and has
the others drawn. Whatever a rule computes next depends on the answer, so that every combination of
answers is a valid schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import log
from random import Random
from typing import Any, TypeVar, cast

T = TypeVar("T")

Cost = Callable[[Any], float]
"""An estimate of the time that a candidate leads to, in any unit."""

GREED = 4.0
"""The power of estimated speed to which candidates with a cost are drawn."""


@dataclass(frozen=True)
class Decision:
    """An answer: an int, a string, or a tuple of these, and its estimated cost.

    `cost` is the logarithm of its part of the default's cost, and 0 where there is no estimate.
    """

    name: str
    value: Any
    cost: float = 0.0


class Decisions:
    """Answers by name; those not in `fixed` are drawn, or the default without a `random`.

    Drawing keeps the default with probability `keep`. `made` has the decisions in the order in
    which they were asked for. Equal names get numbers: ``tile``, ``tile#2``.
    """

    def __init__(
        self, fixed: Mapping[str, Any] | None = None, random: Random | None = None, keep: float = 0
    ):
        self._fixed = {name: as_tuples(value) for name, value in (fixed or {}).items()}
        self._random, self._keep = random, keep
        self._count: dict[str, int] = {}
        self.made: list[Decision] = []

    @property
    def seed(self) -> int | None:
        """A seed for samples that are not fixed."""
        return None if self._random is None else self._random.getrandbits(31)

    @property
    def values(self) -> dict[str, Any]:
        """The answers by name."""
        return {d.name: d.value for d in self.made}

    @property
    def cost(self) -> float:
        """The sum of the estimates: below 0 if the default is estimated to be slower."""
        return sum(d.cost for d in self.made)

    def choose(self, name: str, default: T, candidates: Iterable[T], cost: Cost | None) -> T:
        """One of the candidates or the default."""
        options = list(dict.fromkeys((default, *candidates)))
        name = self._unique(name)
        if len(options) == 1:
            return default
        fixed = self._fixed.get(name)
        value = cast(T, fixed) if name in self._fixed and fixed in options else default
        if value is default and name not in self._fixed and self._random is not None:
            value = self._draw(self._random, options, cost)
        share = 0.0 if cost is None else log(max(cost(value), 1e-9) / max(cost(default), 1e-9))
        self.made.append(Decision(name, value, share))
        return value

    def sampled(self, primitive: str) -> tuple[str, Any]:
        """The name of the next sample of a primitive, and its decision if there is one."""
        name = self._unique(primitive)
        return name, self._fixed.get(name)

    def record(self, name: str, value: Any) -> None:
        """Keep what a primitive sampled."""
        self.made.append(Decision(name, as_tuples(value)))

    def _unique(self, name: str) -> str:
        self._count[name] = count = self._count.get(name, 0) + 1
        return name if count == 1 else f"{name}#{count}"

    def _draw(self, random: Random, options: list[T], cost: Cost | None) -> T:
        if random.random() < self._keep:
            return options[0]
        if cost is None:
            return random.choice(options)
        least = min(map(cost, options))
        return random.choices(options, [(least / max(cost(o), 1e-9)) ** GREED for o in options])[0]


def as_tuples(value: Any) -> Any:
    """A value from JSON, with tuples for its lists."""
    if isinstance(value, list | tuple):
        return tuple(map(as_tuples, cast("list[Any]", value)))
    return value

"""Which schedules to measure next: evolutionary search over decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ..backend.target import Target
from ..dialects.diagnostics import Diagnostic
from ..ir.module import IRModule
from ..lowering.schedule.blocks import ScheduleError
from ..lowering.schedule.primitives.decisions import Decisions
from .cost_model import CostModel, Point
from .space_generator import Sample, SpaceGenerator

ELITE = 8
"""Measured schedules that others are made of."""
POOL = 2
"""Schedules that are drawn for each one that is measured."""
ATTEMPTS = 6
"""Draws for each schedule of the pool: some are known, or do not apply."""
EXPLORED = 0.2
"""The part of a batch that is random, whatever the model says."""
KEPT = (0.0, 0.5, 0.8)
"""Probabilities with which random schedules keep a default."""
CROSSED = 0.3
"""The probability that a schedule has two parents."""

STRATEGIES = ("evolutionary", "replay-trace", "replay-func")


@dataclass
class SearchStrategy:
    """Proposes schedules of a kernel; deterministic for a seed and the same measurements.

    With `is_random` all are drawn, as TVM's ``replay-trace``; else some are made of the best ones.
    """

    mod: IRModule
    target: Target
    space: SpaceGenerator
    model: CostModel
    random: Random
    is_random: bool = False
    known: set[int] = field(default_factory=lambda: set[int]())
    """The keys of schedules that were measured."""
    errors: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    """Why schedules did not apply, and how many."""
    _measured: list[tuple[float, dict[str, Any]]] = field(default_factory=lambda: [])

    def learn(self, measured: Sequence[tuple[Point, float]]) -> None:
        """Take all measurements of the kernel so far, with their speedups."""
        ordered = sorted(measured, key=lambda m: -m[1])
        self._measured = [(speedup, dict(p.values)) for p, speedup in ordered[:ELITE]]
        self.model.update([p for p, _ in measured], [s for _, s in measured])

    def propose(self, count: int) -> list[Sample]:
        """At most `count` new schedules; none if no new one was found."""
        pool: dict[int, Sample] = {}
        for _ in range(count * POOL * ATTEMPTS):
            if len(pool) >= count * POOL:
                break
            sample = self._drawn()
            if sample is not None and sample.key not in self.known:
                pool.setdefault(sample.key, sample)
        return self._chosen(list(pool.values()), count)

    def _chosen(self, pool: list[Sample], count: int) -> list[Sample]:
        """The best of a pool by the model, and some others."""
        scores = self.model.predict([Point(s.values, s.cost) for s in pool])
        order = sorted(range(len(pool)), key=lambda i: -scores[i])
        best = count - round(EXPLORED * count)
        others = order[best:]
        self.random.shuffle(others)
        chosen = [pool[i] for i in (*order[:best], *others[: count - best])]
        self.known.update(s.key for s in chosen)
        return chosen

    def _drawn(self) -> Sample | None:
        if self._measured and not self.is_random and self.random.random() < 0.7:
            decisions = Decisions(self._child(), self.random)
        else:
            decisions = Decisions({}, self.random, self.random.choice(KEPT))
        return self.sampled(decisions)

    def sampled(self, decisions: Decisions) -> Sample | None:
        """The schedule of decisions; `None`, and an entry in `errors`, if it does not apply."""
        try:
            return self.space.sample(self.mod, self.target, decisions)
        except (ScheduleError, Diagnostic) as error:
            text = " ".join(str(error).split())
            self.errors[text] = self.errors.get(text, 0) + 1
            return None

    def _child(self) -> Mapping[str, Any]:
        """Decisions of one parent or two, but for some, which are drawn again."""
        weights = [1 / (i + 1) for i in range(len(self._measured))]
        ((_, first), (_, second)) = self.random.choices(self._measured, weights, k=2)
        child = dict(first)
        if self.random.random() < CROSSED:
            child |= {n: v for n, v in second.items() if n in child and self.random.random() < 0.5}
            if child != first:
                return child
        names = list(child)
        dropped = {n for n in names if self.random.random() < 1 / len(names)}
        dropped |= {self.random.choice(names)} if names else set()
        return {n: v for n, v in child.items() if n not in dropped}

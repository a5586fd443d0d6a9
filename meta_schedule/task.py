"""The search for the schedule of one kernel: rounds of measurements, and the confirmation."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import geometric_mean

from ..backend.target import Target
from ..ir.module import IRModule
from ..lowering.graph.verify_kernels import verify_kernel
from .arguments import Range, args_info, sizes_of, symbols_of, terms_of
from .builder import Builder, BuilderInput, BuilderResult
from .cost_model import CostModel, Point
from .database import Database
from .jobs import Artifact, Case, EvaluatorConfig
from .measure_callback import MeasureCallback
from .record import TuningRecord
from .runner import Runner, RunnerInput, RunnerResult
from .search_strategy import SearchStrategy
from .space_generator import Sample, SpaceGenerator, default_sample, replayed_sample
from .workload import kernel_of

FINALISTS = 3
"""Schedules that are measured again at the end."""
WIN = 1.03
"""The least speedup that replaces the default: in a program, kernels find other data in caches."""
CONFIRMATION = EvaluatorConfig(repeat=25, min_repeat_ms=8.0)
CONFIRMATIONS = 3
"""How often they are, at different times: a processor may have fewer cores for some seconds."""
GENERATION = 16
"""The most schedules that are measured before the search learns from them."""


@dataclass(frozen=True)
class TuneContext:
    """A kernel to tune; TVM's ``TuneContext``.

    `weight` is how often a call of the program runs it; `shape_ranges` has the range of each symbol
    of its shapes.
    """

    mod: IRModule
    target: Target
    space_generator: SpaceGenerator
    task_name: str = "main"
    weight: float = 1.0
    shape_ranges: Mapping[str, Range] = field(default_factory=lambda: {})

    @property
    def is_bounded(self) -> bool:
        """Whether every symbol of the kernel's shapes has a range."""
        return set(symbols_of(kernel_of(self.mod))) <= self.shape_ranges.keys()


@dataclass(eq=False)
class TaskSearch:
    """The search for one kernel; what it measures is in the database at once."""

    task: TuneContext
    task_id: int
    database: Database
    builder: Builder
    runner: Runner
    model: CostModel
    callbacks: Sequence[MeasureCallback]
    log: logging.Logger
    seed: int = 0
    is_random: bool = False

    def __post_init__(self) -> None:
        task = self.task
        self.workload = self.database.commit_workload(task.mod)
        func = self.workload.function
        verify_kernel(func)
        sizes = sizes_of(func, task.shape_ranges)
        self.cases = [Case(args_info(func, s), terms_of(func, s)) for s in sizes]
        self.threads = task.target.num_cores
        self.is_exhausted = False
        self.rounds = 0
        self.baseline: Artifact | None = None
        self.baseline_secs: list[float] | None = None
        self.finalists: list[TuningRecord] | None = None
        random = Random(self.seed * 1_000_003 + self.task_id)
        self.strategy = SearchStrategy(
            self.workload.mod, task.target, task.space_generator, self.model, random, self.is_random
        )

    @property
    def records(self) -> list[TuningRecord]:
        """The measurements of this search and of those before, the default's too."""
        records = self.database.records_of(self.workload, self.task.target)
        return [r for r in records if r.decisions is not None]

    @property
    def trials(self) -> int:
        """How many schedules were tried, now and before."""
        return sum(not _is_default(r) for r in self.records)

    @property
    def best(self) -> float:
        """The largest speedup so far."""
        return max((r.speedup or 0.0 for r in self.records), default=0.0)

    @property
    def seconds(self) -> float:
        """The best time so far, for each run of the program."""
        return self.task.weight * min((r.mean for r in self.records), default=1.0)

    def start(self) -> str | None:
        """Measure the default; why that was not possible, if it was not."""
        sample = default_sample(self.workload.mod, self.task.target)
        self.strategy.known |= {r.key for r in self.records if r.key is not None}
        self.strategy.known.add(sample.key)
        (built,) = self._build([sample])
        self.baseline = built.artifact
        (result,) = self._measured([built])
        if result.error_msg is not None:
            self.log.error("%s: the default schedule: %s", self.task.task_name, result.error_msg)
            return f"{self.task.task_name}: {result.error_msg}"
        known = next((r.baseline_secs for r in self.records if r.baseline_secs), None)
        self.baseline_secs = result.baseline_secs if known is None else list(known)
        is_known = any(map(_is_default, self.records))
        if self.task.space_generator.has_default and not is_known:
            self._commit(sample, result._replace(run_secs=result.baseline_secs), confirmed=True)
        self._learn()
        return None

    def round(self, count: int) -> int:
        """Measure at most `count` schedules; returns how many were tried."""
        samples = self.strategy.propose(min(count, GENERATION))
        self.rounds += 1
        self.is_exhausted = not samples
        built = self._build(samples)
        results = self._measured(built)
        for sample, result in zip(samples, results, strict=True):
            if result.error_msg is not None:
                self.log.warning("%s: %s: %s", self.task.task_name, sample.values, result.error_msg)
            self._commit(sample, result)
        for callback in self.callbacks:
            callback.apply(self, self.task_id, samples, built, results)
        self._learn()
        text = "%s: %d trials, best %.3f times the default"
        self.log.info(text, self.task.task_name, self.trials, self.best)
        return len(samples)

    def confirm(self) -> None:
        """Measure the fastest schedules again, longer; only faster ones than the default stay.

        Of several confirmations the slowest counts.
        """
        has_default = self.task.space_generator.has_default
        if self.finalists is None:
            found = [r for r in self.records if r.is_valid() and not r.confirmed]
            found = [r for r in found if not has_default or (r.speedup or 0) > 1]
            self.finalists = sorted(found, key=lambda r: r.mean)[:FINALISTS]
        samples = [replayed_sample(self.workload.mod, r.trace) for r in self.finalists]
        results = self._measured(self._build(samples), CONFIRMATION)
        winners = list[TuningRecord]()
        for record, sample, result in zip(self.finalists, samples, results, strict=True):
            new = replace(self._record(sample, result), decisions=record.decisions, key=record.key)
            wins = new.is_valid() and (not has_default or (new.speedup or 0) >= WIN)
            slower = max(new, record, key=lambda r: r.mean) if record.confirmed else new
            slower = replace(slower, confirmed=wins)
            if wins:
                winners.append(slower)
            else:
                self.database.commit_tuning_record(slower)
        self.finalists = winners

    def finish(self) -> None:
        """Note the schedules that all confirmations found faster, and in the log what failed."""
        for record in self.finalists or ():
            self.database.commit_tuning_record(record)
        for text, count in self.strategy.errors.items():
            self.log.info("%s: %d schedules: %s", self.task.task_name, count, text)
        has_default = self.task.space_generator.has_default
        if not has_default and self.best and self.best < 1:
            self.log.warning(
                "%s: the default schedule is %.2f times as fast as the best of this space",
                self.task.task_name,
                1 / self.best,
            )

    def _build(self, samples: Sequence[Sample]) -> list[BuilderResult]:
        inputs = [BuilderInput(s.mod, self.task.target, s.moved) for s in samples]
        found = dict(self.builder.build(inputs))
        return [found[i] for i in range(len(samples))]

    def _measured(
        self, built: Sequence[BuilderResult], config: EvaluatorConfig | None = None
    ) -> list[RunnerResult]:
        """Times of the kernels that were compiled, errors of the others."""
        artifacts = [b.artifact for b in built if b.artifact is not None]
        times = iter(self._run(artifacts, config))
        return [
            RunnerResult(None, None, b.error_msg) if b.artifact is None else next(times)
            for b in built
        ]

    def _run(
        self, artifacts: Sequence[Artifact], config: EvaluatorConfig | None = None
    ) -> list[RunnerResult]:
        baseline = self.baseline
        inputs = (
            [] if baseline is None else [RunnerInput(a, baseline, self.cases) for a in artifacts]
        )
        found = dict(self.runner.run(inputs, config, self.threads))
        return [found[i] for i in range(len(artifacts))]

    def _record(self, sample: Sample, result: RunnerResult) -> TuningRecord:
        """The record of a measurement, whose times are parts of the first time of the default."""
        seconds = zip(result.run_secs or (), result.baseline_secs or (), strict=True)
        parts = [own / default for own, default in seconds]
        scaled = [p * b for p, b in zip(parts, self.baseline_secs or (), strict=bool(parts))]
        return TuningRecord(
            sample.trace,
            self.workload,
            scaled or None,
            self.task.target,
            [info for case in self.cases for info in case.arguments],
            baseline_secs=self.baseline_secs,
            decisions=sample.values,
            error=result.error_msg,
            key=sample.key,
            cost=sample.cost,
        )

    def _commit(self, sample: Sample, result: RunnerResult, confirmed: bool = False) -> None:
        record = self._record(sample, result)
        self.database.commit_tuning_record(replace(record, confirmed=confirmed))

    def _learn(self) -> None:
        measured = [(r, r.speedup) for r in self.records]
        points = [(Point(r.decisions or {}, r.cost), speedup) for r, speedup in measured if speedup]
        self.strategy.learn(points)


def _is_default(record: TuningRecord) -> bool:
    """Whether a record is that of the default, which is measured against itself."""
    return record.confirmed and record.run_secs == record.baseline_secs


def overall_speedup(searches: Sequence[TaskSearch]) -> float:
    """The geometric mean of the best speedups so far; 1 for none."""
    found = [s.best for s in searches if s.best]
    return geometric_mean(found) if found else 1.0

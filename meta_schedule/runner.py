"""Runners: measure compiled kernels in worker processes; TVM's ``ms.runner``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from .jobs import Artifact, Case, EvaluatorConfig, RunJob, RunTimes
from .local_workers import LocalWorkers, Workers


class RunnerInput(NamedTuple):
    """A kernel, the default to compare it with, and their arguments."""

    candidate: Artifact
    baseline: Artifact
    cases: Sequence[Case]


class RunnerResult(NamedTuple):
    """Seconds of a kernel and of the default for each case, or why there are none.

    `run_secs` are medians of the kernel's part of the default's time, times `baseline_secs`.
    """

    run_secs: list[float] | None
    baseline_secs: list[float] | None
    error_msg: str | None = None


@dataclass
class Runner:
    """Measures in the processes of `workers`, each kernel within `timeout_sec`.

    ``Runner("local")`` is a process of this machine, ``Runner("dask", client)`` those of a Dask
    cluster. Raises ValueError for another kind.
    """

    kind: Any = "local"
    client: Any = None
    timeout_sec: float = 30.0
    evaluator_config: EvaluatorConfig = field(default_factory=EvaluatorConfig)
    threads: int | None = None
    """At most so many threads, if that is given."""

    def __post_init__(self) -> None:
        if self.kind not in ("local", "dask"):
            raise ValueError(f"expected a runner ('local', 'dask'), got {self.kind!r}")
        self.workers: Workers = LocalWorkers(1)
        if self.kind == "dask":
            from .dask_workers import DaskWorkers

            self.workers = DaskWorkers(self.client)

    @staticmethod
    def create(kind: Any = "local", *args: Any, **options: Any) -> Runner:
        """A runner of a kind."""
        return kind if isinstance(kind, Runner) else Runner(kind, *args, **options)

    def run(
        self,
        inputs: Sequence[RunnerInput],
        config: EvaluatorConfig | None = None,
        threads: int | None = None,
    ) -> Iterator[tuple[int, RunnerResult]]:
        """Measure kernels; yields positions and results in the order in which they end."""
        limit = self.threads if threads is None else threads
        settings = config or self.evaluator_config
        jobs = [RunJob(*given, settings, threads=limit) for given in inputs]
        for number, (times, error) in self.workers.run_all(jobs, self.timeout_sec):
            yield number, RunnerResult(None, None, error) if error is not None else result_of(times)

    def close(self) -> None:
        """End the worker processes."""
        self.workers.close()


def LocalRunner(
    timeout_sec: float = 30.0, evaluator_config: EvaluatorConfig | None = None
) -> Runner:
    """A runner on this machine; TVM's ``LocalRunner``."""
    return Runner("local", None, timeout_sec, evaluator_config or EvaluatorConfig())


def result_of(times: RunTimes) -> RunnerResult:
    """The medians of rounds: noise that concerns both kernels of a round does not count."""
    seconds, defaults = list[float](), list[float]()
    for candidate, baseline in zip(times.candidate, times.baseline, strict=True):
        share = median(c / b for c, b in zip(candidate, baseline, strict=True))
        defaults.append(median(baseline))
        seconds.append(share * defaults[-1])
    return RunnerResult(seconds, defaults)

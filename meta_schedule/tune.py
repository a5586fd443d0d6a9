"""Tuning: kernels take turns until their trials are used up; TVM's ``ms.tune_tasks``."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .builder import Builder
from .cost_model import CostModel
from .database import Database
from .progress import Progress
from .runner import Runner
from .search_strategy import STRATEGIES
from .task import CONFIRMATIONS, TaskSearch, TuneContext

SCHEDULERS = ("gradient", "round-robin")


@dataclass(frozen=True)
class TuneConfig:
    """How to tune: the arguments that all functions that tune have.

    At most `max_trials_global` schedules are measured, `max_trials_per_task` and
    `max_seconds_per_task` of each kernel, and `num_trials_per_iter` in a turn. `builder`, `runner`,
    `database`, `cost_model` and `strategy` are objects or names; without a builder, the workers of
    the runner compile. `measure_callbacks` are called with every batch. The search is the same for
    the same `seed` and measurements. Raises ValueError for an unknown name.
    """

    max_trials_global: int
    max_trials_per_task: int | None = None
    num_trials_per_iter: int = 64
    max_seconds_per_task: float | None = None
    builder: Any = None
    runner: Any = "local"
    database: Any = "json"
    cost_model: Any = "auto"
    measure_callbacks: Any = "default"
    task_scheduler: str = "gradient"
    strategy: str = "evolutionary"
    seed: int | None = None
    progress: bool = True

    def __post_init__(self) -> None:
        for name, known in (("task_scheduler", SCHEDULERS), ("strategy", STRATEGIES)):
            if (got := getattr(self, name)) not in known:
                expected = ", ".join(f"'{k}'" for k in known)
                raise ValueError(f"expected {name} {expected}, got {got!r}")
        for name, least in (("max_trials_global", 0), ("num_trials_per_iter", 1)):
            if (got := getattr(self, name)) < least:
                raise ValueError(f"expected {name} of at least {least}, got {got}")


def tune_tasks(tasks: Sequence[TuneContext], work_dir: str | Path, config: TuneConfig) -> Database:
    """Tune kernels on the processor of this process; returns the database.

    Trials that the database has already count. A schedule or a kernel that cannot be measured is a
    line in ``logs/tuning.log`` of `work_dir`. Raises ValueError for a target that is not this
    machine, and where there are kernels but none could be measured.
    """
    for task in tasks:
        if not task.target.is_host:
            raise ValueError(f"expected a target that this machine can run, got '{task.target}'")
    database = Database.create(config.database, work_dir=work_dir)
    runner = Runner.create(config.runner)
    kind = config.builder or runner.kind
    builder = Builder.create(kind, runner.client) if kind == "dask" else Builder.create(kind)
    callbacks = () if config.measure_callbacks == "default" else tuple(config.measure_callbacks)
    with _log_in(Path(work_dir) / "logs") as log:
        try:
            searches = [
                TaskSearch(
                    *(task, number, database, builder, runner),
                    CostModel.create(config.cost_model, config.seed or 0),
                    callbacks,
                    log,
                    config.seed or 0,
                    config.strategy != "evolutionary",
                )
                for number, task in enumerate(tasks)
            ]
            _search(searches, config, log)
        finally:  # objects that were given are closed by their owner
            for given, made in ((config.builder, builder), (config.runner, runner)):
                if given is not made:
                    made.close()
    return database


def _search(searches: Sequence[TaskSearch], config: TuneConfig, log: logging.Logger) -> None:
    """Measure the defaults, then schedules of the kernels in turns, then the best ones again."""
    failures = {s: s.start() for s in searches}
    started = [s for s, failure in failures.items() if failure is None]
    if searches and not started:
        raise ValueError(f"expected a kernel that can be measured, got {failures[searches[0]]}")
    limit = config.max_trials_global
    spent = {s: 0.0 for s in started}
    left = max(0, limit - sum(s.trials for s in started))
    with Progress(left, config.progress) as progress:
        while left > 0:
            open_ = [s for s in started if _room(s, config) > 0 and not _is_over(s, spent, config)]
            if not open_:
                break
            search = min(open_, key=_order(config.task_scheduler))
            begin = time.monotonic()
            count = min(left, _room(search, config), config.num_trials_per_iter)
            tried = search.round(count)
            spent[search] += time.monotonic() - begin
            left -= tried
            progress.update(tried, search.task.task_name, search.best)
    for _ in range(CONFIRMATIONS):
        for search in started:
            search.confirm()
    for search in started:
        search.finish()
    log.info("%d kernels, %d trials left", len(started), left)


def _order(scheduler: str) -> Callable[[TaskSearch], float]:
    """What is smallest for the kernel whose turn it is.

    With "gradient" that is the kernel that takes most of the program's time for its turns so far.
    """
    if scheduler == "round-robin":
        return lambda s: s.rounds
    return lambda s: -s.seconds / (1 + s.rounds) if s.rounds else -1e9 * s.seconds


def _room(search: TaskSearch, config: TuneConfig) -> int:
    """The trials that a kernel may still have."""
    most = config.max_trials_per_task
    return config.max_trials_global if most is None else most - search.trials


def _is_over(search: TaskSearch, spent: dict[TaskSearch, float], config: TuneConfig) -> bool:
    """Whether nothing is left to be tried, or no time."""
    most = config.max_seconds_per_task
    return search.is_exhausted or (most is not None and spent[search] >= most)


@contextmanager
def _log_in(folder: Path) -> Generator[logging.Logger]:
    """The logger of searches, which also writes ``tuning.log`` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    log = logging.getLogger("xrelax.meta_schedule")
    handler = logging.FileHandler(folder / "tuning.log")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level, propagates = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield log
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagates
        handler.close()

"""Tuning records: a schedule of a workload as a trace, and how long it took."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ..backend.target import Target
from ..lowering.schedule.primitives.decisions import as_tuples
from ..tir.schedule import Trace
from .arguments import ArgInfo
from .workload import Workload

FAILED = 1e10
"""The seconds of a candidate that has none; TVM's records have them too."""


@dataclass(frozen=True)
class TuningRecord:
    """A measured schedule; TVM's ``TuningRecord``.

    `run_secs` has seconds for each set of arguments in `args_info`. A search measures schedules in
    turns with the default: the seconds are their part of the default's time, times `baseline_secs`.
    """

    trace: Trace
    workload: Workload
    run_secs: Sequence[float] | None = None
    target: Target | None = None
    args_info: Sequence[ArgInfo] | None = None
    baseline_secs: Sequence[float] | None = None
    """Seconds of the default schedule."""
    decisions: Mapping[str, Any] | None = None
    """The decisions of a search; `None` for records of other origin."""
    confirmed: bool = False
    """Whether a second, longer measurement has shown that the schedule is faster."""
    error: str | None = None
    """Why there are no times."""
    key: int | None = None
    """A number that equal schedules share."""
    cost: float = 0.0
    """The logarithm of the time that the cost model expects, as a part of the default's."""

    @property
    def mean(self) -> float:
        """The average time; `FAILED` without times."""
        return fmean(self.run_secs) if self.run_secs else FAILED

    @property
    def speedup(self) -> float | None:
        """The default's time over that of this schedule; `None` where one is not known."""
        if not self.baseline_secs or not self.is_valid():
            return None
        return fmean(self.baseline_secs) / self.mean

    def rank(self) -> tuple[bool, float]:
        """The key of the order in which records are preferred."""
        return not self.confirmed, self.mean

    def is_valid(self) -> bool:
        """Whether the schedule was compiled and measured."""
        return self.error is None and self.mean < FAILED

    @property
    def identity(self) -> tuple[str, str, str]:
        """What the last measurement of a schedule replaces: the same trace and target."""
        return self.workload.shash, str(self.target), json.dumps(self.trace.as_json())

    def as_json(self) -> list[Any]:
        """The workload's hash, TVM's fields of a record, and what the search knows."""
        facts = {
            "baseline_secs": None if self.baseline_secs is None else list(self.baseline_secs),
            "decisions": None if self.decisions is None else dict(self.decisions),
            "confirmed": self.confirmed,
            "error": self.error,
            "key": self.key,
            "cost": self.cost,
        }
        seconds = None if self.run_secs is None else list(self.run_secs)
        target = None if self.target is None else str(self.target)
        info = None if self.args_info is None else list(self.args_info)
        return [self.workload.shash, [self.trace.as_json(), seconds, target, info], facts]

    @staticmethod
    def from_json(json_obj: Sequence[Any], workload: Workload) -> TuningRecord:
        """The record of `as_json`; raises ValueError for an unknown instruction or target."""
        _, (trace, seconds, target, info), facts = json_obj
        decisions = facts["decisions"]
        values = None if decisions is None else {k: as_tuples(v) for k, v in decisions.items()}
        return TuningRecord(
            Trace.from_json(trace),
            workload,
            seconds,
            None if target is None else Target(target),
            info,
            decisions=values,
            **{k: v for k, v in facts.items() if k != "decisions"},
        )

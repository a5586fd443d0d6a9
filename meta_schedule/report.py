"""What was tuned: a line for each kernel, as a table, and the course of the search as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from ..dialects import tir
from ..profiling.machine import measured_machine
from ..profiling.report import figure_class, plain_table
from ..profiling.work import work_of
from ..reference.expressions import number
from ..runtime.threads import num_threads
from .arguments import symbols_of
from .record import TuningRecord

COLUMNS = ("kernel", "default µs", "best µs", "ratio", "roofline %", "trials", "failed", "target")


@dataclass(frozen=True)
class TunedKernel:
    """The best schedule of a kernel for a target, and all that were tried."""

    best: TuningRecord
    records: tuple[TuningRecord, ...]

    @property
    def name(self) -> str:
        """The names of the kernel's blocks: kernels of a database have no other names."""
        func = self.best.workload.function
        names = [op.block_name.data for op in func.walk() if isinstance(op, tir.BlockOp)]
        return ", ".join(n for n in names if n != "root")

    @property
    def seconds(self) -> float:
        """The time of the best schedule."""
        return self.best.mean

    @property
    def default_seconds(self) -> float | None:
        """The time of the default schedule in the same measurement."""
        baseline = self.best.baseline_secs
        return fmean(baseline) if baseline else None

    @property
    def speedup(self) -> float | None:
        """The default's time over the best one."""
        return self.best.speedup

    @property
    def trials(self) -> int:
        """How many schedules were tried."""
        return len(self.records)

    @property
    def failed(self) -> int:
        """How many of them could not be measured."""
        return sum(not r.is_valid() for r in self.records)

    @property
    def roofline(self) -> float | None:
        """The least time that the work can take as a part of the best time.

        `None` for symbolic shapes and where nothing is known of the work.
        """
        record = self.best
        func = record.workload.function
        work = work_of(func)
        if symbols_of(func) or work.operations is None or record.target is None:
            return None
        threads = min(num_threads(), record.target.num_cores or num_threads())
        operations, nbytes = number(work.operations, {}), number(work.read + work.written, {})
        least = measured_machine(threads, record.target).seconds(operations, nbytes, work.dtype)
        return least / self.seconds


@dataclass(frozen=True)
class TuningReport:
    """The kernels of a database: ``print(report)``, ``report.plot(path)``."""

    kernels: tuple[TunedKernel, ...]

    def __iter__(self) -> Iterator[TunedKernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def rows(self) -> list[list[str]]:
        """The cells of the table."""
        return [
            [
                k.name,
                _micro(k.default_seconds),
                _micro(k.seconds),
                "" if k.speedup is None else f"{k.speedup:.3f}",
                "" if (share := k.roofline) is None else f"{100 * share:.0f}",
                str(k.trials),
                str(k.failed),
                "" if k.best.target is None else k.best.target.short_name,
            ]
            for k in self.kernels
        ]

    def __str__(self) -> str:
        return plain_table(COLUMNS, self.rows())

    def __repr__(self) -> str:
        return str(self)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the best speedup of each kernel over its trials, a figure of matplotlib.

        With a path it is written too. Raises ValueError where matplotlib is not installed.
        """
        figure = figure_class()(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        for number_, kernel in enumerate(self.kernels):
            speedups = [r.speedup or 0.0 for r in kernel.records]
            color, trials = f"C{number_ % 10}", range(1, len(speedups) + 1)
            axes.plot(trials, speedups, ".", color=color, alpha=0.4)
            best = list(accumulate(speedups, max))
            axes.step(trials, best, where="post", color=color, label=kernel.name[:40])
        axes.axhline(1, color="gray", lw=1)
        axes.set(xlabel="trial", ylabel="speedup over the default schedule")
        axes.grid(alpha=0.3)
        if self.kernels:
            axes.legend(fontsize=7)
        if path is not None:
            figure.savefig(path)
        return figure


def tuning_report(records: Iterable[TuningRecord]) -> TuningReport:
    """The report of a database's records."""
    groups: dict[tuple[str, str], list[TuningRecord]] = {}
    for record in records:
        groups.setdefault((record.workload.shash, str(record.target)), []).append(record)
    kernels: list[TunedKernel] = []
    for group in groups.values():
        best = min((r for r in group if r.is_valid()), key=TuningRecord.rank, default=None)
        if best is not None:
            kernels.append(TunedKernel(best, tuple(group)))
    return TuningReport(tuple(kernels))


def _micro(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:.2f}"

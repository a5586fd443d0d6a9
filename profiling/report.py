"""What a profile says: a line for each kernel, as a table and as a picture."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..display.rich import displayed
from ..ir.prim_func import PrimFunc
from .machine import Machine

COLUMNS = (
    "kernel",
    "calls",
    "min µs",
    "median µs",
    "time %",
    "GFLOP/s",
    "GB/s",
    "roofline %",
    "bound",
)
_REST = "(rest of the call)"
_STYLES = ("-", "--", "-.", ":")
"""Lines of the levels of memory in the picture."""
_MARKERS = "osD^"
"""Points of ten kernels each."""
_LABEL = 40
"""Characters of a kernel's name in the picture."""


@dataclass(frozen=True)
class KernelProfile:
    """One kernel in the calls of a function; times and work are sums over its calls in one run."""

    name: str
    calls: int
    """How often one run calls it."""
    seconds: tuple[float, ...]
    """For each run, the time of all its calls."""
    operations: int | None
    """Arithmetic operations, a multiply-add as two; `None` where data decides, or Python."""
    bytes_read: int
    bytes_written: int
    """Bytes of its buffers, each once a call."""
    largest_call: int
    """Bytes of the call that moves most, which say what level of memory the data is in."""
    dtype: str
    """The type of the arithmetic."""
    machine: Machine
    """The roofline of as many threads as the kernel may use."""
    function: PrimFunc | None
    """The TensorIR before it is scheduled; `None` for a registered function."""
    scheduled: PrimFunc | None
    target: str
    """What it was compiled for."""

    @property
    def min(self) -> float:
        """The time of the quickest run, in seconds."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The median time of the runs, in seconds."""
        return statistics.median(self.seconds)

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def gflops(self) -> float | None:
        """10⁹ operations per second; `None` where they are not known."""
        return None if self.operations is None else _rate(self.operations, self.median)

    @property
    def gbytes(self) -> float:
        """10⁹ bytes per second."""
        return _rate(self.bytes, self.median)

    @property
    def roofline(self) -> float | None:
        """The least time that the work can take as a part of the time it took.

        `None` where nothing is known of the work.
        """
        if not self.bytes and not self.operations:
            return None
        work = self.operations or 0, self.bytes, self.dtype, self.largest_call
        least = self.machine.seconds(*work)
        return least / self.median if self.median else 1.0

    @property
    def bound(self) -> str:
        """What limits the work: "FMA" or a level of memory; nothing where it is not known."""
        if not self.bytes and not self.operations:
            return ""
        work = self.operations or 0, self.bytes, self.dtype, self.largest_call
        return self.machine.bound(*work)

    def show(self, stage: str | None = None, target: Any = None) -> None:
        """Print the TensorIR that the kernel comes from, or its form at a stage such as "asm".

        Code is that for its own target, or for another `target`. Raises ValueError for a
        registered function, which has no TensorIR.
        """
        if self.function is None:
            raise ValueError(
                f"expected a kernel to show, got the registered function '{self.name}'"
            )
        self.function.show(stage=stage, target=self.target if target is None else target)


@displayed("executables:profile_html")
@dataclass(frozen=True)
class ProfileReport:
    """Where the time of a function goes: `print(report)`, `report["matmul"]`, `report.plot(path)`.

    Times were taken by the machine code around each call of a kernel, in calls of the whole.
    """

    function: str
    seconds: tuple[float, ...]
    """For each run, the time of the whole call from Python."""
    kernels: tuple[KernelProfile, ...]
    result: Any
    """What the last call returned."""
    target: str

    def __getitem__(self, name: str) -> KernelProfile:
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        known = ", ".join(k.name for k in self.kernels) or "none"
        raise ValueError(f"expected a kernel of '{self.function}' ({known}), got '{name}'")

    def __iter__(self) -> Iterator[KernelProfile]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def median(self) -> float:
        """The median time of a call, in seconds."""
        return statistics.median(self.seconds)

    def share(self, kernel: KernelProfile) -> float:
        """The kernel's part of the time of a call, the median of all runs."""
        return statistics.median(
            inside / whole for inside, whole in zip(kernel.seconds, self.seconds, strict=True)
        )

    def rows(self) -> list[list[str]]:
        """The cells of the table, the slowest kernel first, and the rest of the call."""
        slowest = sorted(self.kernels, key=lambda k: -k.median)
        rows = [self._row(kernel) for kernel in slowest]
        inside = [sum(run) for run in zip(*(k.seconds for k in self.kernels), strict=True)]
        rest = [
            s - i for s, i in zip(self.seconds, inside or [0.0] * len(self.seconds), strict=True)
        ]
        times = [_micro(min(rest)), _micro(statistics.median(rest))]
        parts = [r / s for r, s in zip(rest, self.seconds, strict=True)]
        share = f"{100 * statistics.median(parts):.1f}"
        return [*rows, [_REST, "", *times, share, *[""] * 4]]

    def _row(self, kernel: KernelProfile) -> list[str]:
        roofline = kernel.roofline
        return [
            kernel.name,
            str(kernel.calls),
            _micro(kernel.min),
            _micro(kernel.median),
            f"{100 * self.share(kernel):.1f}",
            "" if not kernel.gflops else f"{kernel.gflops:.1f}",
            f"{kernel.gbytes:.1f}" if kernel.bytes else "",
            "" if roofline is None else f"{100 * roofline:.0f}",
            kernel.bound,
        ]

    def table(self) -> str:
        """The table as text, by `tabulate` where it is installed."""
        rows = self.rows()
        try:
            from tabulate import tabulate
        except ImportError:
            return plain_table(COLUMNS, rows)
        numbers = ("left", *["right"] * (len(COLUMNS) - 2), "left")
        return tabulate(rows, COLUMNS, disable_numparse=True, colalign=numbers)

    def __str__(self) -> str:
        head = f"{self.function}: {_micro(self.median)} µs, the median of {len(self.seconds)} calls"
        machines = sorted({k.machine for k in self.kernels}, key=lambda m: m.threads)
        return "\n".join([head, self.table(), *map(str, machines)])

    def __repr__(self) -> str:
        return str(self)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw a roofline picture with every kernel, a figure of matplotlib, which notebooks show.

        With a path it is written too, in the format of the suffix. Raises ValueError where
        matplotlib is not installed.
        """
        figure = plot_roofline(self)
        if path is not None:
            figure.savefig(path)
        return figure


def _rate(amount: int, seconds: float) -> float:
    return amount / seconds * 1e-9 if seconds else 0.0


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.2f}"


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text: the first and the last column to the left, numbers to the right."""
    cells = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    ends = (0, len(head) - 1)

    def line(row: Sequence[str]) -> str:
        padded = [
            c.ljust(w) if i in ends else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(cells[0]), "  ".join("-" * w for w in widths), *map(line, cells[1:])])


def plot_roofline(report: ProfileReport) -> Any:
    """The picture; kernels without known operations are left out of it."""
    figure = figure_class()(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    points = [(k, k.operations / k.bytes) for k in report if k.operations and k.bytes]
    intensities = [intensity for _, intensity in points]
    low, high = min([0.1, *intensities]) / 2, max([100.0, *intensities]) * 2
    machine = max((k.machine for k, _ in points), key=lambda m: m.threads, default=None)
    peak = 1.0 if machine is None else machine.flops_per_second * 1e-9
    for level, style in zip(() if machine is None else machine.levels, _STYLES, strict=False):
        bandwidth = level.bytes_per_second * 1e-9
        roof = [low * bandwidth, peak, peak]
        label = f"{level.name}, {bandwidth:.0f} GB/s"
        axes.plot([low, peak / bandwidth, high], roof, style, color="gray", lw=1, label=label)
    slowest = sorted(points, key=lambda point: -point[0].median)
    for number, (kernel, intensity) in enumerate(slowest):
        share, place = report.share(kernel), (intensity, kernel.gflops)
        marker, size = _MARKERS[number // 10 % len(_MARKERS)], 4 + 10 * share
        name = kernel.name if len(kernel.name) <= _LABEL else f"{kernel.name[: _LABEL - 1]}…"
        label = f"{name}, {share:.0%}"
        axes.plot(*place, marker, color=f"C{number % 10}", markersize=size, label=label)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        xlabel="operations per byte",
        ylabel="GFLOP/s",
        title=f"{report.function}: {report.median * 1e6:.1f} µs, under {peak:.0f} GFLOP/s",
    )
    axes.grid(alpha=0.3, which="both")
    figure.legend(loc="outside right upper", fontsize=7)
    return figure


def figure_class() -> Any:
    """matplotlib's figures, which need no display."""
    try:
        return import_module("matplotlib.figure").Figure
    except ImportError:
        raise ValueError("expected matplotlib to be installed for a picture, got none") from None

"""The table of a run: ratios to the best peer and to the roofline, their means, and a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers import OURS
from workloads import KINDS


@dataclass(frozen=True)
class Row:
    """What was measured of one workload; `seconds` by contestant."""

    name: str
    kind: str
    seconds: dict[str, float]
    roofline: float
    """Seconds that the work takes at least."""
    error: float
    cold: float
    cached: float
    why: str
    """The kernel that takes most of the time, and its part of the roofline."""
    tolerance: float = 1e-3
    """The largest error that counts as equal."""

    @property
    def ours(self) -> float:
        """Our seconds."""
        return self.seconds[OURS]

    @property
    def best_peer(self) -> str | None:
        """The quickest of the others; `None` where there is none."""
        peers = {name: s for name, s in self.seconds.items() if name != OURS}
        return min(peers, key=peers.__getitem__) if peers else None

    @property
    def ratio(self) -> float | None:
        """The time of the best peer over ours: above 1 we are quicker."""
        return None if self.best_peer is None else self.seconds[self.best_peer] / self.ours

    @property
    def share(self) -> float:
        """The part of the roofline that we reach."""
        return self.roofline / self.ours

    @property
    def passes(self) -> bool:
        """Whether it is as quick as the best peer, and quicker or at the roofline."""
        ratio = math.inf if self.ratio is None else self.ratio
        return ratio >= 0.98 and (self.share >= 0.93 or ratio >= 1.05)


def columns(peers: Sequence[str]) -> list[str]:
    """The head of the table."""
    head = ["workload", f"{OURS} µs", *(f"{peer} µs" for peer in peers)]
    return [*head, "best/ours", "roofline %", "error", "cold s", "cache s", "slowest kernel"]


def cells(row: Row, peers: Sequence[str]) -> list[str]:
    """One line of the table."""
    times = [row.seconds.get(peer) for peer in peers]
    return [
        row.name + ("" if row.passes else " *"),
        micro(row.ours),
        *("" if t is None else micro(t) for t in times),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        f"{100 * row.share:.0f}",
        f"{row.error:.0e}",
        f"{row.cold:.2f}",
        f"{row.cached:.2f}",
        "" if row.passes else row.why,
    ]


def micro(seconds: float) -> str:
    """Microseconds with three digits that count."""
    value = seconds * 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def means(rows: Sequence[Row]) -> dict[str, float]:
    """The geometric mean of the ratios of each class."""
    found: dict[str, float] = {}
    for kind in KINDS:
        ratios = [r.ratio for r in rows if r.kind == kind and r.ratio is not None]
        if ratios:
            found[kind] = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return found


def markdown(rows: Sequence[Row], peers: Sequence[str]) -> str:
    """The table as Markdown, which is readable as text too."""
    table = [columns(peers), *(cells(row, peers) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = [
            c.ljust(w) if i in (0, len(row) - 1) else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([line(table[0]), rule, *map(line, table[1:])])


def mean_table(rows: Sequence[Row]) -> str:
    """The means of the classes as Markdown."""
    lines = ["| class | workloads | mean of best/ours |", "|---|---|---|"]
    for kind, mean in means(rows).items():
        lines.append(f"| {kind} | {sum(r.kind == kind for r in rows)} | {mean:.2f} |")
    return "\n".join(lines)


def text(rows: Sequence[Row], peers: Sequence[str], machine: Any) -> str:
    """The whole result of a run."""
    head = (
        f"{machine}. Times are medians of interleaved "
        "rounds. A star marks what is slower than 0.98 of the best peer, or neither 1.05 times as "
        "quick nor at 93 % of the roofline; then the last column has the kernel that takes most "
        "of the time, and its part of the roofline."
    )
    return f"{head}\n\n{markdown(rows, peers)}\n\n{mean_table(rows)}\n"


def plot(rows: Sequence[Row], path: Path) -> None:
    """A bar for each workload: how many times as quick as the best peer, by class.

    Needs matplotlib.
    """
    from matplotlib.figure import Figure

    shown = [row for row in rows if row.ratio is not None]
    figure = Figure(figsize=(8, 1 + 0.22 * len(shown)), layout="constrained")
    axes = figure.subplots()
    for kind in KINDS:
        places = [i for i, row in enumerate(shown) if row.kind == kind]
        axes.barh(places, [shown[i].ratio - 1 for i in places], left=1, label=kind)
    axes.axvline(1, color="k", linewidth=1)
    axes.set(xscale="log", xlabel="time of the best peer / ours", ylim=(len(shown) - 0.5, -0.5))
    axes.set_yticks(range(len(shown)), [f"{r.name} ({r.best_peer})" for r in shown], fontsize=7)
    axes.grid(alpha=0.3, axis="x", which="both")
    axes.legend(fontsize=7)
    figure.savefig(path)

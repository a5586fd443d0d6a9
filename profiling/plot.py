"""The picture of a profile: operations per second over operations per byte, under the roofs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .report import ProfileReport


def plot_roofline(report: ProfileReport, path: str | Path) -> None:
    """Write the picture; kernels without known operations are left out of it."""
    figure_class = _figure()
    figure = figure_class(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    points = [(k, k.operations / k.bytes) for k in report if k.operations and k.bytes]
    intensities = [intensity for _, intensity in points]
    low, high = min([0.1, *intensities]) / 2, max([100.0, *intensities]) * 2
    machine = max((k.machine for k, _ in points), key=lambda m: m.threads, default=None)
    peak = 1.0 if machine is None else machine.flops_per_second * 1e-9
    for level in () if machine is None else machine.levels:
        bandwidth = level.bytes_per_second * 1e-9
        corner = peak / bandwidth
        axes.plot(
            [low, corner, high],
            [low * bandwidth, peak, peak],
            linewidth=1,
            label=f"{level.name}, {bandwidth:.0f} GB/s",
        )
    for kernel, intensity in points:
        axes.plot(
            intensity, kernel.gflops, "o", markersize=4 + 10 * report.share(kernel), color="k"
        )
        axes.annotate(
            kernel.name, (intensity, kernel.gflops), (5, -9), textcoords="offset points", fontsize=7
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        xlabel="operations per byte",
        ylabel="GFLOP/s",
        title=f"{report.function}: {report.median * 1e6:.1f} µs, under {peak:.0f} GFLOP/s",
    )
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=7)
    figure.savefig(path)


def _figure() -> Any:
    """matplotlib's figures, which need no display."""
    try:
        return import_module("matplotlib.figure").Figure
    except ImportError:
        raise ValueError("expected matplotlib to be installed for a picture, got none") from None

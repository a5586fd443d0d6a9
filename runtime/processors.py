"""The processors that this process may use: by its affinity, and by the CPU time of its cgroups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_MEMBERSHIP, _ROOT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def usable_processors() -> list[int]:
    """The processors on which the process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def processor_count(membership: Path = _MEMBERSHIP, root: Path = _ROOT) -> int:
    """How many processors can work for the process at the same time, at least 1.

    A container may run on all of a machine's processors, but for the time of a few: more threads
    would use it up early in each period, and then stand still together.
    """
    count = len(usable_processors())
    limits = (_quota(folder) for folder in _folders(membership, root))
    return max(1, min([count, *(-(-quota // period) for quota, period in limits if quota > 0)]))


def _folders(membership: Path, root: Path) -> Iterator[Path]:
    """The folders of the process's cgroups, and of those that they are in, of both versions."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            top = root / controllers
            group = top / path.lstrip("/")
            yield from (f for f in (group, *group.parents) if f.is_relative_to(top))


def _quota(folder: Path) -> tuple[int, int]:
    """Microseconds of CPU time in a period of so many; 0 or less for no limit."""
    try:
        if (unified := folder / "cpu.max").exists():
            quota, period = unified.read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        return int(quota), max(1, int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return 0, 1

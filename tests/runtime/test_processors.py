"""How many processors a process may use at once."""

from __future__ import annotations

import pytest

from xrelax.runtime import threads


def limited(tmp_path, monkeypatch, membership: str, files: dict[str, str]) -> int:
    """The number for a process on 16 threads, of these cgroups."""
    monkeypatch.setattr(threads, "usable_processors", lambda: list(range(16)))
    (tmp_path / "cgroup").write_text(membership)
    for name, text in files.items():
        path = tmp_path / "fs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return threads.processor_count(tmp_path / "cgroup", tmp_path / "fs")


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({}, 16),
        ({"cpu.max": "max 100000\n"}, 16),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "5000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, 16),
        ({"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ({"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "800000 100000\n"}, 4),
        ({"other/cpu.max": "100000 100000\n"}, 16),
        ({"cpu.max": "\n"}, 16),
    ],
)
def test_time_of_unified_groups(tmp_path, monkeypatch, files, count):
    assert limited(tmp_path, monkeypatch, "0::/a/b\n", files) == count


@pytest.mark.parametrize(("quota", "count"), [("-1", 16), ("250000", 3)])
def test_time_of_groups_by_controller(tmp_path, monkeypatch, quota, count):
    membership = "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/\n"
    folder = "cpu,cpuacct/docker/x"
    files = {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": "100000"}
    assert limited(tmp_path, monkeypatch, membership, files) == count


def test_systems_without_groups(tmp_path):
    count = threads.processor_count(tmp_path / "missing", tmp_path)
    assert count == len(threads.usable_processors()) >= 1

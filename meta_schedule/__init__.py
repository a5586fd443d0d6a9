"""The `meta_schedule` namespace of the Python API: the search for fast schedules by measuring."""

from __future__ import annotations

from typing import Any

from ..name_lookup import known, resolve


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("meta_schedule.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("meta_schedule.")]

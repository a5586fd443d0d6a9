"""The `testing` namespace of the Python API: comparisons of values and gradients."""

from __future__ import annotations

from typing import Any

from ..name_lookup import known, resolve


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("testing.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("testing.")]

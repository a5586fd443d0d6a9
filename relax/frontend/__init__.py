"""Front ends under the names that TVM gives them: `relax.frontend.torch`."""

from __future__ import annotations

from typing import Any

from ...name_lookup import known, resolve


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("relax.frontend.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("relax.frontend.")]

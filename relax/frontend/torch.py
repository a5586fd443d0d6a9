"""PyTorch's front end: `from_exported_program` and `from_fx`, as in `tvm.relax.frontend.torch`."""

from __future__ import annotations

from typing import Any

from ...name_lookup import known, resolve

__path__: list[str] = []
"""Modules below this one, such as `dynamo`, are those of the table of names."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("relax.frontend.torch.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("relax.frontend.torch.")]

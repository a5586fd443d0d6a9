"""ONNX's front end: `from_onnx`, as in `tvm.relax.frontend.onnx`."""

from __future__ import annotations

from typing import Any

from ...name_lookup import known, resolve


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return resolve("relax.frontend.onnx.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("relax.frontend.onnx.")]

"""A progress bar for the steps of a quantization, where tqdm is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")
DELAY = 0.5
"""Seconds; shorter steps show no bar."""


def progress(steps: Sequence[T], name: str, is_shown: bool) -> Iterable[T]:
    """The steps, with a bar on standard error if that is a terminal; it disappears at the end."""
    if not is_shown:
        return steps
    try:
        module: Any = import_module("tqdm")
    except ModuleNotFoundError:  # an optional package
        return steps
    return module.tqdm(steps, desc=name, leave=False, delay=DELAY, disable=None)

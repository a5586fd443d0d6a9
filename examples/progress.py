"""A progress bar for the long steps of an example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from image_data import DataError

T = TypeVar("T")
DELAY = 0.2  # seconds; shorter steps show no bar


def progress(steps: Sequence[T], name: str) -> Iterable[T]:
    """The steps, with a bar on standard error if that is a terminal; it disappears at the end.

    Raises DataError when tqdm is not installed.
    """
    try:
        from tqdm import tqdm
    except ModuleNotFoundError as error:
        raise DataError("the progress bars need tqdm: install the extra `demo`") from error
    return tqdm(steps, desc=name, leave=False, delay=DELAY, disable=None)

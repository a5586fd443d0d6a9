"""Measuring a function, as TVM's `time_evaluator`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """Seconds per call, one figure per repeat."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average, in seconds."""
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        """The fastest repeat, in seconds."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The slowest repeat, in seconds."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation over all repeats, in seconds."""
        return statistics.pstdev(self.results)

    def __str__(self) -> str:
        names = ("mean", "median", "min", "max", "std")
        return ", ".join(f"{n} {getattr(self, n) * 1e3:.4f} ms" for n in names)


def check_count(name: str, value: object) -> None:
    """Raise TypeError or ValueError unless a count is an integer of at least 1."""
    if not isinstance(value, int):
        raise TypeError(f"expected {name} to be an int, got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"expected {name} of at least 1, got {value}")


class TimeEvaluator:
    """Measures `function`: `repeat` times the average of `number` calls, after one warm-up call.

    `number` grows until a repeat takes `min_repeat_ms`. Raises ValueError for counts below 1.
    """

    def __init__(
        self, function: Callable[..., Any], number: int, repeat: int, min_repeat_ms: float
    ) -> None:
        check_count("number", number)
        check_count("repeat", repeat)
        self._function = function
        self._number = number
        self._repeat = repeat
        self._min_seconds = min_repeat_ms * 1e-3

    def __call__(self, *args: Any, **kwargs: Any) -> BenchmarkResult:
        function, number = self._function, self._number
        function(*args, **kwargs)
        results: list[float] = []
        while len(results) < self._repeat:
            start = time.perf_counter()
            for _ in range(number):
                function(*args, **kwargs)
            elapsed = time.perf_counter() - start
            if elapsed >= self._min_seconds:
                results.append(elapsed / number)
            else:  # aim a little higher, so that the next attempt is long enough
                number = max(number + 1, int(number * self._min_seconds * 1.1 / max(elapsed, 1e-9)))
        return BenchmarkResult(tuple(results))

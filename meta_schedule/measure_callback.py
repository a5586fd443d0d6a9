"""What is called with every batch of measurements; TVM's ``ms.measure_callback``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .builder import BuilderResult
from .runner import RunnerResult
from .space_generator import Sample


class MeasureCallback:
    """A subclass overrides `apply`; records are in the database before it is called."""

    def apply(
        self,
        task_scheduler: Any,
        task_id: int,
        measure_candidates: Sequence[Sample],
        builder_results: Sequence[BuilderResult],
        runner_results: Sequence[RunnerResult],
    ) -> None:
        """Called with the search of a kernel, the number of the kernel, and what was measured."""
        raise NotImplementedError

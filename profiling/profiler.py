"""Runs the instrumented build of a module, and says where the time of its calls goes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.target import Target
from ..runtime.timing import check_count

if TYPE_CHECKING:
    from .instrumented import Calls, InstrumentedBuild
    from .report import ProfileReport

_WARM_UP = 2


@dataclass
class Profiler:
    """The instrumented build of a module, made when it is first used."""

    module: ModuleOp
    target: Target
    _lock: Lock = field(default_factory=Lock)

    def profile(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], repeat: int
    ) -> ProfileReport:
        """Call a function `repeat` times; raises as `check_count` does."""
        check_count("repeat", repeat)
        build = self._build
        function = build.executable[name]
        runs: list[dict[str, Calls]] = []
        seconds: list[float] = []
        result: Any = None
        with self._lock:
            for number_of_run in range(_WARM_UP + repeat):
                build.log.clear()
                begin = time.perf_counter()
                result = function(*args, **kwargs)
                elapsed = time.perf_counter() - begin
                if number_of_run >= _WARM_UP:
                    runs.append(build.read_log())
                    seconds.append(elapsed)
        return build.report(name, result, seconds, runs)

    @cached_property
    def _build(self) -> InstrumentedBuild:
        from .instrumented import instrumented_build  # of which other builds need nothing

        return instrumented_build(self.module, self.target)

"""What worker processes do: compile a scheduled kernel, or measure one against another."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..backend.machine_model import LINE
from ..backend.target import Target
from ..compilation import compile_module
from ..reference.compare import mismatch
from ..reference.inputs import copy_arguments
from ..runtime.executable import Executable
from ..runtime.structure import tensors_over
from ..runtime.threads import num_threads, set_num_threads
from .arguments import ArgInfo, random_arguments
from .workload import parsed

LAYOUT = "layout"
"""Functions ``layout_0``, … transform arguments to the layouts that a schedule has chosen."""

SLOW, FEW = 1.5, 3
"""How much slower than the default a kernel is for which a few rounds suffice, and how many."""


_MOST_THREADS = num_threads()


@dataclass(frozen=True)
class EvaluatorConfig:
    """How kernels are timed: `repeat` rounds of at least `min_repeat_ms`; TVM's namesake.

    In each round a kernel and the default take turns, `number` calls or more.
    """

    number: int = 1
    repeat: int = 9
    min_repeat_ms: float = 4.0


@dataclass(frozen=True)
class BuildJob:
    """A scheduled kernel as text, and the functions that transform its arguments."""

    text: str
    target: str

    def run(self) -> bytes:
        """The pickled executable; raises what the compiler raises."""
        return pickle.dumps(compile_module(parsed(self.text), Target(self.target)))


@dataclass(frozen=True)
class Artifact:
    """A compiled kernel, and the positions of the arguments that its functions transform."""

    code: bytes
    moved: tuple[int, ...] = ()


@dataclass(frozen=True)
class Case:
    """Arguments of a kernel, and the roundings that may be in its results."""

    arguments: Sequence[ArgInfo]
    terms: int


@dataclass(frozen=True)
class RunTimes:
    """Seconds of a kernel and of the default in each round, for each case."""

    candidate: list[list[float]]
    baseline: list[list[float]]


@dataclass(frozen=True)
class RunJob:
    """A measurement of a kernel against the default."""

    candidate: Artifact
    baseline: Artifact
    cases: Sequence[Case]
    config: EvaluatorConfig
    seed: int = 0
    threads: int | None = None

    def run(self) -> RunTimes:
        """The times; raises ValueError with one line for a wrong result."""
        set_num_threads(min(self.threads or _MOST_THREADS, _MOST_THREADS))
        kernels = [_load(a.code) for a in (self.candidate, self.baseline)]
        moved = self.candidate.moved, self.baseline.moved
        times = RunTimes([], [])
        for case in self.cases:
            arrays = [_aligned(a) for a in random_arguments(case.arguments, self.seed)]
            pairs = list(zip(kernels, moved, strict=True))
            first, second = (_Call.of(k, copy_arguments(arrays), m) for k, m in pairs)
            _compare(first, second, case)
            # Both kernels work in the same memory: its addresses concern their speed.
            own, other = (_Call.of(k, arrays, m).call for k, m in pairs)
            candidate, baseline = _measure(own, other, self.config)
            times.candidate.append(candidate)
            times.baseline.append(baseline)
        return times


Job = BuildJob | RunJob


def _load(code: bytes) -> Executable:
    found = pickle.loads(code)
    assert isinstance(found, Executable)
    return found


def _aligned(argument: Any) -> Any:
    """A copy of an array that starts at a cache line, as the tensors of programs do."""
    if not isinstance(argument, np.ndarray):
        return argument
    array = cast("NDArray[Any]", argument)
    memory = np.empty(array.nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@dataclass(frozen=True)
class _Call:
    """A kernel with its arguments, which it writes its results to."""

    arrays: list[Any]
    call: Callable[[], Any]

    @staticmethod
    def of(executable: Executable, arrays: list[Any], moved: tuple[int, ...]) -> _Call:
        function = executable["main"]
        given = list(arrays)
        for number, position in enumerate(moved):
            transform = executable[f"{LAYOUT}_{number}"]
            shape = [d for d in transform.spec.params[-1].shape if isinstance(d, int)]
            new = _aligned(np.zeros(shape, given[position].dtype))
            transform(*tensors_over(transform.spec, [given[position], new]))
            given[position] = new
        tensors = tensors_over(function.spec, given)
        return _Call(arrays, partial(function, *tensors))


def _compare(own: _Call, other: _Call, case: Case) -> None:
    """Raise ValueError if a kernel's results differ from those of the default."""
    other.call()
    own.call()
    for number, (info, got, wanted) in enumerate(
        zip(case.arguments, own.arrays, other.arrays, strict=True)
    ):
        if info[0] == "TENSOR":
            wrong = mismatch(got, wanted, info[1], 2 * case.terms)
            if wrong is not None:
                raise ValueError(f"wrong result in argument {number}: {wrong}")


def _measure(
    own: Callable[[], Any], other: Callable[[], Any], config: EvaluatorConfig
) -> tuple[list[float], list[float]]:
    """Seconds of two kernels that take turns."""
    first = _seconds(other, config.number)
    number = max(config.number, round(config.min_repeat_ms * 1e-3 / max(first, 1e-8)))
    number = max(config.number, round(config.min_repeat_ms * 1e-3 / _seconds(other, number)))
    found: tuple[list[float], list[float]] = ([], [])
    for turn in range(config.repeat):
        pair = [(own, found[0]), (other, found[1])]
        for call, seconds in pair if turn % 2 else pair[::-1]:
            seconds.append(_seconds(call, number))
        if turn + 1 == FEW and all(c > SLOW * b for c, b in zip(*found, strict=True)):
            break
    return found


def _seconds(call: Callable[[], Any], number: int) -> float:
    """Seconds of a call; with one thread, without the time that other processes had."""
    clock = time.thread_time if num_threads() == 1 else time.perf_counter
    begin = clock()
    for _ in range(number):
        call()
    return max(clock() - begin, 1e-9) / number

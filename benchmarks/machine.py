"""The process that is measured: pinned to its cores, every peer with as many threads.

`prepare` comes before NumPy or a peer is imported: they read their threads from the environment.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "XRELAX_NUM_THREADS",
    "TVM_NUM_THREADS",
    "TORCHINDUCTOR_COMPILE_THREADS",
)
ROUND_SECONDS = 1e-2
"""How long one contestant runs in one round, at least one call."""
FAR_BEHIND, LONG_SECONDS = 20, 0.2
"""Who takes so many times as long as the quickest, and more seconds, is timed once."""
ENOUGH_SECONDS = 100
"""Who takes as long for a first call, which may compile something, is not called again."""
IDLE_SECONDS, MAX_IDLE_SECONDS = 2e-2, 0.5
"""How long nobody computes before a contestant's turn, and how long that is waited for.

The system counts the time of running threads at its clock's ticks, up to 10 ms apart.
"""


def prepare(threads: int) -> None:
    """Pin the process to its last cores and tell every library how many threads it has.

    Raises ValueError for more threads than cores.
    """
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if not hasattr(os, "sched_setaffinity"):
        print("not pinned: this system cannot")
        return
    cores = sorted(os.sched_getaffinity(0))
    if threads > len(cores):
        raise ValueError(f"expected at most {len(cores)} threads, got {threads}")
    os.sched_setaffinity(0, cores[-threads:])


@contextmanager
def empty_cache() -> Generator[None]:
    """A cache of compiled code that nothing is in yet."""
    before = os.environ.get("XRELAX_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XRELAX_CACHE_DIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["XRELAX_CACHE_DIR"]
            else:
                os.environ["XRELAX_CACHE_DIR"] = before


def medians(
    calls: Mapping[str, Callable[[], Any]],
    rounds: int,
    budget: float,
    first: Mapping[str, float],
) -> dict[str, float]:
    """Median seconds of a call of the rounds of `interleaved`."""
    found = interleaved(calls, rounds, budget, first)
    return {name: statistics.median(samples) for name, samples in found.items()}


def interleaved(
    calls: Mapping[str, Callable[[], Any]],
    rounds: int,
    budget: float,
    first: Mapping[str, float],
) -> dict[str, list[float]]:
    """Seconds of a call in each round, all interleaved; `first` has what first calls took.

    A round has each call for `ROUND_SECONDS`, after as many calls that are not timed, so that
    everybody finds in the caches what it has left there itself. Threads of the one before are
    waited for: some spin for long after their last loop. There are three rounds at least, and no
    more than fit into `budget` seconds. What takes longer than `FAR_BEHIND` times the quickest is
    timed only once, unless that is short.
    """
    once = {
        name: seconds if (seconds := first[name]) > ENOUGH_SECONDS else _single(call)
        for name, call in calls.items()
    }
    limit = max(LONG_SECONDS, FAR_BEHIND * min(once.values()))
    far = {name: seconds for name, seconds in once.items() if seconds > limit}
    calls = {name: call for name, call in calls.items() if name not in far}
    repeats = {name: max(1, int(ROUND_SECONDS / once[name])) for name in calls}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    begin = time.perf_counter()
    while len(next(iter(samples.values()))) < rounds:
        for name, call in calls.items():
            _wait_for_threads()
            _seconds(call, repeats[name])
            samples[name].append(_seconds(call, repeats[name]))
        done = len(next(iter(samples.values())))
        if done >= 3 and time.perf_counter() - begin > budget:
            break
    gc.enable()
    return {name: [seconds] for name, seconds in far.items()} | samples


def _wait_for_threads() -> None:
    """Sleep until no thread of the process computes."""
    end = time.perf_counter() + MAX_IDLE_SECONDS
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(IDLE_SECONDS)
        if time.process_time() - before < IDLE_SECONDS / 20:
            return


def _single(call: Callable[[], Any]) -> float:
    """About the seconds of one call."""
    once = _seconds(call, 1)
    if once < 0.1:  # the first call may have done more than the others, and one may be interrupted
        once = min(_seconds(call, 1 if once > ROUND_SECONDS else 5) for _ in range(5))
    return once


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - begin) / repeats

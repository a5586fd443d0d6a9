"""What one process can reach on this machine: multiplications and additions, reads of memory.

Measured by generated code, once for each number of threads and target: loops of multiply-adds and
of dot products in most registers that the target has, and sums over memory of half the size of each
cache and of far more.
"""

from __future__ import annotations

import ctypes
import mmap
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from threading import Barrier
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backend.jit import Library, compile_module
from ..backend.machine_model import host_caches
from ..backend.target import Target
from .machine_code import STEP_BYTES, chains, machine_code, multiply_adds

_SECONDS = 2e-3
"""How long one measurement takes; the best of many counts."""
_ATTEMPTS = 30
_HUGE = 1 << 21
_DRAM_BYTES = 1 << 28


class Level(NamedTuple):
    """A level of memory: what fits there, and what can be read from it."""

    name: str
    capacity: float
    """Bytes, infinite for DRAM."""
    bytes_per_second: float


@dataclass(frozen=True)
class Machine:
    """The roofline of some threads of this machine."""

    threads: int
    flops_per_second: float
    """Of f32 in vectors of the target, with a multiply-add as two."""
    levels: tuple[Level, ...]
    dots_per_second: tuple[tuple[str, float], ...] = ()
    """Operations of dot products, by the dtype of their numbers, where there are instructions."""

    def __str__(self) -> str:
        levels = ", ".join(f"{v.name} {v.bytes_per_second / 1e9:.0f}" for v in self.levels)
        dots = "".join(f", {v / 1e9:.0f} in {k}" for k, v in self.dots_per_second)
        return (
            f"{self.threads} thread{'s' * (self.threads > 1)}: {self.flops_per_second / 1e9:.0f} "
            f"GFLOP/s of fused multiply-adds in f32{dots}; reads in GB/s: {levels}"
        )

    def level_of(self, nbytes: float) -> Level:
        """The level of memory that so many bytes fit in, and leave room for something else."""
        return next(level for level in self.levels if nbytes < level.capacity)

    def peak(self, dtype: str) -> float:
        """Operations per second in a type; narrow ones are computed as f32 or by dot products."""
        if (dots := dict(self.dots_per_second).get(dtype)) is not None:
            return dots
        return self.flops_per_second / (2 if dtype.endswith("64") else 1)

    def seconds(
        self, operations: float, nbytes: float, dtype: str, resident: float | None = None
    ) -> float:
        """The least time that work can take on so many bytes of data that is `resident`.

        That is the bytes themselves, unless several calls move them.
        """
        level = self.level_of(nbytes if resident is None else resident)
        return max(operations / self.peak(dtype), nbytes / level.bytes_per_second)

    def bound(
        self, operations: float, nbytes: float, dtype: str, resident: float | None = None
    ) -> str:
        """What limits work: "FMA", or the level of memory."""
        level = self.level_of(nbytes if resident is None else resident)
        is_compute = operations / self.peak(dtype) > nbytes / level.bytes_per_second
        return "FMA" if is_compute else level.name


def measured_machine(threads: int = 1, target: Target | None = None) -> Machine:
    """The roofline of this process on so many threads, measured at the first call.

    What `target` leaves unused, such as wider vectors, does not count; without one it is the
    processor itself. Raises ValueError for less than one thread.
    """
    return _measured(threads, Target("llvm") if target is None else target)


@cache
def _measured(threads: int, target: Target) -> Machine:
    return measure_machine(threads, target)


def measure_machine(threads: int, target: Target | None = None) -> Machine:
    """The roofline of so many threads at the moment; takes about a second.

    Raises ValueError for less than one thread.
    """
    if threads < 1:
        raise ValueError(f"expected at least one thread, got {threads}")
    target = Target("llvm") if target is None else target
    caches = host_caches()
    library = compile_module(machine_code(target), target)
    sizes = (
        ("L1", caches.l1, caches.l1 // 2),
        ("L2", caches.l2, caches.l2 // 2),
        ("L3", caches.l3, max(2 * caches.l2, caches.l3 // 4)),
        ("DRAM", float("inf"), max(_DRAM_BYTES, 4 * caches.l3) // threads),
    )
    rates = {
        dtype: _operations(library, dtype, kind.numbers, target, threads)
        for dtype, kind in multiply_adds(target).items()
    }
    return Machine(
        threads,
        rates.pop("float32"),
        tuple(Level(name, most, _bandwidth(library, size, threads)) for name, most, size in sizes),
        tuple(rates.items()),
    )


def _operations(library: Library, dtype: str, numbers: int, target: Target, threads: int) -> float:
    native = _function(library, f"xrelax.machine.multiply_add_{dtype}", 2)
    each = 2 * numbers * target.lanes(32) * chains(target)
    return _best_rate(lambda count: [lambda: native(0, count)] * threads, each * threads)


def _bandwidth(library: Library, nbytes: int, threads: int) -> float:
    native = _function(library, "xrelax.machine.read", 3)
    steps = max(1, nbytes // STEP_BYTES)
    memory = [_huge_pages(steps * STEP_BYTES) for _ in range(threads)]
    addresses = [-(-array.ctypes.data // _HUGE) * _HUGE for array in memory]

    def work(count: int) -> Sequence[Callable[[], object]]:
        return [partial(native, address, steps, count) for address in addresses]

    rate = _best_rate(work, steps * STEP_BYTES * threads)
    del memory  # it had to live until here
    return rate


def _huge_pages(nbytes: int) -> NDArray[np.uint8]:
    """Memory with so many bytes on large pages, where there are any: small ones limit the reads."""
    pages = mmap.mmap(-1, nbytes + 2 * _HUGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    memory = np.frombuffer(pages, np.uint8)
    memory[:] = 0  # now it is there, and not one page of zeros
    return memory


def _best_rate(work: Callable[[int], Sequence[Callable[[], object]]], units: float) -> float:
    """Units per second of what all threads do `count` times, with enough of it to be measured."""
    count = 1
    while (seconds := _run(work(count))) < _SECONDS:
        count = max(2 * count, int(count * _SECONDS / max(seconds, 1e-7)))
    return max(count * units / _run(work(count)) for _ in range(_ATTEMPTS))


def _run(calls: Sequence[Callable[[], object]]) -> float:
    """Seconds of the slowest of calls that run at once, without the time of other processes."""
    if len(calls) == 1:
        return _thread_seconds(calls[0])
    barrier = Barrier(len(calls))

    def timed(call: Callable[[], object]) -> float:
        barrier.wait()
        return _thread_seconds(call)

    with ThreadPoolExecutor(len(calls)) as pool:
        return max(pool.map(timed, calls))


def _thread_seconds(call: Callable[[], object]) -> float:
    begin = time.thread_time()
    call()
    return time.thread_time() - begin


def _function(library: Library, symbol: str, arity: int) -> Callable[..., float]:
    """A function on integers that gives a float; its calls release the GIL."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_float, *([ctypes.c_int64] * arity))
    native = prototype(library.address(symbol))

    def call(*args: int) -> float:
        assert library.objects  # code lives as long as what refers to it
        return native(*args)

    return call

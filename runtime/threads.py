"""The thread pool for parallel loops of native code, and its number of threads.

Workers are Python daemon threads that run native code forever, without the GIL. They start with the
first parallel loop, sleep when idle, and are started again in a child after ``os.fork``.
``XRELAX_NUM_THREADS`` is the number of threads, including each loop's caller; the default is the
number of processors that the process may use. On systems other than Linux on x86-64 or AArch64,
loops run on the calling thread.
"""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Any

from .llvm_binding import LLVM_LOCK, binding, llvm_module
from .native import Machine, NativeCode, provide
from .pool_code import ENTRY, MASK_BYTES, MAX_THREADS, POOL, WORKER, Pool, pool_ir, thread_code

_MEMBERSHIP, _ROOT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def usable_processors() -> list[int]:
    """The processors on which the process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def processor_count(membership: Path = _MEMBERSHIP, root: Path = _ROOT) -> int:
    """The number of processors for the process, within the CPU quotas of its cgroups; at least 1.

    A container may run on all processors of a machine with the quota of a few. More threads would
    exhaust the quota early in each period, and all would then be throttled.
    """
    count = len(usable_processors())
    limits = (_quota(folder) for folder in _folders(membership, root))
    return max(1, min([count, *(-(-quota // period) for quota, period in limits if quota > 0)]))


def _folders(membership: Path, root: Path) -> Iterator[Path]:
    """The folders of the process's cgroups and of their parents, for cgroup v1 and v2."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            top = root / controllers
            group = top / path.lstrip("/")
            yield from (f for f in (group, *group.parents) if f.is_relative_to(top))


def _quota(folder: Path) -> tuple[int, int]:
    """The CPU quota and its period, in microseconds; a quota of 0 or less means no limit."""
    try:
        if (unified := folder / "cpu.max").exists():
            quota, period = unified.read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        return int(quota), max(1, int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return 0, 1


VARIABLE = "XRELAX_NUM_THREADS"

_Start = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_WorkerLoop = ctypes.CFUNCTYPE(None, ctypes.c_int64)


def num_threads() -> int:
    """The number of threads that may run a parallel loop, including its caller.

    Raises ValueError if ``XRELAX_NUM_THREADS`` is not a number of threads.
    """
    return _requested if _requested is not None else _initial_threads()


def set_num_threads(count: int) -> None:
    """Set the number of threads that may run a parallel loop, including its caller.

    Results do not depend on it. Raises TypeError unless the count is an integer, ValueError unless
    it is from 1 to 1024, or for more than 1 on systems without a thread pool.
    """
    global _requested
    try:
        count = operator.index(count)
    except TypeError:
        kind = type(count).__name__
        raise TypeError(f"expected a number of threads that is an integer, got {kind}") from None
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"expected 1 to {MAX_THREADS} threads, got {count}")
    if count > 1 and not _has_pool():
        raise ValueError(f"expected 1 thread on {_triple()}, which has no thread pool, got {count}")
    with _lock:
        _requested = count
        if _pool is not None:
            _pool.state.threads = count


_requested: int | None = None
_lock = threading.RLock()


@cache
def _initial_threads() -> int:
    text = os.environ.get(VARIABLE)
    if text is None:
        count = min(processor_count(), MAX_THREADS)
    elif text.strip().isdecimal() and 1 <= int(text) <= MAX_THREADS:
        count = int(text)
    else:
        raise ValueError(
            f"expected {VARIABLE} to be a number from 1 to {MAX_THREADS}, got '{text}'"
        )
    return count if _has_pool() else 1


@cache
def _triple() -> str:
    with LLVM_LOCK:
        return str(binding().get_process_triple())


def _has_pool() -> bool:
    return thread_code(_triple()).futex is not None


class _PoolCode(NativeCode):
    """The machine code of the pool, for this process."""

    @property
    def machine(self) -> Machine:
        return Machine(_triple(), ())

    def imports(self) -> list[str]:
        return []


def _compile(ir: str) -> bytes:
    """An object file of the pool; unoptimized, which takes 4 ms, so that it need not be cached."""
    with LLVM_LOCK, llvm_module(binding().parse_assembly, ir) as module:
        target = binding().Target.from_triple(_triple())
        machine = target.create_target_machine(reloc="pic", codemodel="small", opt=0)
        module.triple, module.data_layout = _triple(), str(machine.target_data)
        return machine.emit_object(module)


class _ThreadPool:
    """The thread pool of the process: its code, its state and its workers."""

    def __init__(self) -> None:
        self._code = _PoolCode([_compile(pool_ir(thread_code(_triple())))])
        self.entry = self._code.address(ENTRY)
        self.state = Pool.from_address(self._code.address(POOL))
        self._worker_loop = _WorkerLoop(self._code.address(WORKER))
        self._start = _Start(self._hire)
        self.reset()

    def reset(self) -> None:
        """Start without workers, as in a child after ``os.fork``."""
        self._taken: set[int | None] = set()
        ctypes.memset(ctypes.addressof(self.state), 0, ctypes.sizeof(Pool))
        self.state.threads = num_threads()
        self.state.start = ctypes.cast(self._start, ctypes.c_void_p).value
        if (calls := _placement()) is not None:
            self.state.get_processor, self.state.set_affinity = map(_address, calls)

    def _hire(self, count: int) -> None:
        """Start workers up to a number; native code calls it for a parallel loop."""
        with _lock:
            own = _processor_of_caller()
            places = _places(count, self._taken, own)
            self.state.home = own or 0
            for slot in range(self.state.workers + 1, count + 1):
                place = places.pop(0) if places else None
                worker = threading.Thread(
                    target=self._work, args=(slot, place), name=f"xrelax worker {slot}", daemon=True
                )
                try:
                    worker.start()
                except RuntimeError:  # no more threads, or the interpreter is shutting down
                    self.state.threads = slot
                    raise
                self.state.workers = slot
                self._taken |= {place} - {None}

    def _work(self, slot: int, processor: int | None) -> None:
        if processor is not None:
            try:
                os.sched_setaffinity(0, {processor})
                self.state.thread_ids[slot] = threading.get_native_id()
                self.state.places[slot] = processor + 1
            except OSError:
                pass  # the processor is no longer available: the worker is not pinned
        self._worker_loop(slot)


def _places(count: int, taken: AbstractSet[int | None], own: int | None) -> list[int]:
    """Processors for workers, without the caller's `own`; none if there are fewer than `count`.

    Without pinning, Linux wakes a worker on the processor of its caller, where it has to wait.
    """
    others = [p for p in usable_processors() if p != own]
    if own is None or len(others) < count:
        return []
    return [p for p in others if p not in taken]


@cache
def _placement() -> tuple[Any, Any] | None:
    """The C library's `sched_getcpu` and `sched_setaffinity`, if it has them (Linux)."""
    library = ctypes.CDLL(None)
    try:
        return library.sched_getcpu, library.sched_setaffinity
    except AttributeError:
        return None


def _address(function: Any) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value


def _processor_of_caller() -> int | None:
    calls = _placement()
    found = -1 if calls is None else int(calls[0]())
    return found if 0 <= found < 8 * MASK_BYTES else None


_pool: _ThreadPool | None = None


def parallel_entry() -> int:
    """The address of the function that native code calls for a parallel loop; creates the pool."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = _ThreadPool()
        return _pool.entry


def _after_fork() -> None:
    """Reset the pool in a child process, which has only the forking thread and no running loop."""
    global _lock
    _lock = threading.RLock()
    if _pool is not None:
        _pool.reset()


provide(ENTRY, parallel_entry)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

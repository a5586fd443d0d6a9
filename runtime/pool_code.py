"""The thread pool of parallel loops as LLVM IR: one fork-join at a time, with work stealing.

A loop is divided into grains, whose size follows from its cost alone. Every grain runs in one call
of the body, so results do not depend on the number of threads. Consecutive grains form chunks,
which threads claim, the caller among them::

    ticket:   epoch (32 bits) | slots (12 bits) | chunks that are not claimed (20 bits)

A thread claims a chunk by a compare-and-exchange that decrements the ticket. It reads the
parameters of the loop after that: the caller waits until all claimed chunks are done, and for
nothing else. Threads whose slot is not in the ticket take no part.

The slot of a thread selects its chunks, which are consecutive and equally many for each slot. A
thread without chunks steals those of others. So a thread has in its caches what adjacent iterations
share, such as weights, and what it wrote in the loop before.

Each worker is pinned to a processor. If the caller has moved to the processor of a worker since the
last loop, that worker moves to the caller's previous processor.

A call inside of a chunk, or of another thread at the same time, finds the pool busy and runs its
grains serially. Bodies get a context, which failed checks report to. If several chunks fail, the
caller gets the report of the first one, as in a serial loop.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from .call_words import CHECK, CONTEXT_WORDS, SECOND
from .pool_fork_join import FORK_JOIN
from .pool_workers import WORKERS

if TYPE_CHECKING:
    from ..backend.targets.architecture import ThreadCode

ENTRY, WORKER, POOL = "xrelax_parallel", "xrelax_worker", "xrelax_pool"
"""Symbols: the entry that kernels call, the loop of a worker, the state of the pool."""

MAX_THREADS = 1024
AWAKE_COST = 12_000_000
"""The least work of a loop that awake threads share, in thousandths of a cycle.

It equals `MachineModel.wake`; to import that from here would load the compiler.
"""
GRAIN_COST = AWAKE_COST // 2
"""The least work of a grain of several iterations."""
FEW_GRAINS = 16
"""With fewer grains, threads may get unequal work."""
MAX_GRAINS = 1 << 20
"""A bound so that the product with the number of iterations does not overflow."""
SERIAL_COST = 5 * AWAKE_COST // 2
"""The least work of a loop for which sleeping threads are woken."""
LONG_COST = 50 * AWAKE_COST
"""The least work of a loop of which each thread gets several chunks, to balance the load."""
CHUNKS_PER_THREAD = 16
"""Enough that few grains, such as blocks of a large matmul, are claimed one by one."""
SPINS = 2000
"""Pauses, about 30 µs, before an idle thread sleeps."""

REPORT_WORDS = SECOND + 1 - CHECK
"""Words of the context for the report of a failed check."""

MASK_BYTES = 128
"""Bytes of a set of processors, which has 1024 of them (glibc's `cpu_set_t`)."""

_LINE = 64


class Pool(ctypes.Structure):
    """The state of the pool; fields that threads contend for have their own cache lines."""

    _fields_ = (
        ("ticket", ctypes.c_uint64),
        ("_after_ticket", ctypes.c_char * (_LINE - 8)),
        ("pending", ctypes.c_uint32),  # chunks that are not done
        ("waiting", ctypes.c_uint32),  # whether the caller sleeps until they are
        ("_after_pending", ctypes.c_char * (_LINE - 8)),
        ("wake", ctypes.c_uint32),  # changes when sleeping workers are to look again
        ("sleepers", ctypes.c_uint32),
        ("_after_wake", ctypes.c_char * (_LINE - 8)),
        ("busy", ctypes.c_uint32),
        ("lock", ctypes.c_uint32),  # held while a failed chunk reports
        ("threads", ctypes.c_uint32),  # that may run a loop, its caller included
        ("workers", ctypes.c_uint32),  # that have been started
        ("start", ctypes.c_void_p),  # called with the number of workers that there should be
        ("get_processor", ctypes.c_void_p),  # the C library's sched_getcpu, or null
        ("set_affinity", ctypes.c_void_p),  # its sched_setaffinity
        ("home", ctypes.c_uint32),  # the caller's processor when it last shared out a loop
        ("_after_home", ctypes.c_char * (_LINE - 44)),
        ("body", ctypes.c_void_p),
        ("env", ctypes.c_void_p),
        ("begin", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("unit", ctypes.c_int64),  # iterations that stay together, for whole vectors
        ("grains", ctypes.c_int64),
        ("chunks", ctypes.c_int64),
        ("active", ctypes.c_int64),  # threads that share the loop out, as in the ticket
        ("float_state", ctypes.c_int64),  # the caller's rounding and treatment of denormals
        ("failed", ctypes.c_uint64),  # the first chunk that has failed, or the largest number
        ("status", ctypes.c_int32),
        ("report", ctypes.c_int64 * REPORT_WORDS),
        ("taken", ctypes.c_uint32 * MAX_THREADS),  # chunks of a slot's own that are taken
        ("places", ctypes.c_uint32 * MAX_THREADS),  # of workers by slot: processor + 1, 0 for any
        ("thread_ids", ctypes.c_uint32 * MAX_THREADS),  # of workers that have places
    )


def thread_code(triple: str) -> ThreadCode:
    """What threads need on a machine."""
    from ..backend.targets import GENERIC, architecture_of

    return (architecture_of(triple) if "linux" in triple.partition("-")[2] else GENERIC).threads


def _futex(number: int) -> tuple[str, str]:
    """Linux's system call of this number: FUTEX_WAIT and FUTEX_WAKE of one process."""
    start = f"call i64 (i64, ...) @syscall(i64 {number}, ptr %word"
    return f"{start}, i64 128, i64 %value, ptr null)", f"{start}, i64 129, i64 %count)"


def pool_ir(code: ThreadCode) -> str:
    """The LLVM IR of the pool on a machine."""
    fields = {
        name: f"getelementptr inbounds (i8, ptr @{POOL}, i64 {getattr(Pool, name).offset})"
        for name, *_ in Pool._fields_
    }
    names = {"entry": ENTRY, "worker_loop": WORKER, "pool": POOL, "size": ctypes.sizeof(Pool)}
    costs = {
        "grain_cost": GRAIN_COST,
        "grain_rest": GRAIN_COST - 1,
        "few_grains": FEW_GRAINS,
        "most_grains": MAX_GRAINS,
        "serial_cost": SERIAL_COST,
        "awake_cost": AWAKE_COST,
        "long_cost": LONG_COST,
        "chunks_per_thread": CHUNKS_PER_THREAD,
        "spins": SPINS,
        "report_offset": 8 * CHECK,
        "report_bytes": 8 * REPORT_WORDS,
        "context_words": CONTEXT_WORDS,
        "mask_bytes": MASK_BYTES,
        "max_processors": 8 * MASK_BYTES,
    }
    sleep, rouse = ("", "") if code.futex is None else _futex(code.futex)
    own = {
        "declarations": f"declare i64 @syscall(i64, ...)\n{code.declarations}",
        "pause": code.pause,
        "sleep": sleep,
        "rouse": rouse,
        "get_float_state": code.get_float_state.format(**fields),
        "set_float_state": code.set_float_state.format(**fields),
    }
    return (WORKERS + FORK_JOIN).format(**fields, **names, **costs, **own)

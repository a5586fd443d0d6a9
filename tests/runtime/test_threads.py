"""The thread pool, with Python functions as the bodies of loops, called as native code calls it."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time

import numpy as np
import pytest
from concurrent_calls import in_threads

from xrelax.runtime import num_threads, set_num_threads
from xrelax.runtime.call_words import CHECK, CONTEXT_WORDS
from xrelax.runtime.pool_code import (
    AWAKE_COST,
    GRAIN_COST,
    LONG_COST,
    MAX_THREADS,
    Pool,
    pool_ir,
    thread_code,
)
from xrelax.runtime.threads import parallel_entry

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="loops run on their callers")

Body = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 3)
Entry = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 3, *(ctypes.c_int64,) * 4)


@pytest.fixture(autouse=True)
def restored_threads():
    """Leave the number of threads as it was."""
    before = num_threads()
    yield
    set_num_threads(before)


class Loop:
    """A loop that records its grains: slot, begin, end and the thread; some iterations fail."""

    def __init__(self, failing: tuple[int, ...] = (), seconds: float = 0.0):
        self.grains: list[tuple[int, int, int, int]] = []
        self.failing = failing
        self.seconds = seconds
        self.words = (ctypes.c_int64 * CONTEXT_WORDS)()
        self._body = Body(self._run)

    def _run(self, ctx: int, env: int | None, slot: int, begin: int, end: int) -> int:
        self.grains.append((slot, begin, end, threading.get_ident()))
        time.sleep(self.seconds)
        for position in self.failing:
            if begin <= position < end:
                report = (ctypes.c_int64 * CONTEXT_WORDS).from_address(ctx)
                report[CHECK] = position
                return 2
        return 0

    def __call__(self, count: int, cost: int, slots: int = MAX_THREADS, begin: int = 0) -> int:
        body = ctypes.cast(self._body, ctypes.c_void_p)
        ctx = ctypes.addressof(self.words)
        return Entry(parallel_entry())(ctx, body, None, begin, begin + count, cost, slots)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        return sorted((begin, end) for _, begin, end, _ in self.grains)

    @property
    def slots(self) -> set[int]:
        return {slot for slot, *_ in self.grains}


@pytest.mark.parametrize("count, cost", [(1, 10**9), (7, 10**8), (1000, 10**6), (100_003, 5000)])
def test_grains_do_not_depend_on_threads(count, cost):
    found = []
    for threads in (1, 2, 5):
        set_num_threads(threads)
        loop = Loop()
        assert loop(count, cost, begin=3) == 0
        found.append(loop.bounds)
        assert len(set(loop.bounds)) == len(loop.grains)
    assert found[0] == found[1] == found[2]
    assert [b for b, _ in found[0]] == [3, *(e for _, e in found[0][:-1])]
    assert found[0][-1][1] == count + 3


def test_no_iterations():
    loop = Loop()
    assert loop(0, 10**9) == 0 and loop(-4, 10**9) == 0 and loop.grains == []


def test_grains_of_many_iterations_are_whole_vectors():
    loop = Loop()
    loop(100_000, 1000)
    sizes = {(end - begin) / 64 for begin, end in loop.bounds[:-1]}
    assert all(size.is_integer() for size in sizes) and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("count, grains", [(3, 1), (7, 2), (20, 8), (31, 8), (33, 16), (34, 17)])
def test_few_grains_are_a_power_of_two(count, grains):
    loop = Loop()
    loop(count, GRAIN_COST * 4 // 5)  # two iterations at least
    sizes = [end - begin for begin, end in loop.bounds]
    assert len(sizes) == grains and max(sizes) - min(sizes) <= 1


def test_little_work_stays_on_the_caller():
    set_num_threads(4)
    loop = Loop(seconds=0.001)
    loop(9, 10**6)
    assert loop.slots == {0} and {t for *_, t in loop.grains} == {threading.get_ident()}


def test_workers_take_part_and_have_slots_of_their_own():
    set_num_threads(3)
    loop = Loop(seconds=0.002)
    loop(60, 10**9)
    threads_of = {slot: {t for s, _, _, t in loop.grains if s == slot} for slot in loop.slots}
    assert loop.slots == {0, 1, 2}
    assert all(len(found) == 1 for found in threads_of.values())


def test_each_thread_claims_grains_that_are_neighbours():
    set_num_threads(2)
    together = threading.Barrier(2, timeout=10)

    def run(ctx: int, env: int | None, slot: int, begin: int, end: int) -> int:
        try:
            together.wait()  # both work at the same speed
        except threading.BrokenBarrierError:
            return 0
        grains[slot].append(begin)
        return 0

    grains, body = ([], []), Body(run)
    words = (ctypes.c_int64 * CONTEXT_WORDS)()
    address = ctypes.cast(body, ctypes.c_void_p)
    Entry(parallel_entry())(ctypes.addressof(words), address, None, 0, 20, LONG_COST, 2)
    assert grains == (list(range(10)), list(range(10, 20)))


def test_a_thread_without_chunks_of_its_own_takes_those_of_others():
    set_num_threads(2)
    caller = threading.get_ident()
    is_free = threading.Event()

    def run(ctx: int, env: int | None, slot: int, begin: int, end: int) -> int:
        if threading.get_ident() != caller:
            is_free.wait(timeout=10)
        grains.append((slot, begin))
        if len(grains) == 19:
            is_free.set()
        return 0

    grains: list[tuple[int, int]] = []
    body = Body(run)
    words = (ctypes.c_int64 * CONTEXT_WORDS)()
    address = ctypes.cast(body, ctypes.c_void_p)
    Entry(parallel_entry())(ctypes.addressof(words), address, None, 0, 20, LONG_COST, 2)
    assert [begin for slot, begin in grains if slot == 0][:10] == list(range(10))
    assert sorted(begin for _, begin in grains) == list(range(20))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the process has one processor")
def test_threads_that_are_awake_share_less_work():
    set_num_threads(2)
    for _ in range(1000):
        Loop()(20, LONG_COST)
        small = Loop()
        small(4, AWAKE_COST // 2)
        if small.slots == {0, 1}:
            return
    raise AssertionError("expected a worker that is awake to take part")


def test_no_more_threads_than_slots():
    set_num_threads(5)
    loop = Loop(seconds=0.001)
    loop(40, 10**9, slots=2)
    assert loop.slots <= {0, 1}


def test_fewer_threads_than_there_were():
    for threads in (4, 2, 1, 3):
        set_num_threads(threads)
        loop = Loop(seconds=0.001)
        loop(40, 10**9)
        assert loop.slots <= set(range(threads)) and num_threads() == threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_iteration_that_fails_is_reported(threads):
    set_num_threads(threads)
    for failing in ((99,), (70, 13, 90), (0, 99)):
        loop = Loop(failing, seconds=0.0003)
        assert loop(100, LONG_COST) == 2
        assert loop.words[CHECK] == min(failing)
        assert all(begin <= min(failing) for begin, _ in loop.bounds) or threads > 1
        assert Loop()(100, LONG_COST) == 0


def test_a_loop_in_a_body_runs_in_its_thread():
    set_num_threads(3)
    inner = [Loop() for _ in range(12)]

    def run(ctx: int, env: int | None, slot: int, begin: int, end: int) -> int:
        for position in range(begin, end):
            assert inner[position](20, GRAIN_COST * 10) == 0
            assert {t for *_, t in inner[position].grains} == {threading.get_ident()}
        return 0

    body = Body(run)
    entry = Entry(parallel_entry())
    assert entry(None, ctypes.cast(body, ctypes.c_void_p), None, 0, 12, 10**9, 64) == 0
    assert all(len(loop.grains) == 20 for loop in inner)


def test_many_python_threads_at_once():
    set_num_threads(3)
    loops = [[Loop() for _ in range(20)] for _ in range(6)]

    def work(number: int) -> None:
        for loop in loops[number]:
            assert loop(50, 10**8) == 0

    in_threads(len(loops), work)
    assert all(loop.bounds == [(i, i + 1) for i in range(50)] for own in loops for loop in own)


def test_idle_threads_take_no_time():
    set_num_threads(4)
    Loop(seconds=0.001)(40, 10**9)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.4)
    assert time.process_time() - before < 0.1


def test_workers_are_daemons():
    set_num_threads(3)
    Loop(seconds=0.001)(40, 10**9)
    workers = [t for t in threading.enumerate() if t.name.startswith("xrelax worker")]
    assert workers and all(t.daemon for t in workers)


@pytest.mark.parametrize("count", [0, -1, MAX_THREADS + 1])
def test_wrong_numbers_of_threads(count):
    with pytest.raises(ValueError, match=f"^expected 1 to {MAX_THREADS} threads, got {count}$"):
        set_num_threads(count)


@pytest.mark.parametrize("count", [1.5, 2.0, "2", None])
def test_numbers_of_threads_are_integers(count):
    before = num_threads()
    kind = type(count).__name__
    with pytest.raises(TypeError, match=f"^expected a number of threads .* integer, got {kind}$"):
        set_num_threads(count)
    assert num_threads() == before
    set_num_threads(np.int8(1))
    assert type(num_threads()) is int


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"])
def test_the_code_assembles_on_machines_with_threads(triple):
    from xrelax.runtime.llvm_binding import LLVM_LOCK, binding, llvm_module

    code = thread_code(triple)
    assert code.futex is not None
    with LLVM_LOCK, llvm_module(binding().parse_assembly, pool_ir(code)) as module:
        module.verify()


def test_machines_without_threads():
    for triple in ("arm64-apple-darwin23.0.0", "x86_64-pc-windows-msvc", "riscv64-linux-gnu"):
        assert thread_code(triple).futex is None


def test_what_threads_fight_over_is_apart():
    lines = [getattr(Pool, name).offset // 64 for name in ("ticket", "pending", "wake", "busy")]
    assert len(set(lines)) == 4

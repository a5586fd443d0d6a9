"""The thread pool in processes of their own: the environment, forks, the end, processors."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from xrelax.runtime.pool_code import MAX_THREADS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="loops run on their callers")


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("text", ["", "0", "-2", "many", "1.5", "99999"])
def test_wrong_numbers_in_the_environment(text):
    program = "import xrelax.runtime as r\ntry: r.num_threads()\nexcept ValueError as e: print(e)"
    found = run_python(program, XRELAX_NUM_THREADS=text)
    assert found.stdout == (
        f"expected XRELAX_NUM_THREADS to be a number from 1 to {MAX_THREADS}, got '{text}'\n"
    )


def test_the_environment_says_how_many():
    program = "import xrelax.runtime as r; print(r.num_threads())"
    assert run_python(program, XRELAX_NUM_THREADS=" 7 ").stdout == "7\n"


LOOP_IN_A_PROCESS = """
import ctypes, os, sys, threading, time
from xrelax.runtime import set_num_threads
from xrelax.runtime.threads import parallel_entry
Body = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 3)
Entry = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 3, *(ctypes.c_int64,) * 4)
set_num_threads(3)
def loop():
    found = []
    body = Body(lambda c, e, slot, b, n: found.append((slot, b)) or time.sleep(0.002) or 0)
    pointer = ctypes.cast(body, ctypes.c_void_p)
    assert Entry(parallel_entry())(None, pointer, None, 0, 30, 10**9, 64) == 0
    assert sorted(b for _, b in found) == list(range(30))
    return {slot for slot, _ in found}
"""


def test_a_forked_child_has_workers_of_its_own():
    program = """
assert loop() == {0, 1, 2}
for _ in range(3):
    child = os.fork()
    if child == 0:
        assert loop() == {0, 1, 2}
        os._exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
assert loop() == {0, 1, 2}
print("done")
"""
    found = run_python(LOOP_IN_A_PROCESS + program)
    assert (found.stdout, found.stderr) == ("done\n", "")


def test_a_child_forked_while_a_loop_runs():
    program = """
loop()
other = threading.Thread(target=lambda: [loop() for _ in range(10)])
other.start()
time.sleep(0.01)
child = os.fork()
if child == 0:
    assert loop() == {0, 1, 2}
    os._exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
other.join()
print("done")
"""
    found = run_python(LOOP_IN_A_PROCESS + program)
    assert (found.stdout, found.stderr) == ("done\n", "")


IN_THE_BACKGROUND = """
threading.Thread(target=lambda: [loop() for _ in range(99)], daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.parametrize("end", ["loop()", IN_THE_BACKGROUND])
def test_the_interpreter_ends_while_there_are_workers(end):
    found = run_python(LOOP_IN_A_PROCESS + end + "\nprint('done')")
    assert (found.returncode, found.stdout, found.stderr) == (0, "done\n", "")


def test_a_worker_makes_room_for_its_caller():
    """A caller that moves to the worker's processor sends the worker to where it was."""
    program = """
set_num_threads(2)
body = Body(lambda c, e, slot, b, n: time.sleep(0.002) or 0)
pointer = ctypes.cast(body, ctypes.c_void_p)
def run():
    assert Entry(parallel_entry())(None, pointer, None, 0, 30, 10**9, 64) == 0
first, second = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, {first, second})
run()
worker, = (t for t in threading.enumerate() if t.name == "xrelax worker 1")
for here, there in [(first, second), (second, first), (second, first), (first, second)]:
    os.sched_setaffinity(0, {here})
    run()
    assert os.sched_getaffinity(worker.native_id) == {there}, (here, there)
print("done")
"""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("the process has one processor")
    found = run_python(LOOP_IN_A_PROCESS + program)
    assert (found.stdout, found.stderr) == ("done\n", "")


def test_callers_on_processors_beyond_the_mask_send_no_worker_there():
    program = """
from xrelax.runtime import threads
set_num_threads(2)
body = Body(lambda c, e, slot, b, n: time.sleep(0.002) or 0)
pointer = ctypes.cast(body, ctypes.c_void_p)
def run():
    assert Entry(parallel_entry())(None, pointer, None, 0, 30, 10**9, 64) == 0
while 1 not in loop():  # the worker has said where it is before it takes part
    pass
state, moved = threads._pool.state, []
Get, Set = ctypes.CFUNCTYPE(ctypes.c_int), ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_int64,) * 3)
get = Get(lambda: processor)
set_affinity = Set(lambda *args: moved.append(args[0] & 0xffffffff) or failure)
state.get_processor = ctypes.cast(get, ctypes.c_void_p).value
state.set_affinity = ctypes.cast(set_affinity, ctypes.c_void_p).value
state.places[1], state.thread_ids[1] = 4, 77
for processor in (1024, 3, 2**31 - 1, 3, -1, 3):
    run()
assert (moved, state.places[1]) == ([], 4), (moved, state.places[1])
failure = -1
for processor in (5, 3):
    run()
assert (moved, state.places[1]) == ([77], 4), (moved, state.places[1])
failure = 0
for processor in (1023, 3):
    run()
assert (moved, state.places[1]) == ([77, 77], 1024), (moved, state.places[1])
print("done")
"""
    found = run_python(LOOP_IN_A_PROCESS + program)
    assert (found.stdout, found.stderr) == ("done\n", "")

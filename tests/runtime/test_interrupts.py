"""Ctrl-C ends a long call before its next kernel; short calls do not even look at a clock."""

import os
import subprocess
import sys

import pytest

from xrelax import relax
from xrelax.relax import op as R

SCRIPT = """
import os, signal, threading, time
import numpy as np
from xrelax import relax
from xrelax.relax import op as R

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
N, STEPS = 64, {steps}
x = relax.Var("x", relax.TensorStructInfo(("n", "n"), "float32"))
builder = relax.BlockBuilder()
with builder.function("main", [x]):
    with builder.dataflow():
        y = x
        for _ in range(STEPS):
            y = builder.emit(R.matmul(y, x))
        y = builder.emit_output(y)
    builder.emit_func_output(y)
executable = relax.build(builder.get())
main = executable["main"]
small = np.eye(N, dtype=np.float32)
large = np.eye({size}, dtype=np.float32)
finished = []

def call():
    try:
        main(large)
        finished.append("finished")
    except KeyboardInterrupt:
        finished.append("interrupted")

def send():
    signal.raise_signal(signal.SIGINT) if os.name == "nt" else os.kill(os.getpid(), signal.SIGINT)
"""
RUNS = """
main(small)
for round in range(3):  # the first call of these dims is done in Python, the others natively
    arenas = list(map(id, executable._arenas.free))
    timer = threading.Timer(0.3, send)
    timer.start()
    call()
    timer.join()
    if round:
        assert list(map(id, executable._arenas.free)) == arenas, "memory is given back"
    np.testing.assert_array_equal(main(small), small)
print(*finished)
"""
OTHERS = """
def handler(number, frame):
    finished.append("handled")

signal.signal(signal.SIGINT, handler)
timer = threading.Timer(0.3, send)
timer.start()
call()
timer.join()
print(*finished)
"""
IN_A_THREAD = """
thread = threading.Thread(target=call)
thread.start()
timer = threading.Timer(0.3, send)
timer.start()
while not [word for word in finished if word != "main"]:
    try:
        time.sleep(0.05)
    except KeyboardInterrupt:
        finished.append("main")
thread.join()
print(*sorted(finished))
"""


def output(script, threads=1, steps=40, size=1024):
    return output_of(SCRIPT.format(steps=steps, size=size) + script, threads)


def output_of(source, threads=1):
    run = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "XRELAX_NUM_THREADS": str(threads)},
    )
    assert not run.returncode, run.stderr
    return run.stdout.split()


LOOPS = """
import os, signal, threading
import numpy as np
from xrelax import relax
from xrelax.script import from_source

signal.signal(signal.SIGINT, signal.default_int_handler)
SOURCE = '''
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), c: R.Tensor((), "bool"), d: R.Tensor((), "bool")):
        i = T.int64()
        return RESULT

    @R.function
    def main(c: R.Tensor((), "bool")):
        r = R.loop(cls.step, (c, c), is_while=True)
        return r[0]
'''

def send():
    signal.raise_signal(signal.SIGINT) if os.name == "nt" else os.kill(os.getpid(), signal.SIGINT)

for result in {results}:
    main = relax.build(from_source(SOURCE.replace("RESULT", result)))["main"]
    assert not main(np.array(False)).numpy()
    for round in range(2):
        timer = threading.Timer(0.3, send)
        timer.start()
        try:
            main(np.array(True))
            print("ended")
        except KeyboardInterrupt:
            print("interrupted")
        timer.join()
"""


def test_a_loop_without_end_is_interrupted():
    """Also one whose function calls no kernel."""
    negated = "R.logical_not(R.logical_not(d))"
    results = ["(c, d)", f"(c, {negated})", f"({negated}, c)"]
    assert output_of(LOOPS.format(results=results)) == ["interrupted"] * 6


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_call_is_interrupted(threads):
    """With 400 products of a size that takes some 20 ms, it would run for seconds."""
    assert output(RUNS, threads, steps=400) == ["interrupted"] * 3


def test_a_handler_that_does_not_raise_runs_in_between():
    assert output(OTHERS, steps=100) == ["handled", "finished"]


def test_other_threads_go_on():
    assert output(IN_A_THREAD, steps=100) == ["finished", "main"]


def llvm_ir(steps):
    x = relax.Var("x", relax.TensorStructInfo((8, 8), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = x
            for _ in range(steps):
                y = builder.emit(R.matmul(y, x))
            y = builder.emit_output(y)
        builder.emit_func_output(y)
    return relax.build(builder.get()).attributes["llvm_ir"]


@pytest.mark.parametrize(("steps", "questions"), [(1, 0), (2, 1), (5, 4)])
def test_nobody_asks_before_the_first_kernel(steps, questions):
    text = llvm_ir(steps)
    main = text[text.index("define i32 @xrelax.main(") :].split("\n}")[0]
    assert main.count("counter()") == (questions > 0)
    assert main.count("@xrelax.helper.poll_when_due(") == questions

"""Compiled functions on threads: the same bits for any number, from any thread, in any process."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from concurrent_calls import in_threads

from xrelax import relax
from xrelax.runtime import num_threads, set_num_threads
from xrelax.script import from_source

THREADS = (1, 2, 5)


@pytest.fixture(autouse=True)
def restored_threads():
    """Leave the number of threads as it was."""
    before = num_threads()
    yield
    set_num_threads(before)


def graph(signature: str, result: str) -> str:
    return f"""
@R.function
def main({signature}):
    return {result}
"""


MATMUL = graph(
    'x: R.Tensor((150, 200), "float32"), w: R.Tensor((200, 310), "float32")', "R.matmul(x, w)"
)
GRAPHS = {
    "matmul": (MATMUL, [(150, 200), (200, 310)]),
    "columns of two widths": (
        graph(
            'x: R.Tensor((4, 3000), "float32"), w: R.Tensor((3000, 100), "float32")',
            "R.matmul(x, w)",
        ),
        [(4, 3000), (3000, 100)],
    ),
    "rows and columns that fill no tiles": (
        graph(
            'x: R.Tensor((128, 400), "float32"), w: R.Tensor((400, 760), "float32")',
            "R.matmul(x, w)",
        ),
        [(128, 400), (400, 760)],
    ),
    "symbolic matmul": (
        graph(
            'x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", "m"), "float32")',
            "R.matmul(x, w)",
        ),
        [(133, 177), (177, 201)],
    ),
    "batches": (
        graph(
            'x: R.Tensor((3, 70, 90), "float32"), w: R.Tensor((3, 90, 80), "float32")',
            "R.matmul(x, w)",
        ),
        [(3, 70, 90), (3, 90, 80)],
    ),
    "softmax": (
        graph('x: R.Tensor(("n", 1000), "float32")', "R.nn.softmax(x)"),
        [(301, 1000)],
    ),
    "layer_norm": (
        graph(
            'x: R.Tensor((403, 500), "float32"), g: R.Tensor((500,), "float32"), '
            'b: R.Tensor((500,), "float32")',
            "R.nn.layer_norm(x, g, b, axes=[-1])",
        ),
        [(403, 500), (500,), (500,)],
    ),
    "gelu": (graph('x: R.Tensor((300_007,), "float32")', "R.nn.gelu(x)"), [(300_007,)]),
    "columns": (graph('x: R.Tensor((900, 700), "float32")', "R.sum(x, axis=0)"), [(900, 700)]),
    "total": (graph('x: R.Tensor((900, 700), "float32")', "R.sum(x)"), [(900, 700)]),
    "convolution": (
        graph(
            'x: R.Tensor((1, 16, 40, 41), "float32"), w: R.Tensor((24, 16, 3, 3), "float32")',
            "R.nn.conv2d(x, w, padding=1)",
        ),
        [(1, 16, 40, 41), (24, 16, 3, 3)],
    ),
}


def arrays(shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.sampled
@pytest.mark.parametrize("name", GRAPHS)
def test_bits_do_not_depend_on_threads(name):
    source, shapes = GRAPHS[name]
    main, args = relax.build(from_source(source)), arrays(shapes)
    found = []
    for threads in THREADS:
        set_num_threads(threads)
        found += [main(*args).numpy().copy() for _ in range(3)]
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_threads_run_large_loops():
    """A product of matrices is shared out: the code calls the pool."""
    assert "xrelax_parallel" in relax.build(from_source(MATMUL)).attributes["llvm_ir"]


SCRATCH = """
@T.prim_func
def main(X: T.Buffer((200, 6000), "float32"), Y: T.Buffer((200, 6000), "float32")):
    T.func_attr({"tir.is_scheduled": True})
    for i in T.parallel(200):
        with T.block("row"):
            vi = T.axis.spatial(200, i)
            row = T.alloc_buffer((6000,), "float32")
            for j in T.serial(6000):
                with T.block("scratch"):
                    vj = T.axis.spatial(6000, j)
                    row[vj] = X[vi, vj] * T.float32(2)
            for j in T.serial(6000):
                with T.block("Y"):
                    vj = T.axis.spatial(6000, j)
                    Y[vi, vj] = row[5999 - vj]
"""


def test_each_thread_has_scratch_memory_of_its_own():
    main = relax.build(from_source(SCRATCH))
    x = np.random.default_rng(1).random((200, 6000), np.float32)
    for threads in (*THREADS, 40):
        set_num_threads(threads)
        y = np.zeros_like(x)
        main(x, y)
        np.testing.assert_array_equal(y, x[:, ::-1] * 2)


CHECKED = """
@T.prim_func
def main(X: T.Buffer((500, 4000), "float32"), Y: T.Buffer((500, 4000), "float32")):
    for i in T.parallel(500):
        assert X[i, 0] < T.float32(1), "row too large"
        for j in T.serial(4000):
            Y[i, j] = X[i, j] + T.float32(1)
"""


def test_a_failed_check_in_a_parallel_loop():
    main = relax.build(from_source(CHECKED))
    x, y = np.zeros((500, 4000), np.float32), np.zeros((500, 4000), np.float32)
    x[321, 0] = 3
    for threads in THREADS:
        set_num_threads(threads)
        with pytest.raises(ValueError, match="row too large"):
            main(x, y)
    x[321, 0] = 0
    main(x, y)
    assert (y == 1).all()


def test_calls_from_many_python_threads():
    set_num_threads(3)
    source, shapes = GRAPHS["matmul"]
    main, args = relax.build(from_source(source)), arrays(shapes)
    expected = main(*args).numpy().copy()
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            if not np.array_equal(main(*args).numpy(), expected):
                wrong.append(number)

    in_threads(4, work)
    assert not wrong


LOAD = """
import os, sys
import numpy as np
from xrelax.runtime import load
main = load(sys.argv[1])
args = [np.load(p) for p in sys.argv[2:-1]]
assert "xrelax.compilation" not in sys.modules
found = main(*args).numpy()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(main(*args).numpy(), found) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
np.save(sys.argv[-1], found)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
@pytest.mark.parametrize("threads", THREADS)
def test_a_saved_function_in_another_process(tmp_path, threads):
    """Also in a child that the process forks, which has no threads at first."""
    source, shapes = GRAPHS["matmul"]
    main, args = relax.build(from_source(source)), arrays(shapes)
    main.save(tmp_path / "code")
    for number, array in enumerate(args):
        np.save(tmp_path / f"{number}.npy", array)
    paths = [str(tmp_path / p) for p in ("code", "0.npy", "1.npy", "found.npy")]
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD, *paths],
        env={**os.environ, "XRELAX_NUM_THREADS": str(threads)},
        check=True,
        timeout=60,
    )
    np.testing.assert_array_equal(np.load(paths[-1]), main(*args).numpy())


def test_checked_builds_run_on_threads():
    source, shapes = GRAPHS["softmax"]
    main = relax.build(from_source(source), check=True)
    set_num_threads(2)
    (x,) = arrays(shapes)
    np.testing.assert_allclose(main(x).numpy().sum(-1), np.ones(len(x)), rtol=1e-4)

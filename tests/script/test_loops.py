"""Loops of TensorIR scripts: what each kind computes, and that it survives printing."""

import numpy as np
import pytest

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(-3, 4, 8, dtype="float32")
I8 = 'X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")'
N8 = np.array([-7, -2, -1, 0, 1, 5, 8, 100], "int32")

LOOPS = [
    "range(8)",
    "range(0, 8)",
    "T.serial(8)",
    "T.serial(0, 8)",
    "T.parallel(8)",
    "T.vectorized(8)",
    "T.unroll(8)",
    "T.unrolled(8)",
    "T.grid(8)",
    'T.serial(8, annotations={"pragma": 1, "note": "a", "list": [T.int32(3), 2.5, None]})',
    'T.thread_binding(8, thread="blockIdx.x")',
]


@pytest.mark.parametrize("loop", LOOPS)
def test_loops(run, loop):
    y = run(F8, f"for i in {loop}:\n    Y[i] = X[i] * T.float32(2)", X8)
    np.testing.assert_array_equal(y, X8 * 2)


def test_loops_and_axes_that_do_not_start_at_zero(run):
    y = run(
        F8,
        """
for i in range(2, 6):
    with T.block("Y"):
        vi = T.axis.remap("S", [i])
        Y[vi] = X[vi]
for i in T.serial(6, 8):
    with T.block("Z"):
        vi = T.axis.spatial((6, 8), i)
        Y[vi] = -X[vi]
""",
        X8,
    )
    np.testing.assert_array_equal(y, [0, 0, *X8[2:6], *-X8[6:]])


@pytest.mark.parametrize("loop", ["range(1, 8, 3)", "T.serial(1, 8, step=3)"])
def test_loops_with_steps(run, loop):
    y = run(F8, f"for i in {loop}:\n    Y[i] = X[i] * T.float32(2)", X8)
    np.testing.assert_array_equal(y[1::3], X8[1::3] * 2)
    assert np.count_nonzero(y) == 3


def test_launches_of_threads(run):
    y = run(
        F8,
        """
bx = T.launch_thread("blockIdx.x", 2)
ty = T.env_thread("threadIdx.y")
with T.launch_thread("threadIdx.x", 2) as tx:
    Y[bx * 4 + tx] = X[tx]
T.launch_thread(ty, 2)
Y[bx * 4 + ty + 2] = X[ty] + 1.0
""",
        X8,
    )
    np.testing.assert_allclose(y, np.tile([*X8[:2], *X8[:2] + 1], 2))


def test_while(run):
    y = run(
        I8,
        """
for i in range(8):
    n = T.alloc_buffer((1,), "int32")
    n[0] = X[i]
    while n[0] > 3 and Y[i] < 100:
        n[0] = n[0] // 2
        Y[i] += 1
""",
        N8,
        dtype="int32",
    )
    np.testing.assert_array_equal(y, [0, 0, 0, 0, 0, 1, 2, 5])


def test_while_guards_what_it_reads(run):
    y = run(
        'X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")',
        """
Y[0] = 0
while Y[0] < 8 and X[Y[0]] < 5:
    Y[0] = Y[0] + 1
""",
        N8,
        shape=1,
        dtype="int32",
    )
    assert y[0] == 5
    assert (
        run(
            'X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")',
            "Y[0] = 0\nwhile Y[0] < 8 and X[Y[0]] < 500:\n    Y[0] += 1",
            N8,
            shape=1,
            dtype="int32",
        )[0]
        == 8
    )


@pytest.mark.parametrize("bounds", ["range(5, 2)", "range(n, n - 3)", "T.serial(n, n - 1)"])
def test_ranges_that_end_before_they_start(kernel, round_trip, bounds):
    """They have no iterations, as Python's."""
    text = round_trip(
        kernel(
            "x: T.handle, y: T.handle",
            f"""
n = T.int64()
X = T.match_buffer(x, (n,), "float32")
Y = T.match_buffer(y, (n,), "float32")
for i in {bounds}:
    Y[i] = X[i]
""",
        )
    )
    first = bounds.split("(")[1].split(",")[0]
    assert f"for i in range({first}, {first}):" in text


def test_bounds_from_data(kernel, call, round_trip):
    """The rows of a sparse matrix."""
    program = kernel(
        'P: T.Buffer((4,), "int32"), X: T.Buffer((8,), "float32"), Y: T.Buffer((3,), "float32")',
        """
for i in range(3):
    Y[i] = 0.0
    for j in range(P[i], P[i + 1]):
        Y[i] += X[j]
""",
    )
    assert "for j in range(P[i], P[i + 1]):" in round_trip(program)
    y = call(program, np.array([0, 2, 2, 5], "int32"), X8, np.zeros(3, "float32"))[-1]
    np.testing.assert_allclose(y, [X8[:2].sum(), 0, X8[2:5].sum()])

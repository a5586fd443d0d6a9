"""Compiled functions called wrongly, on overlapping memory, from threads, ten thousand times."""

import gc
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from concurrent_calls import in_threads
from numpy.lib.stride_tricks import as_strided

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source

REVERSE = """
@T.prim_func
def reverse(x: T.handle, y: T.handle):
    m, n = T.int64(), T.int64()
    X = T.match_buffer(x, (m, n), "float32")
    Y = T.match_buffer(y, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, n - 1 - vj] + T.float32(1)
"""

GRAPH = """
@R.function
def main(x: R.Tensor(("m", "n"), "float32"), w: R.Tensor(("n", "k"), "float32")):
    m, n, k = T.int64(), T.int64(), T.int64()
    with R.dataflow():
        y = R.matmul(x, w)
        z = R.call_dps_packed("stress.double", (y,), R.Tensor((m, k), "float32"))
        R.output(y, z)
    return (y, R.add(z, z), x)
"""


def double(x, out):
    np.add(np.asarray(x), np.asarray(x), out=np.asarray(out))


@pytest.fixture(autouse=True)
def registered():
    tvm.register_func("stress.double", double, override=True)


@pytest.fixture(scope="module")
def reverse():
    return relax.build(from_source(REVERSE))["reverse"]


@pytest.fixture(scope="module")
def main():
    tvm.register_func("stress.double", double, override=True)
    return relax.build(from_source(GRAPH))["main"]


def reversed_rows(x):
    return x[:, ::-1] + 1


def numbers(*shape):
    return np.random.default_rng(0).integers(-9, 10, shape).astype("float32")


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def read_only():
    out = zeros(2, 3)
    out.flags.writeable = False
    return out


class Failing:
    """An object whose memory cannot be had."""

    @property
    def __array_interface__(self):
        raise RuntimeError("gone")


class NoCapsule:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return 5


class OnAnotherDevice(NoCapsule):
    def __dlpack_device__(self):
        return (2, 0)


WRONG = {
    "none": (None, "to be a tensor, got NoneType"),
    "text": ("abc", "to be a tensor, got str"),
    "bytes": (b"abc", "to be a tensor, got bytes"),
    "number": (1.5, "to be a tensor, got float"),
    "list": ([[1.0]], "to be a tensor, got list"),
    "objects": (np.array([[None]]), "got object"),
    "complex": (zeros(2, 3, dtype="complex64"), "got complex64"),
    "foreign byte order": (zeros(2, 3, dtype=">f4"), "got >f4"),
    "dates": (zeros(2, 3, dtype="M8[s]"), "got datetime64"),
    "long double": (zeros(2, 3, dtype=np.longdouble), "dtype"),
    "float64": (zeros(2, 3, dtype="float64"), "to have dtype float32, got float64"),
    "scalar": (np.float32(1), r"to have shape \(m, n\), got \(\)"),
    "vector": (zeros(3), r"to have shape \(m, n\), got \(3,\)"),
    "failing": (Failing(), "gone"),
    "no capsule": (NoCapsule(), "capsule"),
    "another device": (OnAnotherDevice(), "on the cpu"),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("position", [0, 1])
def test_arguments_that_are_no_tensors_of_the_kind(reverse, kind, position):
    value, message = WRONG[kind]
    args = [zeros(2, 3), zeros(2, 3)]
    args[position] = value
    with pytest.raises((TypeError, ValueError), match=f"argument '{'xy'[position]}'.*{message}"):
        reverse(*args)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (read_only(), "expected argument 'y' to be writable, got read-only memory"),
        (
            np.broadcast_to(zeros(3), (2, 3)),
            "expected argument 'y' to be writable, got read-only memory",
        ),
        (
            as_strided(zeros(10), (2, 3), (4, 4)),
            "expected argument 'y' to be written without overlapping elements",
        ),
        (zeros(2, 4), "expected symbol 'n' to be 3 as in argument 'x', got 4 in argument 'y'"),
    ],
)
def test_outputs_that_cannot_be_written(reverse, out, message):
    with pytest.raises(ValueError, match=message):
        reverse(zeros(2, 3), out)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, r"reverse expects 2 arguments \(x, y\), got 0"),
        ((1, 2, 3), {}, r"reverse expects 2 arguments \(x, y\), got 3"),
        ((1,), {"x": 2}, "reverse got two values for argument 'x'"),
        ((1,), {"z": 2}, r"reverse has no argument 'z', expected \(x, y\)"),
    ],
)
def test_arguments_that_do_not_fit_the_signature(reverse, args, kwargs, message):
    with pytest.raises(TypeError, match=message):
        reverse(*args, **kwargs)


def test_arguments_by_name(reverse):
    x, out = numbers(2, 3), zeros(2, 3)
    reverse(y=out, x=x)
    np.testing.assert_array_equal(out, reversed_rows(x))


OVERLAPS = {
    "the same": lambda b: (b[:12].reshape(3, 4), b[:12].reshape(3, 4)),
    "shifted up": lambda b: (b[:12].reshape(3, 4), b[3:15].reshape(3, 4)),
    "shifted down": lambda b: (b[3:15].reshape(3, 4), b[:12].reshape(3, 4)),
    "interleaved": lambda b: (b[:24:2].reshape(3, 4), b[1:25:2].reshape(3, 4)),
    "transposed": lambda b: (b[:16].reshape(4, 4).T, b[:16].reshape(4, 4)),
    "backwards": lambda b: (b[:12].reshape(3, 4), b[11::-1].reshape(3, 4)),
    "columns": lambda b: (b[:30].reshape(3, 10)[:, :6], b[:30].reshape(3, 10)[:, 3:9]),
}


@pytest.mark.parametrize("kind", OVERLAPS)
def test_an_output_that_overlaps_the_input(reverse, kind):
    buffer = numbers(40)
    x, out = OVERLAPS[kind](buffer)
    want, before = reversed_rows(x.copy()), buffer.copy()
    inside = np.zeros(40, bool)
    OVERLAPS[kind](inside)[1][...] = True
    reverse(x, out)
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(buffer[~inside], before[~inside])


def test_memory_that_is_not_aligned(reverse):
    x = numbers(2, 3)
    shifted = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view("float32").reshape(2, 3)
    out = np.zeros(32, np.uint8)[1:25].view("float32").reshape(2, 3)
    reverse(shifted, out)
    np.testing.assert_array_equal(out, reversed_rows(x))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1)])
def test_few_or_no_elements(reverse, main, shape):
    x, out = numbers(*shape), zeros(*shape)
    reverse(x, out)
    np.testing.assert_array_equal(out, reversed_rows(x))
    y, z, same = (r.numpy() for r in main(x, numbers(shape[1], 2)))
    np.testing.assert_array_equal(y, x @ numbers(shape[1], 2))
    np.testing.assert_array_equal(z, y * 4)
    np.testing.assert_array_equal(same, x)


def test_results_too_large_for_memory_or_for_64_bits(main):
    for size in (1 << 23, 1 << 60):
        with pytest.raises(MemoryError):
            main(np.zeros((size, 0), "float32"), np.zeros((0, size), "float32"))


def test_results_outlive_what_made_them(main):
    x, w = numbers(4, 4), np.eye(4, dtype="float32")
    views = [np.asarray(r) for r in main(x, w)]
    for _ in range(50):
        main(numbers(4, 4) * 0, w)
    gc.collect()
    for view, factor in zip(views, (1, 4, 1), strict=True):
        np.testing.assert_array_equal(view, x * factor)
    views[2][...] = 0
    assert x.any()


def test_what_a_callback_keeps_stays_as_it_was(main):
    kept = []

    def keeping(x, out):
        double(x, out)
        kept.append((x, np.asarray(x).copy(), out, np.asarray(out).copy()))

    tvm.register_func("stress.double", keeping, override=True)
    for i in range(3):
        main(numbers(4, 4) * (i + 1), np.eye(4, dtype="float32"))
    tvm.register_func("stress.double", double, override=True)
    for _ in range(20):
        main(np.zeros((4, 4), "float32"), np.eye(4, dtype="float32"))
    for x, x_then, out, out_then in kept:
        np.testing.assert_array_equal(np.asarray(x), x_then)
        np.testing.assert_array_equal(np.asarray(out), out_then)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), StopIteration(4)])
def test_whatever_a_callback_raises_arrives(main, error):
    def failing(x, out):
        raise error

    tvm.register_func("stress.double", failing, override=True)
    with pytest.raises(type(error)) as caught:
        main(numbers(2, 2), numbers(2, 2))
    assert caught.value is error


def test_the_registry_may_change_during_a_call(main):
    def replacing(x, out):
        tvm.register_func("stress.double", double, override=True)
        np.asarray(out).fill(1)

    tvm.register_func("stress.double", replacing, override=True)
    x, w = numbers(2, 2), numbers(2, 2)
    np.testing.assert_array_equal(main(x, w)[1].numpy(), np.full((2, 2), 2))
    np.testing.assert_array_equal(main(x, w)[1].numpy(), (x @ w) * 4)


def test_threads_that_fail_now_and_then(main):
    """Each thread gets the errors of its own callbacks, and right results otherwise."""
    calls = {}

    def flaky(x, out):
        thread = threading.get_ident()
        calls[thread] = calls.get(thread, 0) + 1
        if calls[thread] % 3 == 0:
            raise LookupError(thread)
        double(x, out)

    tvm.register_func("stress.double", flaky, override=True)
    problems, failures = [], []

    def work(number):
        size = number + 1
        x, w = numbers(size, 5) + size, numbers(5, 3)
        for _ in range(60):
            try:
                if not np.array_equal(main(x, w)[1].numpy(), (x @ w) * 4):
                    problems.append("a wrong result")
            except LookupError as error:
                failures.append(error)
                if error.args != (threading.get_ident(),):
                    problems.append("the error of another thread")

    in_threads(8, work)
    assert not problems and len(failures) == 8 * 20


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_ten_thousand_calls_leave_no_memory_behind(main, reverse):
    def failing(x, out):
        raise LookupError(np.zeros(1000))

    def call(i):
        x = numbers(1 + i % 7, 5)
        if i % 10 == 0:
            with pytest.raises(LookupError):
                main(x, numbers(5, 3))
        elif i % 10 == 1:
            with pytest.raises(TypeError):
                reverse(x)
        else:
            reverse(x, x)

    tvm.register_func("stress.double", failing, override=True)
    for i in range(500):
        call(i)
    gc.collect()
    before = resident_bytes()
    tracemalloc.start()
    for i in range(10_000):
        call(i)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 100_000
    assert resident_bytes() - before < 30_000_000

"""Memory in calls of native functions: layouts, aliasing, arenas, threads, lifetimes."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from concurrent_calls import in_threads

from xrelax.runtime.constants import LARGE
from xrelax.runtime.memory import HUGE_PAGE
from xrelax.runtime.signature import FunctionSpec, ParamSpec, TensorSpec
from xrelax.runtime.tensor import array, empty, from_numpy

try:
    import torch
except ImportError:
    torch = None


def f32(name, *shape, written=False):
    return ParamSpec(name, "float32", shape, written)


SCALE = FunctionSpec("scale", "scale", (f32("x", 2, 3), f32("out", 2, 3, written=True)))
SWAP = FunctionSpec("swap", "swap", (f32("a", 2, 2, written=True), f32("b", 2, 2, written=True)))


def scale(frame):
    """Writes every output before it reads the next input: shared memory would show."""
    x, out = frame.param(0, (6,)), frame.param(1, (6,))
    for i in range(6):
        out[5 - i] = 2 * x[i]
    return 0


def swap(frame):
    a, b = frame.param(0, (2, 2)), frame.param(1, (2, 2))
    a[:], b[:] = b.copy(), a.copy()
    return 0


@pytest.mark.skipif(torch is None, reason="torch is not installed")
def test_torch_refusals_name_the_argument(build):
    run = build((SCALE, scale))["scale"]
    message = r"^cannot use argument 'x': .*gradient.*"
    with pytest.raises(ValueError, match=message) as caught:
        run(torch.ones(2, 3, requires_grad=True), empty((2, 3)))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"^cannot use argument 'x': .*meta"):
        run(torch.ones(2, 3, device="meta"), empty((2, 3)))


def layouts(values):
    """The same values in memory that native code can not use as it is."""
    wide = np.zeros((2, 6), "float32")
    raw = np.zeros(values.nbytes + 1, "uint8")
    return {
        "transposed": np.asfortranarray(values),
        "columns": wide[:, ::2],
        "reversed": np.zeros((2, 3), "float32")[::-1, ::-1],
        "unaligned": raw[1:].view("float32").reshape(2, 3),
    }


@pytest.mark.parametrize("name", ["transposed", "columns", "reversed", "unaligned"])
def test_strided_arguments_are_copied_in_and_back(build, name):
    run = build((SCALE, scale))["scale"]
    values = np.arange(6, dtype="float32").reshape(2, 3)
    expected = 2 * values.ravel()[::-1].reshape(2, 3)
    x, out = layouts(values)[name], layouts(values)[name]
    x[:] = values
    run(x, out)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(x, values)


def test_broadcast_input_is_legal_and_zero_stride_output_is_not(build):
    run = build((SCALE, scale))["scale"]
    out = empty((2, 3))
    run(np.broadcast_to(np.float32(3), (2, 3)), out)
    assert (out.numpy() == 6).all()
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(8, "float32"), (2, 3), (4, 4))
    with pytest.raises(
        ValueError, match=r"^expected argument 'out' to be written without overlapping elements$"
    ):
        run(out, overlapping)


def test_a_written_argument_must_be_writable(build):
    run = build((SCALE, scale))["scale"]
    frozen = np.zeros((2, 3), "float32")
    frozen.flags.writeable = False
    for out in (frozen, from_numpy(frozen)):
        with pytest.raises(
            ValueError, match=r"^expected argument 'out' to be writable, got read-only memory$"
        ):
            run(empty((2, 3)), out)
    out = empty((2, 3))
    run(frozen, out)
    assert (out.numpy() == 0).all()


@pytest.mark.parametrize("shift", range(-6, 7))
def test_in_place_calls_see_the_values_from_before(build, shift):
    run = build((SCALE, scale))["scale"]
    memory = np.arange(18, dtype="float32")
    x, out = memory[6:12].reshape(2, 3), memory[6 + shift : 12 + shift].reshape(2, 3)
    expected = 2 * x.ravel()[::-1].reshape(2, 3)
    run(x, out)
    np.testing.assert_array_equal(out, expected)


def test_strided_in_place_calls_see_the_values_from_before(build):
    run = build((SCALE, scale))["scale"]
    memory = np.arange(12, dtype="float32").reshape(2, 6)
    x, out = memory[:, ::2], memory[:, :3]
    expected = 2 * x.copy().ravel()[::-1].reshape(2, 3)
    run(x, out)
    np.testing.assert_array_equal(out, expected)


def test_two_written_arguments_may_not_share_elements(build):
    run = build((SWAP, swap))["swap"]
    memory = np.arange(8, dtype="float32")
    with pytest.raises(ValueError) as caught:
        run(memory[:4].reshape(2, 2), memory[3:7].reshape(2, 2))
    assert str(caught.value) == "expected written arguments 'a' and 'b' not to share memory"
    columns = memory.reshape(2, 4)
    before = columns.copy()
    run(columns[:, ::2], columns[:, 1::2])  # neighbours in memory, but no element in common
    np.testing.assert_array_equal(columns, before[:, [1, 0, 3, 2]])


def test_zero_sized_arguments(build):
    spec = FunctionSpec("f", "f", (f32("x", "n", 3), f32("out", "n", 3, written=True)), ("n",))
    seen = []

    def body(frame):
        seen.append(frame.argv[2])
        return 0

    run = build((spec, body))["f"]
    run(np.zeros((0, 3), "float32"), empty((0, 3)))
    run(np.zeros((4, 3), "float32")[:0], np.zeros((0, 6), "float32")[:, ::2])
    assert seen == [0, 0]


def test_the_context_words(build):
    spec = FunctionSpec("f", "f", (f32("x", "n"),), ("n",), arena_size=("mul", "n", 64))
    weights = [np.ones(3, "float32"), array([1, 2]), np.ones((4, 4), "float32")[:, 1]]
    seen = []

    def body(frame):
        table = frame.array(frame.ctx[3], (3,), "int64")
        values = [
            frame.array(int(a), (2,), d).tolist()
            for a, d in zip(table, ("f4", "i8", "f4"), strict=True)
        ]
        frame.array(frame.ctx[2], (64 * frame.argv[1],), "uint8")[:] = 1
        seen.append((values, frame.ctx[2] % 64, list(frame.ctx[4:])))
        return 0

    ex = build((spec, body), constants=weights)
    ex["f"](np.zeros(5, "float32"))
    assert seen == [([[1, 1], [1, 2], [1, 1]], 0, [0, 0, 0, 0])]
    assert ex.constants[0].address == weights[0].ctypes.data


def test_small_constants_are_neighbours_on_huge_pages(build):
    spec = FunctionSpec("f", "f", ())
    small = [np.full((n, 1024), n, "float32") for n in (3, 90, 1)]
    large = np.ones((LARGE,), "int8")
    constants = build((spec, lambda frame: 0), constants=[*small, large]).constants
    addresses = [c.address for c in constants]
    starts = [addresses[0] + 4096 * n for n in (0, 3, 93)]
    assert addresses == [*starts, large.ctypes.data] and addresses[0] % HUGE_PAGE == 0
    for ours, given in zip(constants, small, strict=False):
        np.testing.assert_array_equal(ours.numpy(), given)


def test_few_bytes_of_constants_stay_where_they_are(build):
    weights = [np.ones((n, 1024), "float32") for n in (3, 50)]
    ex = build((FunctionSpec("f", "f", ()), lambda frame: 0), constants=weights)
    assert [c.address for c in ex.constants] == [w.ctypes.data for w in weights]


def test_one_arena_serves_calls_that_follow_each_other(build):
    spec = FunctionSpec("f", "f", (f32("x", "n"),), ("n",), arena_size="n")
    addresses = []

    def body(frame):
        addresses.append(frame.ctx[2])
        return 0

    run = build((spec, body))["f"]
    for n in (1000, 10, 500):
        run(np.zeros(n, "float32"))
    assert len(set(addresses)) == 1


def test_native_code_that_calls_the_same_function_gets_another_arena(build):
    spec = FunctionSpec("f", "f", (f32("x", "n"),), ("n",), arena_size=64)
    arenas = []

    def body(frame):
        arenas.append(frame.ctx[2])
        if frame.argv[1]:
            run(np.zeros(frame.argv[1] - 1, "float32"))
        return 0

    run = build((spec, body))["f"]
    run(np.zeros(3, "float32"))
    assert len(set(arenas)) == 4


def test_eight_threads_call_one_function(build):
    spec = FunctionSpec(
        "f",
        "f",
        (f32("x", "n"),),
        ("n",),
        (TensorSpec("float32", ("n",)),),
        arena_size=("mul", "n", 4),
    )
    barrier = threading.Barrier(8)

    def body(frame):
        n = frame.argv[2]
        scratch = frame.array(frame.ctx[2], (n,))
        scratch[:] = frame.param(0, (n,))
        for _ in range(3):  # lets other threads run in between, on their own arenas
            scratch += 1
        frame.param(1, (n,))[:] = scratch
        return 0

    run = build((spec, body))["f"]
    failures = []

    def work(i):
        x = np.full(10 + i, i, "float32")
        barrier.wait()
        for _ in range(40):
            result = run(x).numpy()
            if result.shape != x.shape or (result != i + 3).any():
                failures.append((i, result))

    in_threads(8, work)
    assert not failures


def test_a_function_keeps_code_and_constants_alive(build):
    weight = np.ones(3, "float32")
    kept = weakref.ref(weight)
    spec = FunctionSpec("f", "f", (), results=(TensorSpec("float32", (3,)),))

    def body(frame):
        table = frame.array(frame.ctx[3], (1,), "int64")
        frame.param(0, (3,))[:] = frame.array(int(table[0]), (3,))
        return 0

    ex = build((spec, body), constants=[weight])
    library, run = weakref.ref(ex.library), ex["f"]
    del ex, weight
    gc.collect()
    assert run().numpy().tolist() == [1, 1, 1]
    del run
    gc.collect()
    assert kept() is None and library() is None


def test_arguments_are_not_kept_after_the_call(build):
    run = build((SCALE, scale))["scale"]
    x = np.ones((2, 3), "float32")
    kept = weakref.ref(x)
    run(x, empty((2, 3)))
    run(array(x), empty((2, 3)))
    del x
    gc.collect()
    assert kept() is None

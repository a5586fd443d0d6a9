"""Calling native functions: checks with their messages, layouts, aliasing, memory, threads."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from xrelax.runtime.signature import FunctionSpec, ParamSpec, TensorSpec
from xrelax.runtime.tensor import Tensor, array, empty, from_numpy

try:
    import torch
except ImportError:
    torch = None


def f32(name, *shape, written=False):
    return ParamSpec(name, "float32", shape, written)


MLP = FunctionSpec(
    "main",
    "main",
    (f32("x", 1, 784), f32("w0", 128, 784), f32("b0", 128), f32("w1", 10, 128), f32("b1", 10)),
    results=(TensorSpec("float32", (1, 10)),),
)
DENSE = FunctionSpec(
    "dense",
    "dense",
    (f32("x", 1, "k"), f32("w0", "n", "k"), f32("b0", "n")),
    ("k", "n"),
    (TensorSpec("float32", (1, "n")),),
)
SCALE = FunctionSpec("scale", "scale", (f32("x", 2, 3), f32("out", 2, 3, written=True)))
SWAP = FunctionSpec("swap", "swap", (f32("a", 2, 2, written=True), f32("b", 2, 2, written=True)))


def mlp(frame):
    x, w0 = frame.param(0, (1, 784)), frame.param(1, (128, 784))
    b0, w1, b1 = frame.param(2, (128,)), frame.param(3, (10, 128)), frame.param(4, (10,))
    frame.param(5, (1, 10))[:] = np.maximum(x @ w0.T + b0, 0) @ w1.T + b1
    return 0


def dense(frame):
    k, n = frame.argv[4], frame.argv[5]
    x, w, b = frame.param(0, (1, k)), frame.param(1, (n, k)), frame.param(2, (n,))
    frame.param(3, (1, n))[:] = x @ w.T + b
    return 0


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


def nothing(frame):
    return 0


@pytest.fixture
def params():
    random = np.random.default_rng(0)
    return [random.random(p.shape, "float32") for p in MLP.params]


@pytest.mark.parametrize("kind", ["tensor", "numpy", "torch", "interface", "mixed"])
def test_arguments_of_every_library(build, params, kind):
    if kind in ("torch", "mixed") and torch is None:
        pytest.skip("torch is not installed")

    class Interface:
        def __init__(self, a):
            self.__array_interface__ = a.__array_interface__

    wrap = {
        "tensor": array,
        "numpy": np.asarray,
        "torch": lambda a: torch.from_numpy(a),
        "interface": Interface,
    }
    kinds = [*wrap, "tensor"] if kind == "mixed" else [kind] * 5
    main = build((MLP, mlp))["main"]
    x, w0, b0, w1, b1 = params
    for _ in range(2):  # the second call takes the remembered plan
        result = main(*(wrap[k](a) for k, a in zip(kinds, params, strict=True)))
        assert isinstance(result, Tensor)
        np.testing.assert_array_equal(result.numpy(), np.maximum(x @ w0.T + b0, 0) @ w1.T + b1)


def test_arguments_by_name(build, params):
    main = build((MLP, mlp))["main"]
    x, w0, b0, w1, b1 = params
    by_name = main(x, w0, b1=b1, w1=w1, b0=b0)
    np.testing.assert_array_equal(by_name.numpy(), main(*params).numpy())


def replaced(params, index, value):
    return [value if i == index else p for i, p in enumerate(params)]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda p: p[:4], TypeError, "main expects 5 arguments (x, w0, b0, w1, b1), got 4"),
        (lambda p: [*p, p[0]], TypeError, "main expects 5 arguments (x, w0, b0, w1, b1), got 6"),
        (
            lambda p: replaced(p, 1, p[1].T),
            ValueError,
            "expected argument 'w0' to have shape (128, 784), got (784, 128)",
        ),
        (
            lambda p: replaced(p, 2, p[2].reshape(1, 128)),
            ValueError,
            "expected argument 'b0' to have shape (128,), got (1, 128)",
        ),
        (
            lambda p: replaced(p, 0, p[0].astype("float64")),
            TypeError,
            "expected argument 'x' to have dtype float32, got float64",
        ),
        (
            lambda p: replaced(p, 0, array(p[0].astype("float64"))),
            TypeError,
            "expected argument 'x' to have dtype float32, got float64",
        ),
        (
            lambda p: replaced(p, 3, 1.5),
            TypeError,
            "expected argument 'w1' to be a tensor, got float",
        ),
        (
            lambda p: replaced(p, 3, [1]),
            TypeError,
            "expected argument 'w1' to be a tensor, got list",
        ),
        (
            lambda p: replaced(p, 4, p[4].astype("complex64")),
            TypeError,
            "cannot use argument 'b1': expected a dtype (float16, float32, float64, bfloat16, "
            "int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool), got complex64",
        ),
    ],
)
def test_wrong_arguments_are_named(build, params, change, error, message):
    main = build((MLP, mlp))["main"]
    for _ in range(2):
        with pytest.raises(error) as caught:
            main(*change(params))
        assert str(caught.value) == message
        assert main(*params).shape == (1, 10)


def test_wrong_names_of_arguments(build, params):
    main = build((MLP, mlp))["main"]
    listed = "(x, w0, b0, w1, b1)"
    cases = [
        (params, {"y": 1}, f"main has no argument 'y', expected {listed}"),
        (params, {"x": params[0]}, "main got two values for argument 'x'"),
        (params[:3], {"w1": params[3]}, f"main expects 5 arguments {listed}, got 4"),
    ]
    for args, kwargs, message in cases:
        with pytest.raises(TypeError) as caught:
            main(*args, **kwargs)
        assert str(caught.value) == message


@pytest.mark.skipif(torch is None, reason="torch is not installed")
def test_torch_refusals_name_the_argument(build):
    run = build((SCALE, scale))["scale"]
    message = r"^cannot use argument 'x': .*gradient.*"
    with pytest.raises(ValueError, match=message) as caught:
        run(torch.ones(2, 3, requires_grad=True), empty((2, 3)))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"^cannot use argument 'x': .*meta"):
        run(torch.ones(2, 3, device="meta"), empty((2, 3)))


def test_symbols_follow_the_arguments(build):
    run = build((DENSE, dense))["dense"]
    for k, n in ((3, 4), (5, 2), (0, 2), (3, 0), (3, 4)):
        x, w, b = np.ones((1, k), "float32"), np.ones((n, k), "float32"), np.ones(n, "float32")
        result = run(x, w, b)
        assert result.shape == (1, n)
        assert (result.numpy() == k + 1).all()


def test_symbols_must_agree(build):
    run = build((DENSE, dense))["dense"]
    x, w, b = (np.ones(s, "float32") for s in ((1, 3), (128, 3), (64,)))
    with pytest.raises(ValueError) as caught:
        run(x, w, b)
    assert str(caught.value) == "symbol 'n' is 128 by argument 'w0' but 64 by argument 'b0'"
    with pytest.raises(ValueError) as caught:
        run(x, w[0], b)
    assert str(caught.value) == "expected argument 'w0' to have shape (n, k), got (3,)"


def test_dims_that_are_expressions_are_checked(build):
    spec = FunctionSpec(
        "f",
        "f",
        (f32("y", ("mul", "n", 4), 2), f32("x", "n")),
        ("n",),
        (TensorSpec("float32", (("add", "n", -1),)),),
    )
    run = build((spec, nothing))["f"]
    x = np.ones(3, "float32")
    assert run(np.ones((12, 2), "float32"), x).shape == (2,)
    with pytest.raises(ValueError) as caught:
        run(np.ones((13, 2), "float32"), x)
    assert str(caught.value) == (
        "expected argument 'y' to have shape (n * 4, 2) = (12, 2), got (13, 2)"
    )
    with pytest.raises(ValueError) as caught:
        run(np.ones((0, 2), "float32"), x[:0])
    assert str(caught.value) == (
        "expected result 0 of f to have dims of at least 0, got (n + -1,) = (-1,)"
    )


def test_plans_do_not_pile_up(build):
    run = build((DENSE, dense))["dense"]
    for k in range(1100):
        run(np.ones((1, k), "float32"), np.ones((1, k), "float32"), np.ones(1, "float32"))
    assert len(run._plans) <= 1024


def test_none_one_and_many_results(build):
    def spec(name, count, is_tuple):
        return FunctionSpec(
            name, name, (), results=(TensorSpec("int64", (2,)),) * count, returns_tuple=is_tuple
        )

    def fill(count):
        def body(frame):
            for i in range(count):
                frame.param(i, (2,), "int64")[:] = i
            return 0

        return body

    ex = build(
        *((spec(f"f{n}{t}", n, t), fill(n)) for n, t in ((0, 0), (0, 1), (1, 0), (1, 1), (3, 1)))
    )
    assert ex["f00"]() is None
    assert ex["f01"]() == ()
    assert isinstance(ex["f10"](), Tensor)
    assert [r.numpy().tolist() for r in ex["f11"]()] == [[0, 0]]
    assert [r.numpy().tolist() for r in ex["f31"]()] == [[0, 0], [1, 1], [2, 2]]


def test_results_own_aligned_memory(build):
    run = build((DENSE, dense))["dense"]
    args = [np.ones(s, "float32") for s in ((1, 3), (4, 3), (4,))]
    first, second = run(*args), run(*args)
    assert first.address % 64 == 0 and first.address != second.address
    second.view()[:] = 0
    assert (first.numpy() == 4).all()
    storage = weakref.ref(first.owner)
    del first
    gc.collect()
    assert storage() is None


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
    with pytest.raises(ValueError, match=r"^argument 'out' is written but its elements overlap$"):
        run(out, overlapping)


def test_a_written_argument_must_be_writable(build):
    run = build((SCALE, scale))["scale"]
    frozen = np.zeros((2, 3), "float32")
    frozen.flags.writeable = False
    for out in (frozen, from_numpy(frozen)):
        with pytest.raises(ValueError, match=r"^argument 'out' is written but read-only$"):
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
    assert str(caught.value) == "arguments 'a' and 'b' are both written but share memory"
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


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (2, ValueError, "expected dim 0 of {y} to be 7, got -9"),
        (3, MemoryError, "f ran out of memory"),
        (1, RuntimeError, "expected an exception with status 1 of f, got none"),
        (5, RuntimeError, "expected f to return status 0, 1, 2 or 3, got 5"),
    ],
)
def test_a_status_becomes_an_exception(build, status, error, message):
    spec = FunctionSpec(
        "f", "f", (), arena_size=64, checks=("unused", "expected dim 0 of {y} to be {0}, got {1}")
    )

    def body(frame):
        frame.ctx[4:7] = [1, 7, -9]
        return status

    with pytest.raises(error) as caught:
        build((spec, body))["f"]()
    assert str(caught.value) == message


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

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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

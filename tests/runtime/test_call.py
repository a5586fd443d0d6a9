"""Calling native functions: arguments of every kind, symbols, results, and messages."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from xrelax.runtime.errors import TVMError
from xrelax.runtime.signature import FunctionSpec, ParamSpec, TensorSpec
from xrelax.runtime.tensor import Tensor, array

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


@pytest.mark.parametrize("kind", [TypeError, ValueError, RuntimeError, TVMError])
@pytest.mark.parametrize("other", [np.ones((1, 784), "int32"), np.ones((2, 784), "float32")])
def test_another_dtype_or_shape_is_an_error_of_each_kind_of_tvm(build, params, other, kind):
    with pytest.raises(kind, match="expected argument 'x' to have"):
        build((MLP, mlp))["main"](*replaced(params, 0, other))


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
    assert (
        str(caught.value)
        == "expected symbol 'n' to be 128 as in argument 'w0', got 64 in argument 'b0'"
    )
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


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (2, ValueError, "expected dim 0 of {y} to be 7, got -9"),
        (1, RuntimeError, "expected an exception with status 1 of f, got none"),
        (5, RuntimeError, "expected f to return status 0 to 3, got 5"),
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

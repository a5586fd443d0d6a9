"""Calls that run natively from Python on: each check, the plans, threads.

Every check is tested by its consequence: a call that native code must not do is done in Python, and
gives what a function without the native entry gives.
"""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from concurrent_calls import in_threads
from hypothesis import given, settings
from hypothesis import strategies as st
from native_functions import (
    KINDS,
    SOURCE,
    Count,
    build,
    fresh,
    in_python,
    made,
    pair,
    read_only,
    values,
)

from xrelax import relax
from xrelax.runtime.call import CompiledFunction
from xrelax.runtime.native_call import plan_slot
from xrelax.runtime.tensor import Tensor, array, from_numpy
from xrelax.script import from_source

try:
    import torch
except ImportError:
    torch = None


@pytest.fixture(scope="module")
def executable():
    return build()


@pytest.fixture
def main(executable):
    return fresh(executable, "main")


@pytest.mark.parametrize("kind", KINDS)
def test_second_call_is_native(main, kind):
    calls = Count(main)
    args = [made(kind, a) for a in pair()]
    x, y = pair()
    for _ in range(5):
        result = main(*args)
        assert type(result) is Tensor and result.shape == (3, 4) and result.address % 64 == 0
        np.testing.assert_array_equal(result.numpy(), x * x + y)
    assert calls.calls == 1


def test_each_combination_of_dims_is_learned(main):
    calls = Count(main)
    sizes = [0, 1, 2, 3, 100]
    assert len({plan_slot((n, 4, n, 4)) for n in sizes}) == len(sizes)
    for n in sizes * 3:
        x, y = pair(n)
        np.testing.assert_array_equal(main(x, y).numpy(), x * x + y)
    assert calls.calls == len(sizes)


def test_dims_that_share_a_slot_replace_each_other(main):
    sizes = [n for n in range(2000) if plan_slot((n, 4, n, 4)) == 7][:3]
    assert len(sizes) == 3
    for n in sizes * 3:
        x, y = pair(n)
        np.testing.assert_array_equal(main(x, y).numpy(), x * x + y)


def unaligned(a):
    raw = np.empty(a.nbytes + 1, "uint8")[1:].view(a.dtype).reshape(a.shape)
    raw[:] = a
    return raw


class Sub(np.ndarray):
    pass


OTHERS = {
    "a list": lambda a: a.tolist(),
    "none": lambda a: None,
    "a number": lambda a: 3,
    "another dtype": lambda a: a.astype("float64"),
    "another byte order": lambda a: a.astype(">f4"),
    "another rank": lambda a: a[0],
    "one more rank": lambda a: a[None],
    "other dims": lambda a: a[:, :3].copy(),
    "other rows": lambda a: a[:2],
    "columns first": lambda a: np.asfortranarray(a),
    "reversed": lambda a: a[::-1],
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "unaligned": unaligned,
    "read-only": read_only,
    "a subclass": lambda a: a.view(Sub),
    "interface": lambda a: type("I", (), {"__array_interface__": a.__array_interface__, "a": a})(),
    "numpy": lambda a: a,
    "tensor": array,
    "a strided tensor": lambda a: from_numpy(np.asfortranarray(a)),
    "a read-only tensor": lambda a: from_numpy(read_only(a)),
    "an unaligned tensor": lambda a: from_numpy(unaligned(a)),
    "a tensor of another dtype": lambda a: array(a.astype("float64")),
    "a tensor without memory": lambda a: Tensor.__new__(Tensor),
}
if torch is not None:
    OTHERS |= {
        "torch": torch.tensor,
        "torch, columns first": lambda a: torch.tensor(a.T.copy()).T,
        "torch, one row": lambda a: torch.tensor(a)[:1],
        "torch, another dtype": lambda a: torch.tensor(a).double(),
        "torch, a gradient": lambda a: torch.tensor(a, requires_grad=True),
        "torch, negated": lambda a: torch._neg_view(torch.tensor(a)),
        "torch, a parameter": lambda a: torch.nn.Parameter(torch.tensor(a)),
        "torch, sparse": lambda a: torch.tensor(a).to_sparse(),
        "torch, on no device": lambda a: torch.tensor(a).to("meta"),
        "torch, without memory": lambda a: (t := torch.tensor(a), t.untyped_storage().resize_(0))[
            0
        ],
    }


def outcome(call):
    """The values of a result, or the exception."""
    try:
        found = call()
    except Exception as error:
        return type(error), str(error)
    found = found if isinstance(found, tuple) else (found,)
    return [None if r is None else values(r).tolist() for r in found]


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments_are_left_to_python(main, name, second):
    x, y = pair()
    main(x, y)
    args = (x, OTHERS[name](y)) if second else (OTHERS[name](x), y)
    expected = outcome(lambda: in_python(main)(*args))
    for _ in range(3):
        assert outcome(lambda: main(*args)) == expected


@settings(max_examples=150, deadline=None)
@given(
    names=st.tuples(*[st.sampled_from(sorted(OTHERS))] * 2),
    sizes=st.tuples(*[st.integers(0, 4)] * 2),
    named=st.integers(0, 2),
    out=st.sampled_from([None, "numpy", *OTHERS]),
)
def test_native_calls_do_what_python_does(executable, names, sizes, named, out):
    main = executable["main"]

    def call(function):
        given = [OTHERS[k](pair(n)[i]) for i, (k, n) in enumerate(zip(names, sizes, strict=True))]
        given, by_name = given[: 2 - named], dict(zip("xy"[2 - named :], given[2 - named :]))
        if out is not None:
            by_name["out"] = target = OTHERS[out](pair(sizes[0])[0])
            result = function(*given, **by_name)
            assert target is None or result is target
            return result
        return function(*given, **by_name)

    def described(function):
        try:
            return outcome(lambda: call(function))
        except Exception as error:  # of making an argument
            return type(error)

    assert described(main) == described(in_python(main)) == described(main)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "main expects 2 arguments (x, y), got 0"),
        ((1, 2, 3), {}, "main expects 2 arguments (x, y), got 3"),
        ((1, 2), {"y": 3}, "main got two values for argument 'y'"),
        ((1, 2), {"z": 3}, "main has no argument 'z', expected (x, y)"),
        ((1, 2), {"out": None, "z": 3}, "main has no argument 'z', expected (x, y)"),
        ((1,), {"out": np.empty((3, 4), "float32")}, "main expects 2 arguments (x, y), got 1"),
    ],
)
def test_wrong_numbers_and_names_of_arguments(main, args, kwargs, message):
    main(*pair())
    with pytest.raises(TypeError) as caught:
        main(*args, **kwargs)
    assert str(caught.value) == message


def test_arguments_by_name(main):
    x, y = pair()
    main(x, y)
    np.testing.assert_array_equal(main(y=y, x=x).numpy(), x * x + y)
    np.testing.assert_array_equal(main(x, y=y).numpy(), x * x + y)


def test_large_results_bfloat16_and_rank_0(executable):
    x = np.linspace(-1, 1, 40000, dtype="float32").reshape(200, 200)
    large, half, number = (fresh(executable, n) for n in ("large", "half", "number"))
    calls = [Count(f) for f in (large, half, number)]
    bits = array(np.ones((3, 4), "float32"), dtype="bfloat16")
    for _ in range(3):
        np.testing.assert_allclose(large(x).numpy(), np.exp(x), rtol=1e-6)
        assert (half(bits).numpy() == -1).all()
        assert number(np.array(21)).numpy() == 42
    assert [c.calls for c in calls] == [1, 1, 1]
    with pytest.raises(TypeError):
        half(np.zeros((3, 4), "uint16"))


def test_a_function_is_freed_with_its_executable():
    executable = relax.build(from_source(SOURCE.split("@R.function\ndef two")[0]))
    main = executable["main"]
    x, y = pair()
    main(x, y)
    result = main(x, y)
    table = main._table
    del executable, main
    gc.collect()
    assert sys.getrefcount(table) == 2
    np.testing.assert_array_equal(result.numpy(), x * x + y)


def test_scratch_memory_is_used_again(executable):
    chain = fresh(executable, "chain")
    calls, arenas = Count(chain), chain.arenas
    w = np.eye(4, k=1, dtype="float32") + np.eye(4, dtype="float32")
    arenas.free.clear()
    for n in (3, 3, 5, 5, 3, 5, 3, 4000, 4000, 3):
        x = np.ones((n, 4), "float32")
        for _ in range(2):
            np.testing.assert_array_equal(chain(x, w).numpy(), x @ w @ w @ w)
        assert len(arenas.free) == 1
    assert calls.calls <= 4
    arenas.free.clear()  # as if all of it were in use by other threads
    np.testing.assert_array_equal(chain(x, w).numpy(), x @ w @ w @ w)
    assert len(arenas.free) == 1


def test_exceptions_of_native_code(executable):
    checked = fresh(executable, "checked")
    calls = Count(checked)
    x, y = np.arange(3), np.arange(4)
    out = np.zeros(3, "int64")
    expected = outcome(lambda: in_python(checked)(x, y))
    assert expected[0] is ValueError
    checked.learn(checked.resolve((x, y))[1])
    learned, before = calls.calls, sys.getrefcount(out)
    for _ in range(20):
        assert outcome(lambda: checked(x, y)) == expected
        assert outcome(lambda: checked(x, y, out=out)) == expected
        assert outcome(lambda: checked(x, x)) == [[0, 2, 4]]
    assert calls.calls == learned + 1
    assert sys.getrefcount(out) == before


def test_threads_call_one_function(main):
    errors = []

    def work(seed):
        random = np.random.default_rng(seed)
        out = np.empty((4, 4), "float32")
        for i in range(300):
            n = int(random.integers(0, 5))
            x, y = (random.random((n, 4), "float32") for _ in range(2))
            target = out[:n] if i % 2 else None
            if not np.array_equal(values(main(x, y, out=target)), x * x + y):
                errors.append((seed, i))

    in_threads(6, work)
    assert not errors


def test_native_code_is_only_called_where_objects_lie_as_known(executable, monkeypatch):
    from xrelax.runtime import native_call

    monkeypatch.setattr(native_call, "python_words", lambda: None)
    main = fresh(executable, "main")
    executable._functions.pop("main")
    assert type(main) is CompiledFunction
    x, y = pair()
    out = np.empty((3, 4), "float32")
    for _ in range(2):
        np.testing.assert_array_equal(main(x, y).numpy(), x * x + y)
        assert main(x, y, out=out) is out

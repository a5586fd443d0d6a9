"""Native calls whose results go to memory of the caller, and what calls leave behind."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from native_functions import KINDS, Count, build, fresh, made, pair, read_only, values

from xrelax.runtime.tensor import array


@pytest.fixture(scope="module")
def executable():
    return build()


@pytest.fixture
def main(executable):
    return fresh(executable, "main")


@pytest.mark.parametrize("kind", KINDS)
def test_out_of_one_result(main, kind):
    calls = Count(main)
    x, y = pair()
    for round in range(4):
        out = made(kind, np.full((3, 4), np.nan, "float32"))
        assert main(x + round, y, out=out) is out
        np.testing.assert_array_equal(values(out), (x + round) ** 2 + y)
    assert calls.calls == 1
    assert main(x, y, out=None).shape == (3, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_out_of_several_results(executable, kind):
    two = fresh(executable, "two")
    calls = Count(two)
    x, _ = pair()
    for _ in range(4):
        out = tuple(made(kind, np.full((3, 4), np.nan, "float32")) for _ in range(2))
        assert two(x, out=out) is out
        np.testing.assert_array_equal(values(out[0]), x + x)
        np.testing.assert_array_equal(values(out[1]), x * x)
    assert calls.calls == 1
    a, b = two(x)
    np.testing.assert_array_equal(a.numpy(), x + x)
    np.testing.assert_array_equal(b.numpy(), x * x)


WRONG = {
    "dtype": (
        lambda a: a.astype("float64"),
        TypeError,
        "expected argument '{}' to have dtype float32, got float64",
    ),
    "shape": (
        lambda a: a[:2].copy(),
        ValueError,
        "expected argument '{}' to have shape (3, 4), got (2, 4)",
    ),
    "rank": (
        lambda a: a[0].copy(),
        ValueError,
        "expected argument '{}' to have shape (3, 4), got (4,)",
    ),
    "read-only": (
        read_only,
        ValueError,
        "expected argument '{}' to be writable, got read-only memory",
    ),
    "repeated": (
        lambda a: np.lib.stride_tricks.as_strided(a, (3, 4), (0, 4)),
        ValueError,
        "expected argument '{}' to be written without overlapping elements",
    ),
    "kind": (lambda a: "abc", TypeError, "expected argument '{}' to be a tensor, got str"),
}


@pytest.mark.parametrize("case", WRONG)
def test_out_that_is_wrong(executable, main, case):
    change, error, message = WRONG[case]
    x, y = pair()
    two = executable["two"]
    for _ in range(2):
        with pytest.raises(error) as caught:
            main(x, y, out=change(x.copy()))
        assert str(caught.value) == message.format("out")
        with pytest.raises(error) as caught:
            two(x, out=(x.copy(), change(x.copy())))
        assert str(caught.value) == message.format("out.1")
        main(x, y)
        two(x)


def test_out_that_is_no_tuple_of_the_right_length(executable):
    two, (x, _) = executable["two"], pair()
    two(x)
    with pytest.raises(TypeError) as caught:
        two(x, out=x.copy())
    assert str(caught.value) == "expected argument 'out' to be a tuple of 2, got ndarray"
    with pytest.raises(ValueError) as caught:
        two(x, out=(x.copy(),))
    assert str(caught.value) == "expected 2 fields of argument 'out', got 1"


def test_out_that_nobody_could_see_or_may_change(executable, main):
    class Unchangeable:
        """An array of a library from before DLPack 1.0, such as JAX's."""

        def __init__(self, values):
            self.values = array(values)

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self):
            return self.values.__dlpack__()

    number, (x, y) = executable["number"], pair()
    for _ in range(2):
        assert number(np.int64(4)).numpy() == 8
        with pytest.raises(
            ValueError, match=r"^expected argument 'out' to be writable, got read-only memory$"
        ):
            number(np.int64(4), out=np.int64(0))
        np.testing.assert_array_equal(main(Unchangeable(x), y).numpy(), x * x + y)
        with pytest.raises(
            ValueError, match=r"^expected argument 'out' to be writable, got read-only memory$"
        ):
            main(x, y, out=Unchangeable(x))


def test_out_that_is_strided_or_an_argument(main):
    x, y = pair()
    expected = x * x + y
    for _ in range(2):
        wide = np.zeros((3, 8), "float32")
        assert main(x, y, out=wide[:, ::2]).base is wide
        np.testing.assert_array_equal(wide[:, ::2], expected)
        assert not wide[:, 1::2].any()
        same = x.copy()
        main(same, y, out=same)
        np.testing.assert_array_equal(same, expected)
        memory = np.zeros(16, "float32")
        memory[:12] = x.ravel()
        main(memory[:12].reshape(3, 4), y, out=memory[4:].reshape(3, 4))
        np.testing.assert_array_equal(memory[4:].reshape(3, 4), expected)


def test_outs_that_share_memory(executable):
    two, (x, _) = executable["two"], pair()
    two(x)
    out = np.zeros((3, 4), "float32")
    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            two(x, out=(out, out))
        assert str(caught.value) == (
            "expected written arguments 'out.0' and 'out.1' not to share memory"
        )
    assert not out.any()


def test_functions_without_results_take_no_out(executable):
    fill = executable["fill"]
    x, y = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    for _ in range(3):
        assert fill(x, y) is None
        np.testing.assert_array_equal(y, x + 1)
    with pytest.raises(TypeError) as caught:
        fill(x, y, out=y)
    assert str(caught.value) == "fill has no argument 'out', expected (X, Y)"
    with pytest.raises(ValueError) as caught:
        fill(x, read_only(y))
    assert str(caught.value) == "expected argument 'Y' to be writable, got read-only memory"
    both = np.arange(4, dtype="float32")
    fill(both, both)
    np.testing.assert_array_equal(both, x + 1)


def counts(objects):
    return [sys.getrefcount(o) for o in objects]


@pytest.mark.parametrize("kind", KINDS)
def test_references_are_exact(executable, kind):
    main, two = executable["main"], executable["two"]
    x, y = (made(kind, a) for a in pair())
    out = made(kind, pair()[0])
    both = (out, made(kind, pair()[0]))
    wrong = pair(2)[0]
    main(x, y), two(x), two(x, out=both)

    def calls():
        main(x, y)
        main(x, y, out=out)
        main(x, y=y)
        two(x)
        two(x, out=both)
        for args in ((x, wrong), (x,), (x, None)):
            with pytest.raises((TypeError, ValueError)):
                main(*args)

    watched = [x, y, out, both, wrong, main, two]
    keepers = [k for f in (main, two) for k in f._table._plans.values()]
    watched += [*keepers, *(k[1][0] for k in keepers)]
    calls()
    others = [None, True]  # which other threads use as well

    def changes() -> list[int]:
        gc.collect()
        before = counts([*watched, *others])
        for _ in range(50):
            calls()
        gc.collect()
        after = counts([*watched, *others])
        return [a - b for a, b in zip(after, before, strict=True)]

    rounds = [changes() for _ in range(3)]
    assert not any(any(found[: len(watched)]) for found in rounds)
    assert any(max(map(abs, found)) <= 20 for found in rounds)


def test_results_leave_nothing_behind(main):
    x, y = pair()
    main(x, y)
    gc.collect()
    before = len(gc.get_objects()), sys.getallocatedblocks()
    for _ in range(3000):
        main(x, y)
    gc.collect()
    after = len(gc.get_objects()), sys.getallocatedblocks()
    assert all(a - b < 300 for a, b in zip(after, before, strict=True))


def test_failures_leave_no_numbers_behind(executable):
    checked = fresh(executable, "checked")
    x, y = np.arange(3000), np.arange(4000)  # small numbers are kept by Python anyway
    checked.learn(checked.resolve((x, y))[1])

    def fail():
        with pytest.raises(ValueError, match="to be 3000, got 4000"):
            checked(x, y)

    fail()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        fail()
    gc.collect()
    assert sys.getallocatedblocks() - before < 300

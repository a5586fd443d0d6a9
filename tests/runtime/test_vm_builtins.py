"""The cache of a decoder's rows, under TVM's names."""

import numpy as np
import pytest

from xrelax.runtime import get_global_func
from xrelax.runtime.tensor import from_numpy


def call(name, *args):
    return get_global_func(f"vm.builtin.attention_kv_cache_{name}")(*args)


def rows(*numbers):
    return from_numpy(np.array(numbers, "float32").reshape(-1, 1))


def cache_of(*numbers, filled=-1):
    return call("create", rows(*numbers), (2, 1), filled)


def held(cache):
    return call("view", cache).numpy().ravel().tolist()


def test_rows_are_appended_and_removed():
    cache = cache_of(1, 2, 3, filled=2)
    assert held(call("append", cache, rows(4, 5, 6))) == [1, 2, 4, 5, 6]
    assert call("view", cache, (5, 1)).shape == (5, 1)
    call("array_popn", [cache], 4)
    assert held(cache) == [1]
    call("array_clear", [cache])
    assert held(cache) == []


def test_a_window_is_written_over_after_its_sinks():
    cache = cache_of(1, 2, 3)
    call("window_override", cache, rows(4, 5), 4)
    assert held(cache) == [5, 2, 3, 4]
    call("window_override_with_sinks", cache, rows(6, 7, 8), 4, 1)
    assert held(cache) == [5, 6, 7, 8]


def test_rows_follow_those_that_removed_ones_leave():
    cache = cache_of(1, 2, 3, 4)
    call("array_popn", [cache], 3)
    call("window_override", cache, rows(5, 6, 7), 4)
    assert held(cache) == [1, 5, 6, 7]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: cache_of(1, filled=2), "at most 1 rows to count, got 2"),
        (lambda: call("array_popn", [cache_of(1)], 2), "at most 1 rows to remove, got 2"),
        (lambda: call("view", cache_of(1), (2, 1)), r"shape \(1, 1\) of the cache, got \(2, 1\)"),
        (lambda: call("append", cache_of(1), from_numpy(np.zeros((1, 2)))), "rows of float32"),
        (lambda: call("window_override", cache_of(1), rows(1, 2), 1), "at most 1 rows of a window"),
    ],
)
def test_mistakes(mistake, message):
    with pytest.raises(ValueError, match=message):
        mistake()

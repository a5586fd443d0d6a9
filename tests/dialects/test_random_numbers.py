"""`relax.random`: vectors of Philox 4x32-10, distributions, and what a number depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, te
from xrelax.dialects.relax.operators.philox import philox
from xrelax.script import from_source

ANSWERS = """
00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1
"""
"""Known answers of Random123, in each line a counter, a key and the random words."""

VECTORS = np.array([[int(w, 16) for w in line.split()] for line in ANSWERS.split("\n")[1:-1]])
SIZE = 1 << 16


def numbers(call: str, seed: int = 1, count: int = 0) -> Any:
    """The numbers of an operator for a key."""
    source = f"""
@R.function
def main(key: R.Tensor((2,), "int64")):
    return R.random.{call}
"""
    return relax.build(from_source(source))(np.array([seed, count])).numpy()


def test_known_answers_in_numpy():
    counter, key, expected = np.split(VECTORS.astype(np.uint64).T, [4, 6])
    found = philox(counter, key, lambda words: words, lambda function, value: function(value))
    np.testing.assert_array_equal(found, expected)


def test_known_answers_of_compiled_code():
    given = te.placeholder((3, 6), "uint64", "given")

    def word(i: Any, j: Any) -> Any:
        def finish(words: Any) -> Any:
            *first, last = words
            for n, value in reversed(list(enumerate(first))):
                last = te.select(j < n + 1, value, last)
            return last

        counter, key = [given(i, n) for n in range(4)], [given(i, n) for n in (4, 5)]
        return philox(counter, key, finish, te.let)

    function = tvm.build(te.create_prim_func([given, te.compute((3, 4), word, "words")]))
    words = VECTORS.astype(np.uint64)
    found = tvm.nd.array(np.zeros((3, 4), np.uint64))
    function(tvm.nd.array(np.ascontiguousarray(words[:, :6])), found)
    np.testing.assert_array_equal(found.numpy(), words[:, 6:])


def test_words_of_a_key():
    """The counter of a block is its number, the stream and the number of the call."""
    seed, count, stream = 0x299F31D0A4093822, 0x0370734413198A2E, 0x85A308D3
    counter = np.array([[n, stream, 0x13198A2E, 0x03707344] for n in (0, 1)], np.uint64).T
    key = np.array([[0xA4093822], [0x299F31D0]], np.uint64)
    expected = philox(counter, key, np.stack, lambda function, value: function(value))
    found = numbers(f"bits(key, (2, 4), stream={stream})", seed, count)
    np.testing.assert_array_equal(found, expected.T)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_distribution(dtype: str):
    x = np.sort(numbers(f"uniform(key, ({SIZE},), dtype={dtype!r})").astype(np.float64))
    assert x[0] >= 0 and x[-1] < 1
    steps = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0)
    distance = np.abs(x + steps / 2 - (np.arange(SIZE) + 0.5) / SIZE).max()
    assert distance < 1.95 / np.sqrt(SIZE) + steps  # Kolmogorov-Smirnov, one in a thousand


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_distribution(dtype: str):
    x = numbers(f"normal(key, ({SIZE},), dtype={dtype!r}, mean=3.0, std=2.0)")
    z = (x.astype(np.float64) - 3) / 2
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean() - moment) < 4 * np.sqrt(variance / SIZE)
    assert 3.5 < np.abs(z).max() < 6.5
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 4 / np.sqrt(SIZE)


@pytest.mark.parametrize(("low", "high"), [(-3, 4), (0, 2**32), (-(2**62), 2**62 + 2**61)])
def test_integers_of_a_range(low: int, high: int):
    x = numbers(f"randint(key, ({SIZE},), {low}, {high})").astype(np.float64)
    bins = min(high - low, 16)
    counts, _ = np.histogram((x - low) / (high - low), bins=bins, range=(0, 1))
    expected = SIZE / bins
    assert ((counts - expected) ** 2 / expected).sum() < 40  # chi-squared of up to 15
    assert x.min() >= low and x.max() < high


def test_what_numbers_depend_on():
    first = numbers("normal(key, (3, 4))")
    np.testing.assert_array_equal(numbers("normal(key, (6, 4))")[:3], first)
    np.testing.assert_array_equal(numbers("normal(key, (12,))"), first.reshape(12))
    for other in (
        numbers("normal(key, (3, 4))", seed=2),
        numbers("normal(key, (3, 4))", count=1),
        numbers("normal(key, (3, 4), stream=1)"),
    ):
        assert not np.isclose(other, first).any()


def test_results_are_compared_after_every_pass():
    source = """
@R.function
def main(key: R.Tensor((2,), "int64"), x: R.Tensor(("n", 8), "float32")):
    n = T.int64()
    return R.matmul(x, R.permute_dims(R.random.uniform(key, (n, 8))))
"""
    function = relax.build(from_source(source), check=True)
    assert function(np.array([1, 2]), np.ones((3, 8), np.float32)).shape == (3, 3)

"""Sorted lines of every length: each algorithm gives what NumPy's stable sorts give."""

from functools import cache

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.dialects.relax.operators.ordering import numpy_order
from xrelax.script import from_source

LENGTHS = (0, 1, 2, 3, 15, 16, 17, 127, 128, 129, 255, 256, 257, 2047, 2048, 2049, 8191, 8192, 8193)
DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint64", "bool")
FLOATS = ("float16", "float32", "float64")


@cache
def compiled(dims: str, dtype: str, axis: int, k: int, descending: bool):
    """Sorts, the order and the first `k` of a tensor."""
    flags = f"axis={axis}, descending={descending}"
    return relax.VirtualMachine(
        relax.build(
            from_source(f"""
@R.function
def main(x: R.Tensor(({dims},), "{dtype}")):
    first = R.topk(x, {k}, axis={axis}, largest={descending}, dtype="int64")
    return (R.sort(x, {flags}), R.argsort(x, {flags}), first)
""")
        ),
        tvm.cpu(),
    )["main"]


def drawn(shape, dtype, seed=0):
    """Numbers of which some are equal, and special ones."""
    random = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype not in FLOATS:
        limits = np.iinfo(dtype)
        wide = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        return np.where(random.random(shape) < 0.5, wide, wide % np.array(5, dtype)).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0, 6e-8], dtype)
    data = random.standard_normal(shape).astype(dtype)
    return np.where(random.random(shape) < 0.3, random.choice(special, shape), data)


def check(main, data, axis, k, descending):
    ordered, order, (values, indices) = main(data)
    expected = numpy_order(data, axis, descending)
    np.testing.assert_array_equal(order.numpy(), expected)
    np.testing.assert_array_equal(ordered.numpy(), np.take_along_axis(data, expected, axis))
    there = min(k, data.shape[axis])
    first = np.take(expected, np.arange(there), axis)
    taken = [np.take(t.numpy(), np.arange(there), axis) for t in (values, indices)]
    np.testing.assert_array_equal(taken[1], first)
    np.testing.assert_array_equal(taken[0], np.take_along_axis(data, first, axis))
    rest = [np.take(t.numpy(), np.arange(there, k), axis) for t in (values, indices)]
    assert not any(r.any() for r in rest)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype, descending", [("float32", True), ("int64", False)])
def test_lines_of_a_symbolic_length(dtype, descending, length):
    main = compiled('"m", "n"', dtype, 1, 5, descending)
    for rows in (1, 3, 9):
        check(main, drawn((rows, length), dtype), 1, 5, descending)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_line_alone(length):
    check(compiled('"n"', "float32", 0, 70, False), drawn((length,), "float32"), 0, 70, False)


@pytest.mark.parametrize("shape", [(5, 1), (3, 7), (4, 128), (9, 129), (17, 300)])
def test_lines_of_a_known_length(shape):
    k = min(shape[1], 6)
    main = compiled(f"{shape[0]}, {shape[1]}", "float32", 1, k, True)
    check(main, drawn(shape, "float32"), 1, k, True)


@pytest.mark.parametrize("shape, descending", [((9, 40), False), ((2, 2500), True)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype, shape, descending):
    main = compiled(f"{shape[0]}, {shape[1]}", dtype, 1, 6, descending)
    check(main, drawn(shape, dtype), 1, 6, descending)


@pytest.mark.parametrize("axis", range(3))
def test_any_axis(axis):
    data = drawn((6, 130, 20), "float32")
    check(compiled("6, 130, 20", "float32", axis, 3, True), data, axis, 3, True)
    for shape in ((40, 3, 9), (1, 600, 2), (0, 3, 4)):
        main = compiled('"n", "m", "k"', "float32", axis, 1, False)
        check(main, drawn(shape, "float32"), axis, 1, False)


@pytest.mark.parametrize("kind", ["rising", "falling", "equal", "two values"])
def test_lines_that_are_not_random(kind):
    places = np.arange(5000, dtype="float32")
    data = {"rising": places, "falling": -places, "equal": places * 0, "two values": places % 2}
    for descending in (False, True):
        check(compiled("5000", "float32", 0, 90, descending), data[kind], 0, 90, descending)


def test_sorted_zeros_keep_their_signs_and_nans_have_none():
    data = np.array([0.0, -np.nan, -0.0, 0.0, -0.0], "float32")
    ordered = compiled("5", "float32", 0, 1, False)(data)[0].numpy()
    np.testing.assert_array_equal(np.signbit(ordered), [True, True, False, False, False])

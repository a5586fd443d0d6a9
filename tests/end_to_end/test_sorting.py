"""Sorted lines of every length: each algorithm gives what NumPy's stable sorts give."""

from functools import cache

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.dialects.relax.operators.ordering import numpy_order
from xrelax.script import from_source

LENGTHS = (0, 1, 2, 3, 15, 16, 17, 127, 128, 129, 257, 2047, 2048, 2049, 4096, 4097, 8192, 8193)
DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint64", "bool")
FLOATS = ("float16", "float32", "float64")


OPERATORS = ("sort", "argsort", "topk")


@cache
def compiled(dims: str, dtype: str, axis: int, k: int, descending: bool, operators=OPERATORS):
    """A tensor in order, the order, and the first `k`, or those of them that are named.

    Each has a kernel of its own, whose time to compile is most of what a test takes.
    """
    flags = f"axis={axis}, descending={descending}"
    calls = {
        "sort": f"R.sort(x, {flags})",
        "argsort": f"R.argsort(x, {flags})",
        "topk": f'R.topk(x, {k}, axis={axis}, largest={descending}, dtype="int64")',
    }
    main = relax.VirtualMachine(
        relax.build(
            from_source(f"""
@R.function
def main(x: R.Tensor(({dims},), "{dtype}")):
    return ({"".join(f"{calls[o]}, " for o in operators)})
""")
        ),
        tvm.cpu(),
    )["main"]
    return lambda data: dict(zip(operators, main(data), strict=True))


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
    results, expected = main(data), numpy_order(data, axis, descending)
    if "sort" in results:
        in_order = np.take_along_axis(data, expected, axis)
        np.testing.assert_array_equal(results["sort"].numpy(), in_order)
    if "argsort" in results:
        np.testing.assert_array_equal(results["argsort"].numpy(), expected)
    if "topk" in results:
        check_first(results["topk"], data, expected, axis, k)


def check_first(results, data, order, axis, k):
    there = min(k, data.shape[axis])
    first = np.take(order, np.arange(there), axis)
    taken = [np.take(t.numpy(), np.arange(there), axis) for t in results]
    np.testing.assert_array_equal(taken[1], first)
    np.testing.assert_array_equal(taken[0], np.take_along_axis(data, first, axis))
    rest = [np.take(t.numpy(), np.arange(there, k), axis) for t in results]
    assert not any(r.any() for r in rest)


@pytest.mark.sampled
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype, descending", [("float32", True), ("int64", False)])
def test_lines_of_a_symbolic_length(dtype, descending, length):
    main = compiled('"m", "n"', dtype, 1, 5, descending)
    for rows in (1, 3, 9):
        check(main, drawn((rows, length), dtype), 1, 5, descending)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_line_alone(length):
    check(compiled('"n"', "float32", 0, 70, False), drawn((length,), "float32"), 0, 70, False)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "shape, operators",
    [
        ((5, 1), OPERATORS),
        ((3, 7), OPERATORS),
        ((4, 128), OPERATORS),
        ((9, 129), ("sort", "topk")),
        ((17, 300), ("argsort",)),
    ],
)
def test_lines_of_a_known_length(shape, operators):
    k = min(shape[1], 6)
    main = compiled(f"{shape[0]}, {shape[1]}", "float32", 1, k, True, operators)
    check(main, drawn(shape, "float32"), 1, k, True)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "shape, descending, operators",
    [((9, 40), False, ("sort", "argsort")), ((2, 2500), True, OPERATORS)],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype, shape, descending, operators):
    main = compiled(f"{shape[0]}, {shape[1]}", dtype, 1, 6, descending, operators)
    check(main, drawn(shape, dtype), 1, 6, descending)


@pytest.mark.sampled
@pytest.mark.parametrize("axis, operator", list(enumerate(("sort", "topk", "argsort"))))
def test_any_axis(axis, operator):
    data = drawn((6, 130, 20), "float32")
    check(compiled("6, 130, 20", "float32", axis, 3, True, (operator,)), data, axis, 3, True)
    for shape in ((40, 3, 9), (1, 600, 2), (0, 3, 4)):
        main = compiled('"n", "m", "k"', "float32", axis, 1, False, (operator,))
        check(main, drawn(shape, "float32"), axis, 1, False)


@pytest.mark.parametrize("kind", ["rising", "falling", "equal", "two values", "nan"])
def test_lines_that_are_not_random(kind):
    places = np.arange(5000, dtype="float32")
    data = {
        "rising": places,
        "falling": -places,
        "equal": places * 0,
        "two values": places % 2,
        "nan": places * np.float32("nan"),
    }
    for k, descending in ((9, False), (90, True)):
        check(compiled("5000", "float32", 0, k, descending), data[kind], 0, k, descending)


def test_sorted_zeros_keep_their_signs_and_nans_have_none():
    data = np.array([0.0, -np.nan, -0.0, 0.0, -0.0], "float32")
    ordered = compiled("5", "float32", 0, 1, False, ("sort",))(data)["sort"].numpy()
    np.testing.assert_array_equal(np.signbit(ordered), [True, True, False, False, False])


@pytest.mark.parametrize(
    "differs", ["in few low bits", "in low bits", "in small numbers", "nowhere"]
)
@pytest.mark.parametrize("length", [1, 2, 40, 3001])
def test_wide_keys_that_differ_below_their_upper_half(length, differs):
    """Few records are inserted; many are sorted by every digit, also after insertion gave up."""
    random = np.random.default_rng(length)
    data = {
        "in few low bits": random.standard_normal(length) + (random.random(length) < 0.1) * 2e-16,
        "in low bits": 1.0 + random.permutation(length) * 2.0**-40 + random.integers(0, 3, length),
        "in small numbers": random.integers(-50, 50, length),
        "nowhere": np.full(length, -0.25),
    }[differs]
    for descending in (False, True):
        operators = ("sort", "argsort")
        for dims in ('"n"', "3001") if length == 3001 else ('"n"',):
            main = compiled(dims, data.dtype.name, 0, 1, descending, operators)
            check(main, data, 0, 1, descending)
            check(main, data[::-1].copy(), 0, 1, descending)


@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_lines_without_elements(dtype):
    operators = ("sort", "argsort")
    main = compiled("3, 0", dtype, 1, 1, False, operators)
    check(main, np.zeros((3, 0), dtype), 1, 1, False)

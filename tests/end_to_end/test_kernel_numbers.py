"""Kernels by hand on special floats, and on integers of every width, by NumPy."""

import numpy as np
import pytest
from kernel_text import LOOPS, kernel, result

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -2])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("loop", LOOPS)
def test_extrema_and_sums_of_nan_and_infinity(dtype, loop):
    function = kernel(
        f"""
        for i in {loop}(49):
            O[0, i] = T.max(X[0, i], X[1, i])
            O[1, i] = T.min(X[0, i], X[1, i])
            O[2, i] = X[0, i] + X[1, i]
        """,
        X=("(2, 49)", dtype),
        O=("(3, 49)", dtype),
    )
    x = np.stack([a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL)]).astype(dtype)
    with np.errstate(invalid="ignore"):
        want = [np.maximum(*x), np.minimum(*x), x[0] + x[1]]
    np.testing.assert_array_equal(result(function, x, dtype=dtype, shape=(3, 49)), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_reductions_of_nan_and_infinity(dtype):
    blocks = "".join(
        f"""
        for i, j in T.grid(n, m):
            with T.block("b{row}"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    O[{row}, vi] = {init}
                O[{row}, vi] = {form.format(f"O[{row}, vi]")}
        """
        for row, (init, form) in enumerate(
            (
                (f'T.min_value("{dtype}")', "T.max({}, X[vi, vj])"),
                (f'T.max_value("{dtype}")', "T.min({}, X[vi, vj])"),
                (f"T.{dtype}(0)", "{} + X[vi, vj]"),
            )
        )
    )
    function = kernel(blocks, "nm", X=("(n, m)", dtype), O=("(3, n)", dtype))
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, (60, 37)).astype(dtype)
    for row in range(60):  # rows without, with one, and with several special values
        x[row, rng.integers(0, 37, row % 4)] = rng.choice(SPECIAL, row % 4)
    with np.errstate(invalid="ignore"):
        want = [x.max(1), x.min(1), x.sum(1)]
    np.testing.assert_array_equal(result(function, x, dtype=dtype, shape=(3, 60)), want)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 3)])
@pytest.mark.parametrize("axes", ["i // m, i % m", "i // (m * 2), i // 2 % m, i % 2"])
def test_fused_loops_that_reduce_over_nothing(shape, axes):
    parts = axes.split(", ")
    extents = ("n", "m", "2")[: len(parts)]
    bindings = "".join(
        f"""
                v{k} = T.axis.reduce({extent}, {part})"""
        for k, (extent, part) in enumerate(zip(extents, parts, strict=True))
    )
    function = kernel(
        f"""
        for i in range({" * ".join(extents)}):
            with T.block("b"):{bindings}
                with T.init():
                    O[()] = T.float32(5)
                O[()] = O[()] + X[v0, v1]
        """,
        "nm",
        X=("(n, m)", "float32"),
        O=("()", "float32"),
    )
    x = np.ones(shape, np.float32)
    want = 5 + x.size * (len(parts) - 1)
    assert result(function, x, dtype="float32", shape=()) == want


DTYPES = ("bool", *(f"{s}int{w}" for s in ("", "u") for w in (8, 16, 32, 64)))
TARGETS = (*DTYPES, "float16", "float32", "float64")


@pytest.mark.parametrize("loop", ["range", "T.vectorized"])
@pytest.mark.parametrize("source", TARGETS)
def test_every_conversion(source, loop):
    if source.startswith("float"):
        values = [np.nan, np.inf, -np.inf, -0.0, 0.5, -1.5, 300, -129, 65504, 1e9, -1e19, 1e19]
    elif source == "bool":
        values = [0, 1]
    else:
        limits = np.iinfo(source)
        values = [limits.min, limits.min + 1, 0, 1, 3, limits.max // 2 + 1, limits.max]
    with np.errstate(over="ignore"):
        x = np.array(values, source)
    lines = "\n".join(f'    {t}[i] = T.cast(X[i], "{t}")' for t in TARGETS)
    buffers = {"X": ("(n,)", source)} | {t: ("(n,)", t) for t in TARGETS}
    function = kernel(f"for i in {loop}(n):\n{lines}", "n", **buffers)
    outputs = [np.zeros(len(x), t) for t in TARGETS]
    function(x, *outputs)
    for target, found in zip(TARGETS, outputs, strict=True):
        np.testing.assert_array_equal(found, converted(x, target), err_msg=target)


def converted(x, target):
    """NumPy's conversion; floats to integers go to the nearest number there is, NaN to 0."""
    with np.errstate(over="ignore"):
        if x.dtype.kind != "f" or target in ("bool", "float16", "float32", "float64"):
            return x.astype(target)
    limits = np.iinfo(target)
    exact = [0 if np.isnan(v) else v for v in x.astype("float64").tolist()]
    clipped = [limits.min if v < limits.min else min(v, limits.max) for v in exact]
    return np.array([int(v) for v in clipped], target)


def wrapped(numbers, dtype):
    limits = np.iinfo(dtype)
    count = limits.max - limits.min + 1
    rows = [[(n - limits.min) % count + limits.min for n in row] for row in numbers]
    return np.array(rows, dtype)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_integer_division_of_every_sign_and_by_0(dtype):
    operations = ("X[i] // Y[i]", "X[i] % Y[i]", "T.truncdiv(X[i], Y[i])", "T.truncmod(X[i], Y[i])")
    lines = "\n".join(f"    O[{row}, i] = {o}" for row, o in enumerate(operations))
    buffers = {n: ("(n,)", dtype) for n in "XY"} | {"O": ("(4, n)", dtype)}
    function = kernel(f"for i in T.vectorized(n):\n{lines}", "n", **buffers)
    limits = np.iinfo(dtype)
    values = [limits.min, limits.max, 0, 1, 2, 7] + ([-1, -2, -7] if limits.min else [])
    x, y = (
        np.array(a).ravel() for a in np.meshgrid(np.array(values, dtype), np.array(values, dtype))
    )
    out = result(function, x, y, dtype=dtype, shape=(4, len(x)))

    def truncated(a, b):
        return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    want = [
        [0 if b == 0 else a // b for a, b in pairs],
        [0 if b == 0 else a % b for a, b in pairs],
        [truncated(a, b) for a, b in pairs],
        [0 if b == 0 else a - truncated(a, b) * b for a, b in pairs],
    ]
    np.testing.assert_array_equal(out, wrapped(want, dtype))

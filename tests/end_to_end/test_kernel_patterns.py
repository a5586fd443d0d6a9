"""Kernels whose iterations depend on each other, on data or on rows of scratch, against NumPy."""

from textwrap import dedent, indent

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

SIZES = ((0, 3), (5, 0), (1, 1), (7, 13), (3, 70))
LOOPS = ("range", "T.parallel", "T.vectorized")


def kernel(body, symbols=(), **buffers):
    """The compiled PrimFunc with this body; a buffer is given as ``(shape, dtype)``."""
    lines = ["@T.prim_func", f"def f({', '.join(f'p{n}: T.handle' for n in buffers)}):"]
    lines += [f"    {s} = T.int64()" for s in symbols]
    for name, (shape, dtype) in buffers.items():
        lines.append(f'    {name} = T.match_buffer(p{name}, {shape}, "{dtype}")')
    text = "\n".join([*lines, indent(dedent(body), "    ")])
    return relax.build(from_source(text))["f"]


def whole_numbers(*shape):
    return np.random.default_rng(sum(shape)).integers(-5, 6, shape).astype("float32")


def result(function, *args, dtype="float32", shape=None, fill=0):
    out = np.full(args[0].shape if shape is None else shape, fill, dtype)
    function(*args, out)
    return out


MATRIX = {"X": ("(n, m)", "float32"), "O": ("(n, m)", "float32")}


@pytest.mark.parametrize("loop", LOOPS)
def test_each_row_has_scratch_of_its_own(loop):
    function = kernel(
        f"""
        for i in {loop}(n):
            with T.block("row"):
                vi = T.axis.spatial(n, i)
                row = T.alloc_buffer((m,), "float32")
                total = T.alloc_buffer((1,), "float32")
                for j in range(m):
                    with T.block("double"):
                        vj = T.axis.spatial(m, j)
                        row[vj] = X[vi, vj] * T.float32(2)
                for j in range(m):
                    with T.block("sum"):
                        vj = T.axis.reduce(m, j)
                        with T.init():
                            total[0] = T.float32(0)
                        total[0] = total[0] + row[m - 1 - vj]
                for j in {loop}(m):
                    O[vi, j] = row[j] - total[0]
        """,
        "nm",
        **MATRIX,
    )
    for size in SIZES:
        x = whole_numbers(*size)
        want = 2 * x - 2 * x.sum(1, keepdims=True)
        np.testing.assert_array_equal(result(function, x), want)


@pytest.mark.parametrize("loop", LOOPS)
def test_iterations_that_depend_on_each_other_keep_their_order(loop):
    kind = "range" if loop == "T.parallel" else loop
    function = kernel(
        f"""
        for i in T.parallel(n):
            for j in {kind}(1, m):
                O[i, j] = O[i, j - 1] + X[i, j]
        """,
        "nm",
        **MATRIX,
    )
    for size in SIZES:
        x = whole_numbers(*size)
        x[:, :1] = 0
        want = np.cumsum(x, 1, dtype="float32") + 1
        np.testing.assert_array_equal(result(function, x, fill=1), want)


@pytest.mark.parametrize("loop", ["range", "T.vectorized"])
def test_an_iteration_reads_what_a_later_one_writes(loop):
    function = kernel(
        f"for i in {loop}(n - 1):\n    O[i] = O[i + 1] * T.float32(2) + X[i]",
        "n",
        X=("(n,)", "float32"),
        O=("(n,)", "float32"),
    )
    for n in (0, 1, 2, 16, 17, 100):
        x = whole_numbers(n)
        want = x + 2
        want[-1:] = 1
        np.testing.assert_array_equal(result(function, x, fill=1), want)


@pytest.mark.parametrize("loop", ["range", "T.vectorized"])
def test_a_histogram(loop):
    function = kernel(
        f"""
        for i in {loop}(5):
            O[i] = 0
        for i in {loop}(n):
            O[A[i]] = O[A[i]] + 1
        """,
        "n",
        A=("(n,)", "int32"),
        O=("(5,)", "int32"),
    )
    for n in (0, 1, 40):
        a = np.random.default_rng(n).integers(0, 5, n).astype("int32")
        want = np.bincount(a, minlength=5)
        np.testing.assert_array_equal(result(function, a, dtype="int32", shape=5, fill=9), want)


def test_a_sparse_matrix_whose_loop_bounds_are_data():
    function = kernel(
        """
        for i in T.parallel(n):
            O[i] = T.float32(0)
            for p in range(P[i], P[i + 1]):
                O[i] = O[i] + D[p] * V[J[p]]
        """,
        "nz",
        P=("(n + 1,)", "int32"),
        J=("(z,)", "int32"),
        D=("(z,)", "float32"),
        V=("(9,)", "float32"),
        O=("(n,)", "float32"),
    )
    rng = np.random.default_rng(0)
    for n in (0, 1, 40):
        dense = whole_numbers(n, 9) * (rng.random((n, 9)) < 0.3)
        rows, columns = np.nonzero(dense)
        starts = np.searchsorted(rows, np.arange(n + 1)).astype("int32")
        v = whole_numbers(9)
        out = result(function, starts, columns.astype("int32"), dense[rows, columns], v, shape=n)
        np.testing.assert_array_equal(out, (dense @ v).astype("float32"))


def test_an_inner_loop_as_long_as_the_outer_one_says():
    function = kernel(
        """
        for i in T.parallel(n):
            O[i] = T.float32(0)
            for j in range(i + 1):
                O[i] = O[i] + X[j]
        """,
        "n",
        X=("(n,)", "float32"),
        O=("(n,)", "float32"),
    )
    for n in (0, 1, 9, 50):
        x = whole_numbers(n)
        np.testing.assert_array_equal(result(function, x), np.cumsum(x, dtype="float32"))


def test_a_while_loop_as_long_as_data_says():
    function = kernel(
        """
        for i in T.parallel(n):
            c = T.alloc_buffer((1,), "int64")
            c[0] = X[i]
            O[i] = T.int64(0)
            while c[0] > 1:
                if c[0] % T.int64(2) == T.int64(0):
                    c[0] = c[0] // T.int64(2)
                else:
                    c[0] = c[0] * T.int64(3) + T.int64(1)
                O[i] = O[i] + T.int64(1)
        """,
        "n",
        X=("(n,)", "int64"),
        O=("(n,)", "int64"),
    )

    def steps(x):
        return 0 if x <= 1 else 1 + steps(x // 2 if x % 2 == 0 else 3 * x + 1)

    x = np.arange(-3, 30)
    np.testing.assert_array_equal(result(function, x, dtype="int64"), [steps(int(v)) for v in x])


def test_views_of_regions():
    function = kernel(
        """
        for i in T.parallel(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                V = T.match_buffer(X[vi, 1:4], (1, 3), "float32")
                W = T.match_buffer(O[vi, 0:2], (1, 2), "float32")
                W[0, 0] = V[0, 0] + V[0, 2]
                W[0, 1] = V[0, 1]
        """,
        "n",
        X=("(n, 5)", "float32"),
        O=("(n, 2)", "float32"),
    )
    x = whole_numbers(9, 5)
    want = np.stack([x[:, 1] + x[:, 3], x[:, 2]], 1)
    np.testing.assert_array_equal(result(function, x, shape=(9, 2)), want)


def test_an_axis_that_does_not_start_at_0():
    function = kernel(
        """
        for i in range(2, 9):
            with T.block("b"):
                vi = T.axis.spatial((2, 9), i)
                O[vi] = X[vi - 2]
        """,
        X=("(9,)", "float32"),
        O=("(9,)", "float32"),
    )
    x = whole_numbers(9)
    np.testing.assert_array_equal(result(function, x), [0, 0, *x[:7]])


SCRATCH = (
    ('S = T.alloc_buffer((40, 257, 64), "float32")', "pass", "i, "),
    ("pass", 'S = T.alloc_buffer((257, 64), "float32")', ""),
)


@pytest.mark.parametrize(("outside", "inside", "row"), SCRATCH, ids=["function", "iteration"])
def test_scratch_of_megabytes(outside, inside, row):
    function = kernel(
        f"""
        {outside}
        for i in T.parallel(40):
            {inside}
            for j, k in T.grid(257, 64):
                S[{row}j, k] = X[i, j] + T.cast(k, "float32")
            for j in range(257):
                O[i, j] = T.float32(0)
                for k in range(64):
                    O[i, j] = O[i, j] + S[{row}j, k]
        """,
        X=("(40, 257)", "float32"),
        O=("(40, 257)", "float32"),
    )
    x = whole_numbers(40, 257)
    np.testing.assert_array_equal(result(function, x), 64 * x + 2016)


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


def test_a_reduction_starts_over_where_its_first_point_comes_again():
    function = kernel(
        """
        for i, k in T.grid(n, m * 2):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                vk = T.axis.reduce(m, k // 2)
                with T.init():
                    O[vi] = T.float32(0)
                O[vi] = O[vi] + X[vi, vk]
        """,
        "nm",
        X=("(n, m)", "float32"),
        O=("(n,)", "float32"),
    )
    x = whole_numbers(4, 6)
    np.testing.assert_array_equal(result(function, x, shape=4), 2 * x.sum(1) - x[:, 0])


def test_scratch_whose_size_comes_out_negative_is_empty():
    """What lies after it in memory must not move into what lies before."""
    function = kernel(
        """
        A = T.alloc_buffer((n,), "float32")
        S = T.alloc_buffer((n - 100,), "float32")
        B = T.alloc_buffer((n,), "float32")
        for i in range(n):
            A[i] = X[i]
            B[i] = X[i] * T.float32(10)
        for i in range(n - 100):
            S[i] = X[i]
        for i in range(n):
            O[i] = A[i] + B[n - 1 - i]
        for i in range(n - 100):
            O[i] = O[i] + S[i]
        """,
        "n",
        X=("(n,)", "float32"),
        O=("(n,)", "float32"),
    )
    for n in (0, 1, 50, 99, 100, 101, 150):
        x = whole_numbers(n)
        want = x + 10 * x[::-1]
        want[: max(n - 100, 0)] += x[: max(n - 100, 0)]
        np.testing.assert_array_equal(result(function, x), want)

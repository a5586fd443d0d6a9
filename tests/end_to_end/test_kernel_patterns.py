"""Kernels by hand whose loops, bounds or scratch memory are unusual, compared with NumPy."""

import numpy as np
import pytest
from kernel_text import LOOPS, kernel, result

SIZES = ((0, 3), (5, 0), (1, 1), (7, 13), (3, 70))


def whole_numbers(*shape):
    return np.random.default_rng(sum(shape)).integers(-5, 6, shape).astype("float32")


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

"""Blocks of TensorIR scripts: axes, predicates, regions and initializations."""

import numpy as np

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(-3, 4, 8, dtype="float32")


def test_axes_of_every_kind(run):
    y = run(
        'X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")',
        """
for i, k in T.grid(4, 6):
    with T.block("S"):
        vi = T.axis.S(4, i)
        vk = T.axis.R(6, k)
        with T.init():
            Y[vi] = 0
        Y[vi] = Y[vi] + X[vi, vk]
for i in range(4):
    with T.block("O"):
        vi = T.axis.opaque(4, i)
        Y[vi] += 1
""",
        np.ones((4, 6), "float32"),
        shape=4,
    )
    np.testing.assert_array_equal(y, [7] * 4)


def test_where_and_split_bindings(run):
    y = run(
        'X: T.Buffer((10,), "float32"), Y: T.Buffer((10,), "float32")',
        """
for i0, i1 in T.grid(3, 4):
    with T.block("Y"):
        T.where(i0 * 4 + i1 < 10 and 0 <= i0)
        vi = T.axis.spatial(10, i0 * 4 + i1)
        T.reads(X[vi])
        T.writes(Y[vi])
        T.block_attr({"hint": {"a": True}})
        T.block_attr({"hint": {"b": 1, "a": True}})
        Y[vi] = X[vi] + 1
""",
        np.arange(10, dtype="float32"),
    )
    np.testing.assert_array_equal(y, np.arange(10) + 1)


def test_predicates_that_read_data(run):
    """They are conditions of the body, over the axes; what they read need not be declared."""
    y = run(
        'X: T.Buffer((10,), "float32"), M: T.Buffer((10,), "bool"), Y: T.Buffer((10,), "float32")',
        """
for i in range(10):
    with T.block("Y"):
        vi = T.axis.spatial(10, i)
        T.where(1 <= i and X[i] < 6 and M[i])
        T.reads(X[vi])
        T.writes(Y[vi])
        Y[vi] = X[vi] + 1
""",
        np.arange(10, dtype="float32"),
        np.arange(10) % 2 == 0,
    )
    np.testing.assert_array_equal(y, [0, 0, 3, 0, 5, 0, 0, 0, 0, 0])


def test_predicates_over_dims_and_numbers_of_python(run):
    y = run(
        'X: T.Buffer((10,), "float32"), Y: T.Buffer((10,), "float32")',
        """
sizes = [10]
for i, j, r in T.grid(3, 4, 2):
    with T.block("Y"):
        vi = T.axis.spatial(10, i * 4 + j)
        vr = T.axis.reduce(2, r)
        T.where(i * 4 + j < X.shape[0] and j < sizes[0])
        with T.init():
            Y[vi] = T.float32(0)
        Y[vi] = Y[vi] + X[vi]
""",
        np.ones(10, "float32"),
    )
    np.testing.assert_array_equal(y, np.full(10, 2))


def test_an_initialization_below_the_views_that_it_does_not_use(run):
    y = run(
        F8,
        """
for k in range(8):
    with T.block("sum"):
        vk = T.axis.R(8, k)
        A = T.match_buffer(X[vk : vk + 1], (1,))
        with T.init():
            Y[0] = 0
        Y[0] = Y[0] + T.hypot(A[0], T.exp10(A[0]))
T.exp(X[0])
""",
        X8,
    )
    np.testing.assert_allclose(y[0], np.hypot(X8, 10**X8).sum(), rtol=1e-5)


def test_regions_below_the_values_that_they_use(run):
    y = run(
        F8,
        """
for i in range(8):
    with T.block("Y"):
        vi = T.axis.S(8, i)
        a, b = 7 - vi, vi
        T.reads(X[a])
        T.writes(Y[b])
        assert a >= 0, ("ValueError", ["a of ", "the block"])
        Y[b] = X[a]
""",
        X8,
    )
    np.testing.assert_array_equal(y, X8[::-1])


def test_regions_are_inferred_and_printed(kernel, round_trip):
    text = round_trip(
        kernel(
            'X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8,), "float32")',
            """
for i, k in T.grid(8, 8):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            Y[vi] = T.float32(0)
        Y[vi] = Y[vi] + X[vk, vi]
""",
        )
    )
    assert "T.reads(X[vk, vi])" in text and "T.writes(Y[vi])" in text
    assert 'vi, vk = T.axis.remap("SR", [i, k])' in text


def test_old_declarations_and_a_root_block(run):
    y = run(
        "x: T.handle, y: T.handle",
        """
T.func_attr({"global_symbol": "kernel", "tir.noalias": True})
n = T.var("int64")
X = T.match_buffer(x, [n], dtype="float32", align=64, offset_factor=1)
Y = T.match_buffer(y, [n], dtype="float32")
with T.block("root"):
    T.reads()
    T.writes()
    Z = T.sblock_alloc_buffer((n,), "float32", scope="global")
    for i in T.serial(n):
        with T.block("Z"):
            vi = T.axis.spatial(n, i)
            Z[vi] = X[vi]
    for i in T.serial(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            Y[vi] = Z[vi] * Z[vi]
""",
        X8,
    )
    np.testing.assert_allclose(y, X8 * X8)

"""Buffers of TensorIR scripts: views, memory of others, several elements, scopes."""

import numpy as np
import pytest

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(-3, 4, 8, dtype="float32")


def test_nested_blocks_views_and_slices(run):
    y = run(
        'X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")',
        """
for io, jo in T.grid(2, 2):
    with T.block("tile"):
        vio, vjo = T.axis.remap("SS", [io, jo])
        T.reads(X[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4])
        T.writes([Y[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4]])
        A = T.match_buffer(X[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4], (4, 4))
        B = T.match_buffer(Y[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4], (4, 4), "float32")
        for ii, ji in T.grid(4, 4):
            with T.block("copy"):
                vii, vji = T.axis.remap("SS", [ii, ji])
                B[vii, vji] = A[vji, vii]
""",
        np.arange(64, dtype="float32").reshape(8, 8),
    )
    x = np.arange(64).reshape(2, 4, 2, 4)
    np.testing.assert_array_equal(y, x.transpose(0, 3, 2, 1).reshape(8, 8))


def test_stores_of_several_elements(run):
    y = run(
        F8,
        """
for i in range(2):
    Y[i * 4 : i * 4 + 4] = X[i * 4 : i * 4 + 4] + T.broadcast(X[i], 4)
Y[T.ramp(1, 2, 4)] *= X[0:8:2]
Y[T.Ramp(0, 1, 2)] = T.Broadcast(1.0, 2)
""",
        X8,
    )
    expected = X8 + np.repeat(X8[:2], 4)
    expected[1::2] *= X8[::2]
    expected[:2] = 1
    np.testing.assert_allclose(y, expected)


def test_buffers_on_the_memory_of_others(run):
    y = run(
        F8,
        """
square = T.decl_buffer((2, 4), "float32", data=X.data)
tail = T.Buffer((2, 2), data=square.data, elem_offset=4)
T.assume(X[0] > 0)
T.evaluate(T.assume(X[1] > 0))
for i, j in T.grid(4, 2):
    Y[i * 2 + j] = square[i // 2, i % 2 * 2 + j] + tail[i % 2, j]
""",
        X8,
    )
    np.testing.assert_allclose(y, X8 + np.tile(X8[4:], 2))


def test_views_with_named_strides_and_fewer_dims(run):
    y = run(
        'X: T.Buffer((3, 4), "float32"), Y: T.Buffer((3, 4), "float32")',
        """
s = T.int64()
for i in range(3):
    with T.block("row"):
        vi = T.axis.spatial(3, i)
        T.reads(X[vi, :])
        T.writes(Y[vi, 0:4])
        A = T.match_buffer(X[vi, 0:4], (4,), strides=[s])
        for j in range(4):
            Y[vi, j] = A[3 - j] * T.Cast("float32", s)
""",
        np.arange(12, dtype="float32").reshape(3, 4),
    )
    np.testing.assert_array_equal(y, np.arange(12).reshape(3, 4)[:, ::-1])


def test_attributes_of_buffers_and_expressions(run):
    y = run(
        F8,
        """
for i in range(X.shape[0]):
    Y[i] = T.Cast(X.dtype, X.strides[0] * X.shape[0])
""",
        X8,
    )
    np.testing.assert_array_equal(y, [8] * 8)


@pytest.mark.parametrize("alloc", ["T.alloc_buffer", "T.sblock_alloc_buffer"])
def test_no_scope_is_the_global_one(kernel, round_trip, alloc):
    text = round_trip(
        kernel(
            "a: T.handle, " + F8.split(", ", 2)[2],
            f"""
A = T.match_buffer(a, (8,), "float32", scope="")
Z = {alloc}((8,), "float32", scope="")
for i in range(8):
    Z[i] = A[i]
for i in range(8):
    Y[i] = Z[i]
""",
        )
    )
    assert "scope" not in text
    assert "Z = T.alloc_buffer((8,))" in text

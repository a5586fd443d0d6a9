"""Operations and bytes of kernels, from their TensorIR."""

from __future__ import annotations

import pytest

from xrelax.dialects.int_expr import Sym
from xrelax.profiling.work import work_of
from xrelax.script import from_source


def work(body: str, **symbols: int) -> tuple[int | None, int, int]:
    """Operations, bytes read and bytes written of a kernel, for values of its symbols."""
    op = from_source(f"@T.prim_func\n{body}").op
    found = work_of(op)

    def value(atom: object) -> int:
        assert isinstance(atom, Sym)
        return symbols[atom.name]

    operations, read, written = (
        None if e is None else e.evaluate(value)
        for e in (found.operations, found.read, found.written)
    )
    assert read is not None and written is not None
    return operations, read, written


MATMUL = """
def f(x: T.handle, y: T.handle, z: T.handle):
    n, k = T.int64(), T.int64()
    X = T.match_buffer(x, (n, k), "float32")
    Y = T.match_buffer(y, (k, 48), "float32")
    Z = T.match_buffer(z, (n, 48), "float32")
    for i, j, l in T.grid(n, 48, k):
        with T.block("Z"):
            vi, vj, vl = T.axis.remap("SSR", [i, j, l])
            with T.init():
                Z[vi, vj] = T.float32(0)
            Z[vi, vj] = Z[vi, vj] + X[vi, vl] * Y[vl, vj]
"""


@pytest.mark.parametrize("n, k", [(1, 1), (7, 33), (64, 128)])
def test_a_matmul_is_two_operations_for_each_product(n, k):
    found = work(MATMUL, n=n, k=k)
    assert found == (2 * n * 48 * k, 4 * (n * k + k * 48), 4 * n * 48)


def test_split_loops_and_tiles_change_nothing():
    body = """
def f(X: T.Buffer((64, 64), "float64"), Y: T.Buffer((64, 64), "float64")):
    for i0, j, i1 in T.grid(16, 64, 4):
        with T.block("Y"):
            vi = T.axis.spatial(64, i0 * 4 + i1)
            vj = T.axis.spatial(64, j)
            Y[vi, vj] = T.exp(X[vi, vj]) + T.float64(1)
"""
    assert work(body) == (2 * 64 * 64, 8 * 64 * 64, 8 * 64 * 64)


def test_a_gather_reads_what_it_takes_of_a_table():
    body = """
def f(
    t: T.Buffer((30000, 8), "float32"),
    i: T.Buffer((3,), "int64"),
    y: T.Buffer((3, 8), "float32"),
):
    for a, b in T.grid(3, 8):
        with T.block("y"):
            va, vb = T.axis.remap("SS", [a, b])
            y[va, vb] = t[i[va], vb]
"""
    assert work(body) == (0, 4 * 24 + 3 * 8, 4 * 24)


def test_a_buffer_changed_in_place_is_read_and_written():
    body = """
def f(x: T.Buffer((5,), "float32")):
    for a in range(5):
        with T.block("x"):
            v = T.axis.spatial(5, a)
            x[v] = x[v] * T.float32(2)
"""
    assert work(body) == (5, 20, 20)


def test_loops_that_no_axis_uses_repeat_a_block():
    body = """
def f(x: T.Buffer((5,), "float32"), y: T.Buffer((5,), "float32")):
    for t, a in T.grid(3, 5):
        with T.block("y"):
            v = T.axis.spatial(5, a)
            y[v] = x[v] + T.float32(1)
"""
    assert work(body) == (15, 20, 20)


def test_operations_that_data_decides_are_not_known():
    body = """
def f(x: T.Buffer((5,), "float32"), y: T.Buffer((5,), "float32")):
    for a in range(5):
        with T.block("y"):
            v = T.axis.spatial(5, a)
            y[v] = T.call_extern("float32", "cosf", x[v])
"""
    assert work(body) == (None, 20, 20)


def test_a_buffer_that_is_only_read_is_not_written():
    """Also where its size is symbolic, or data decides how often it is read."""
    body = """
def f(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            Y[vi] = X[vi]
"""
    assert str(work_of(from_source(f"@T.prim_func\n{body}").op).written) == "n * 4"
    steps = """
def f(X: T.Buffer((8,), "int64"), Y: T.Buffer((1,), "int64")):
    with T.block("Y"):
        k = T.alloc_buffer((1,), "int64")
        k[0] = T.int64(0)
        while k[0] < X[0]:
            k[0] = k[0] + X[1]
        Y[0] = k[0]
"""
    assert work(steps)[1:] == (64, 8)

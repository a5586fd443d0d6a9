"""Copies of what a block writes: `cache_write`, and what it refuses."""

import pytest
from programs import SIZES, VECTORS, chain, in_place, matmul_relu, program, row_sum
from schedule_check import check_refused, check_schedule, check_text


def test_cache_write():
    check_text(
        row_sum(),
        lambda sch: sch.cache_write("Y", 0, "local"),
        """
Y_local = T.alloc_buffer((n,), scope="local")
for i, k in T.grid(n, m):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            Y_local[vi] = T.float32(0)
        Y_local[vi] = Y_local[vi] + X[vi, vk]
for ax0 in range(n):
    with T.block("Y_local"):
        v_ax0 = T.axis.spatial(n, ax0)
        Y[v_ax0] = Y_local[v_ax0]
""",
        *SIZES,
    )


def test_cache_write_with_consumers():
    def schedule(sch):
        sch.cache_write("S", "S", "shared", consumer_blocks=["Y"])

    sch = check_schedule(chain(), schedule, *SIZES)
    assert "Y[vi, vj] = S_shared[vi, vj] + T.float32(1)" in sch.func.script()
    assert "S[v_ax0, v_ax1] = S_shared[v_ax0, v_ax1]" in sch.func.script()


GUARDED = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            T.where(CONDITION)
            Y[vi] = X[vi]
"""


def test_cache_write_of_the_first_elements():
    """Only what the block stores is copied: the rest is the caller's."""
    check_text(
        program(GUARDED.replace("CONDITION", "i < 3"), VECTORS, n=8),
        lambda s: s.cache_write("Y", 0, "local"),
        """
Y_local = T.alloc_buffer((8,), scope="local")
for i in range(8):
    with T.block("Y"):
        vi = T.axis.spatial(8, i)
        T.where(i < 3)
        Y_local[vi] = X[vi]
for ax0 in range(3):
    with T.block("Y_local"):
        v_ax0 = T.axis.spatial(3, ax0)
        Y[v_ax0] = Y_local[v_ax0]
""",
        native=True,
    )


HALF = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi * 2] = X[vi]
"""
START = """
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = X[vi]
    for i in range({n}):
        with T.block("Z"):
            vi = T.axis.spatial({n}, i)
            Z[vi] = Y[vi]
"""
"""The rest of `Y` is the caller's."""


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            in_place(8),
            lambda s: s.cache_write("Y", 0, "local"),
            "expected block 'Y' to read nothing of 'Y' that it has not stored",
        ),
        (
            program(HALF, {"X": "({n},)", "Y": "({n} * 2,)"}, n=8),
            lambda s: s.cache_write("Y", 0, "local"),
            "expected block 'Y' to store every element of a box of 'Y', one at a time",
        ),
        (
            program(GUARDED.replace("CONDITION", "2 < i"), VECTORS, n=8),
            lambda s: s.cache_write("Y", 0, "local"),
            "expected block 'Y' to store every element of a box of 'Y', one at a time",
        ),
        (
            chain(),
            lambda s: s.cache_write("Y", 0, "local", ["S"]),
            "expected block 'S' to come after block 'Y'",
        ),
        (
            program(START, {b: "({n},)" for b in "XYZ"}, n=8),
            lambda s: s.cache_write("Y", 0, "local", ["Z"]),
            "expected block 'Z' to read from 'Y' only what block 'Y' writes",
        ),
        (
            matmul_relu(4, 4, 4),
            lambda s: [
                s.decompose_reduction("Y", s.get_loops("Y")[0]),
                s.cache_write("Y_update", 0, "local"),
            ],
            "expected only block 'Y_update' to store to 'Y', and to use it in its loops",
        ),
    ],
)
def test_refusals(source, schedule, message):
    check_refused(source, schedule, message, whole=False)

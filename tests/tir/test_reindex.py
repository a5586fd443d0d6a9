"""Copies of buffers with the axes of a block: `reindex`, and what it refuses."""

import pytest
from programs import SIZES, VECTORS, program, row_sum, shifted, viewed
from schedule_check import check_refused, check_schedule, check_text

STRIDED = """
    for i, j, k in T.grid({n}, {m}, 3):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vj, vi] = T.float32(0)
            Y[vj, vi] = Y[vj, vi] + X[vi * 2 + vk]
"""
STRIDED_BUFFERS = {"X": "({n} * 2 + 1,)", "Y": "({m}, {n})"}


def test_reindex():
    def schedule(sch):
        sch.reindex("Y", ("read", 0))
        sch.reindex("Y", ("write", 0))

    check_text(
        program(STRIDED, STRIDED_BUFFERS, n="n", m="m"),
        schedule,
        """
X_reindex = T.alloc_buffer((n, 3))
Y_reindex = T.alloc_buffer((n, m))
for ax0, ax1 in T.grid(n, 3):
    with T.block("X_reindex"):
        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
        X_reindex[v_ax0, v_ax1] = X[v_ax0 * 2 + v_ax1]
for i, j, k in T.grid(n, m, 3):
    with T.block("Y"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            Y_reindex[vi, vj] = T.float32(0)
        Y_reindex[vi, vj] = Y_reindex[vi, vj] + X_reindex[vi, vk]
for ax0, ax1 in T.grid(n, m):
    with T.block("Y_reindex"):
        v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
        Y[v_ax1, v_ax0] = Y_reindex[v_ax0, v_ax1]
""",
        *SIZES,
    )


TOTAL = """
    for k in range(6):
        with T.block("Y"):
            vk = T.axis.reduce(6, k)
            with T.init():
                Y[()] = T.float32(0)
            Y[()] = Y[()] + X[vk]
"""


def test_reindex_of_a_block_of_blocks():
    def schedule(sch):
        _, inner = sch.split(sch.get_loops("Y")[0], [2, 3])
        sch.reindex(sch.blockize(inner), ("write", 0))

    sch = check_schedule(program(TOTAL, {"X": "(6,)", "Y": "()"}), schedule)
    assert "T.writes(Y_reindex[()])" in sch.func.script()


VIEW_UPDATED_INSIDE = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            V = T.match_buffer(Y[vi : vi + 1], (1,))
            for j in range(1):
                with T.block("Z"):
                    vj = T.axis.spatial(1, j)
                    V[vj] = V[vj] + X[vi]
"""


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            row_sum(),
            lambda s: s.reindex("Y", ("both", 0)),
            "expected a buffer's name, ('read', number)",
        ),
        (
            shifted(8),
            lambda s: s.reindex("Z", "X"),
            "expected block 'Z' to access 'X' at one index over its axes",
        ),
        (
            viewed(8),
            lambda s: s.reindex("Y", ("read", 0)),
            "expected block 'Y' to only load and store 'X', got a view or call of it",
        ),
        (
            program(VIEW_UPDATED_INSIDE, VECTORS, n=8),
            lambda s: s.reindex("Z", ("read", 0)),
            "expected nothing to store to 'V' while its copy is read",
        ),
    ],
)
def test_refusals(source, schedule, message):
    check_refused(source, schedule, message, whole=False)

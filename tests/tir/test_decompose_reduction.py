"""Reductions whose start is in loops of its own: `decompose_reduction`."""

import numpy as np
import pytest
from programs import SHAPES, chain, matmul_relu, program, row_sum
from schedule_check import body, check_refused, check_schedule

import xrelax
from xrelax.script import from_source
from xrelax.tir.schedule import Schedule


def course(sch):
    """The schedule of the course's second lecture."""
    block_Y = sch.get_block("Y", func_name="main")
    _, j, k = sch.get_loops(block_Y)
    j0, j1 = sch.split(j, factors=[None, 4])
    sch.reorder(j0, k, j1)
    block_C = sch.get_block("C", "main")
    sch.reverse_compute_at(block_C, j0)
    sch.decompose_reduction(block_Y, k)
    sch.get_block("Y_init")
    sch.get_block("Y_update")


def test_the_course():
    check_schedule(matmul_relu(), course, *SHAPES)
    sch = check_schedule(matmul_relu(8, 8, 8), course)
    assert body(sch) == (
        """    Y = T.alloc_buffer((8, 8))
    for i, j in T.grid(8, 2):
        for j_1 in range(4):
            with T.block("Y_init"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j * 4 + j_1)
                T.reads()
                T.writes(Y[vi, vj])
                Y[vi, vj] = T.float32(0)
        for k, j_1 in T.grid(8, 4):
            with T.block("Y_update"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j * 4 + j_1)
                vk = T.axis.reduce(8, k)
                T.reads(Y[vi, vj], A[vi, vk], B[vk, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for j_1 in range(4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j * 4 + j_1)
                T.reads(Y[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))"""
    )


def test_the_course_with_kinds_of_loops_built_and_run():
    sch = Schedule(from_source(matmul_relu(64, 48, 32)))
    block = sch.get_block("Y")
    i, j, k = sch.get_loops(block)
    (i0, i1), (j0, j1) = sch.split(i, [None, 4]), sch.split(j, [None, 16])
    k0, k1 = sch.split(k, [None, 4])
    sch.reorder(i0, j0, k0, k1, i1, j1)
    init = sch.decompose_reduction(block, k0)
    sch.parallel(i0)
    sch.vectorize(j1)
    sch.vectorize(sch.get_loops(init)[-1])
    for loop in (i1, k1, sch.get_loops(init)[-2]):
        sch.unroll(loop)
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(s).astype("float32") for s in ((64, 32), (32, 48)))
    c = np.empty((64, 48), "float32")
    xrelax.build(sch.mod)["main"](a, b, c)
    np.testing.assert_allclose(c, np.maximum(a @ b, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.sampled
@pytest.mark.parametrize("at", [0, 1, 2])
def test_started_anywhere(at):
    def schedule(s):
        i, j, k = s.get_loops("Y")
        order = s.split(i, [None, 3]) + s.split(j, [None, 2, 2])
        k0, k1 = s.split(k, [None, 2])
        s.reorder(order[0], order[2], k0, order[3], k1, order[1], order[4])
        s.decompose_reduction("Y", [order[0], order[2], k0][at])

    check_schedule(matmul_relu(), schedule, *SHAPES)
    check_schedule(matmul_relu(7, 13, 5), schedule)


def test_started_before_fused_loops():
    def schedule(s):
        i, j, k = s.get_loops("Y")
        s.reorder(k, i, j)
        s.fuse(i, j)
        s.decompose_reduction("Y", k)

    check_schedule(matmul_relu(), schedule, *SHAPES)


TWICE = program(
    """
    for i, r, k in T.grid({n}, 2, {m}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
""",
    {"X": "({n}, {m})", "Y": "({n},)"},
    n=4,
    m=3,
)
AHEAD = program(
    """
    for i in range({n} - 1):
        for k in range({m}):
            with T.block("Y"):
                vi = T.axis.spatial({n} - 1, i)
                vk = T.axis.reduce({m}, k)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]
        with T.block("Z"):
            vi = T.axis.spatial({n} - 1, i)
            Z[vi] = Y[vi + 1]
""",
    {"X": "({n}, {m})", "Y": "({n},)", "Z": "({n},)"},
    n=4,
    m=3,
)
BEFORE = program(
    """
    for i in range({n}):
        with T.block("Z"):
            vi = T.axis.spatial({n}, i)
            Z[vi] = Y[vi]
        for k in range({m}):
            with T.block("Y"):
                vi = T.axis.spatial({n}, i)
                vk = T.axis.reduce({m}, k)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]
""",
    {"X": "({n}, {m})", "Y": "({n},)", "Z": "({n},)"},
    n=4,
    m=3,
)
REFUSED = [
    (
        chain(8, 6),
        lambda s: s.decompose_reduction("Y", s.get_loops("Y")[0]),
        "decompose_reduction: expected block 'Y' to have an initialization",
    ),
    (
        matmul_relu(8, 6, 4),
        lambda s: s.decompose_reduction("Y", s.get_loops("C")[0]),
        "decompose_reduction: expected block 'Y' to be in loop 'i'",
    ),
    (
        row_sum(8, 6),
        lambda s: (
            s.reorder(*s.get_loops("Y")[::-1]),
            s.decompose_reduction("Y", s.get_loops("Y")[1]),
        ),
        "decompose_reduction: expected no reduction axis of block 'Y' to be bound to a loop around "
        "loop 'i'",
    ),
    (
        row_sum(8, 6),
        lambda s: s.decompose_reduction("Y", s.fuse(*s.get_loops("Y"))),
        "decompose_reduction: expected no loop to be bound to both spatial and reduction axes of "
        "block 'Y'",
    ),
    (
        TWICE,
        lambda s: s.decompose_reduction("Y", s.get_loops("Y")[0]),
        "decompose_reduction: expected each iteration of loop 'r' to run a different instance of "
        "block 'Y'",
    ),
    (
        AHEAD,
        lambda s: s.decompose_reduction("Y", s.get_loops("Y")[0]),
        "decompose_reduction: expected each iteration of loop 'i' to read from 'Y' only what block "
        "'Y' writes in it",
    ),
    (
        BEFORE,
        lambda s: s.decompose_reduction("Y", s.get_loops("Y")[0]),
        "decompose_reduction: expected block 'Y' to come before what loads 'Y' in the loop",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    check_refused(source, change, message)


def test_started_at_the_innermost_loop_where_outer_ones_repeat():
    check_schedule(TWICE, lambda s: s.decompose_reduction("Y", s.get_loops("Y")[2]))
    check_schedule(AHEAD, lambda s: s.decompose_reduction("Y", s.get_loops("Y")[1]))
    check_schedule(BEFORE, lambda s: s.decompose_reduction("Y", s.get_loops("Y")[1]))

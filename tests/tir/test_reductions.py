"""Reductions taken apart: their start in loops of its own, and partial results."""

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


def test_partial_results():
    def schedule(s):
        _, k = s.get_loops("Y")
        _, k1 = s.split(k, [None, 4])
        s.rfactor(k1)

    sch = check_schedule(row_sum(3, 8), schedule)
    assert body(sch) == (
        """    Y_rf = T.alloc_buffer((4, 3))
    for i, k, k_1 in T.grid(3, 2, 4):
        with T.block("Y_rf"):
            v_k, vi, v_k_1 = T.axis.remap("SSR", [k_1, i, k])
            T.reads(X[vi, v_k + v_k_1 * 4])
            T.writes(Y_rf[v_k, vi])
            with T.init():
                Y_rf[v_k, vi] = T.float32(0)
            Y_rf[v_k, vi] = Y_rf[v_k, vi] + X[vi, v_k + v_k_1 * 4]
    for i, k in T.grid(3, 4):
        with T.block("Y"):
            v_k, vi = T.axis.remap("RS", [k, i])
            T.reads(Y_rf[v_k, vi])
            T.writes(Y[vi])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + Y_rf[v_k, vi]"""
    )


def test_partial_results_of_a_loop_that_no_axis_is_bound_to():
    def schedule(s):
        _, k = s.get_loops("Y")
        s.rfactor(s.split(k, [None, 1], preserve_unit_iters=False)[1])

    sch = check_schedule(row_sum(3, 8), schedule)
    assert 'v_k, vi, vk = T.axis.remap("SSR", [k_1, i, k])' in body(sch)


@pytest.mark.sampled
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("which", [0, 1])
def test_partial_results_of_products(axis, which):
    def schedule(s):
        _, _, k = s.get_loops("Y")
        loops = s.split(k, [None, 4])
        partial = s.rfactor(loops[which], axis)
        s.decompose_reduction(partial, s.get_loops(partial)[0])
        s.decompose_reduction("Y", s.get_loops("Y")[-1])

    check_schedule(matmul_relu(), schedule, *SHAPES)
    check_schedule(matmul_relu(7, 13, 5), schedule)


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
    (
        row_sum(8, 6),
        lambda s: s.rfactor(s.get_loops("Y")[0]),
        "rfactor: expected the loop to be bound to a reduction axis of block 'Y'",
    ),
    (
        row_sum(8, 6),
        lambda s: s.rfactor(s.get_loops("Y")[1], 2),
        "rfactor: expected factor_axis of block 'Y' from -2 to 1, got 2",
    ),
    (
        row_sum(8, 6)
        .replace("vi, vk = T", "vi = T.axis.spatial(8, i)\n            vk = T")
        .replace('remap("SR", [i, k])', "reduce(6, k * k // 6)"),
        lambda s: s.rfactor(s.get_loops("Y")[1]),
        "rfactor: expected each iteration of loop 'k' to run a different instance of block 'Y'",
    ),
    (
        row_sum(8, 6).replace("Y[vi] + X[vi, vk]", "Y[vi] / X[vi, vk]"),
        lambda s: s.rfactor(s.get_loops("Y")[1]),
        "rfactor: expected block 'Y' to combine 'Y' with one value by an associative and "
        "commutative operation or a select",
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


NOTHING = """
@T.prim_func
def main(X: T.Buffer((0, 0), "float32"), Y: T.Buffer((0,), "float32")):
    for k in range(0):
        with T.block("Y"):
            v = T.axis.spatial(0, 0)
            r = T.axis.reduce(0, k)
            with T.init():
                Y[v] = T.float32(2)
            Y[v] = Y[v] + X[v, r]
"""


def test_nothing_is_started_where_there_is_no_element():
    module = from_source(NOTHING)
    memory = np.full(3, 7, np.float32)
    xrelax.build(module)["main"](np.zeros((0, 0), np.float32), memory[1:1])
    np.testing.assert_array_equal(memory, 7)
    check_schedule(NOTHING, lambda s: None)
    check_refused(
        NOTHING,
        lambda s: s.decompose_reduction("Y", s.get_loops("Y")[0]),
        "decompose_reduction: expected axis 'v' of block 'Y' to have iterations, or to be bound to "
        "a loop",
    )


PAIRS = """
    for k0 in range(({m} + 1) // 2):
        for k1 in range(2):
            with T.block("Y"):
                vk = T.axis.reduce({m}, k0 * 2 + k1)
                T.where(k0 * 2 + k1 < {m})
                with T.init():
                    Y[()] = T.float32(1)
                Y[()] = Y[()] + X[vk]
"""


def test_parts_of_an_axis_that_may_be_empty_are_split_evenly():
    source = program(PAIRS, {"X": "({m},)", "Y": "()"}, m="m")
    check_refused(
        source,
        lambda s: s.split(s.get_loops("Y")[1], [None, 3]),
        "split: expected loop 'k0', over which block 'Y' reduces, to have iterations for factors "
        "that do not divide loop 'k1', got extent (m + 1) floordiv 2: decompose the reduction "
        "first",
    )
    for factors in ([None, 2], [2, None]):
        check_schedule(
            source, lambda s, f=factors: s.split(s.get_loops("Y")[1], f), {"m": 0}, {"m": 5}
        )
    check_schedule(source, lambda s: s.split(s.get_loops("Y")[0], [None, 3]), {"m": 0}, {"m": 5})


PARTLY_EMPTY = """
    for i, j, k in T.grid(4, 3, {m}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
"""


@pytest.mark.parametrize("extent", [0, "m"])
@pytest.mark.parametrize("is_fused", [True, False])
def test_empty_sums_are_not_fused_with_other_loops(extent, is_fused):
    """Neither the loop that may be empty, nor another one of the same reduction."""
    partly = program(PARTLY_EMPTY, {"X": "(4, {m})", "Y": "(4,)"}, m=extent)
    source = row_sum(3, extent) if is_fused else partly
    check_refused(
        source,
        lambda s: s.fuse(*s.get_loops("Y")[:2]),
        "fuse: expected loop 'k', over which block 'Y' reduces, to have iterations for a loop of "
        f"the reduction to be fused with loop 'i', got extent {extent}: decompose the reduction "
        "first",
    )

    def schedule(s):
        s.decompose_reduction("Y", s.get_loops("Y")[0])
        s.fuse(*s.get_loops("Y_update"))

    check_schedule(source, schedule, {"m": 0}, {"m": 4})
    check_schedule(row_sum(0, 3), lambda s: s.fuse(*s.get_loops("Y")))


def test_parts_of_empty_sums_are_read():
    def schedule(s):
        s.loop_partition(s.get_loops("Y")[1], [2, None])

    check_schedule(matmul_relu(2, 5, 0), schedule)


BACKWARDS = """
@T.prim_func
def main(x: T.handle, Y: T.Buffer((3, 4, 2), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    for k in range(n):
        for i, j in T.grid(8, 3):
            with T.block("Y"):
                a = T.axis.spatial(3, 2 - j)
                b = T.axis.spatial(4, i // 2)
                c = T.axis.spatial(2, i % 2)
                r = T.axis.reduce(n, k)
                with T.init():
                    Y[a, b, c] = T.float32(1)
                Y[a, b, c] = Y[a, b, c] + X[r]
"""


@pytest.mark.parametrize("n", [0, 3])
def test_sums_whose_elements_go_backwards_are_started(n):
    found = np.full((3, 4, 2), 7, np.float32)
    xrelax.build(from_source(BACKWARDS))["main"](np.ones(n, np.float32), found)
    np.testing.assert_array_equal(found, 1 + n)

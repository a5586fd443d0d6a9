"""Reductions over no iterations, and of no elements: what of them starts, and what is refused."""

import numpy as np
import pytest
from programs import matmul_relu, program, row_sum
from schedule_check import check_refused, check_schedule

import xrelax
from xrelax.script import from_source

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

"""Sums whose partial results are in lanes of vectors, or in blocks of iterations."""

import numpy as np
import pytest
from programs import SHAPES, matmul_relu, program, row_sum
from schedule_check import check_refused, check_schedule, check_text

import xrelax
from xrelax.script import from_source
from xrelax.tir import Schedule


def blocked(s):
    start = s.decompose_reduction("Y", s.get_loops("Y")[1])
    return s.blocked_sum(start, s.get_loops("Y_update")[1], 4)


def test_vectorized_reduction():
    check_text(
        row_sum(),
        lambda s: s.vectorize(s.get_loops("Y")[1]),
        """
for i in range(n):
    for k in T.vectorized(m):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
""",
        *SHAPES,
        {"n": 2, "m": 0},
        native=True,
    )


MOST = """
    for i, k in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(-100)
            Y[vi] = T.max(Y[vi], X[vi, vk])
"""
LAST = MOST.replace("T.max(Y[vi], X[vi, vk])", "Y[vi] * T.float32(2) + X[vi, vk]")
MATRIX = {"X": "({n}, {m})", "Y": "({n},)"}


def test_vectorized_maximum():
    check_schedule(
        program(MOST, MATRIX, n="n", m="m"), lambda s: s.vectorize(s.get_loops("Y")[1]), *SHAPES
    )


def test_vectorized_tile_of_sums():
    """Several results at once, each with lanes of its own."""

    def schedule(s):
        _, j, k = s.get_loops("Y")
        _, place = s.split(j, [None, 2])
        s.reorder(k, place)
        s.unroll(place)
        s.vectorize(k)

    check_schedule(matmul_relu(6, 4, 11), schedule)


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            program(LAST, MATRIX, n=8, m=8),
            lambda s: s.vectorize(s.get_loops("Y")[1]),
            "expected every axis bound to loop 'k' to be spatial for it to be vectorized, got "
            "reduce axis 'vk'",
        ),
        (
            row_sum(8, 6),
            lambda s: s.vectorize(s.split(s.get_loops("Y")[1], [None, 4])[1]),
            "to be spatial for it to be vectorized, got reduce axis 'vk'",
        ),
        (
            row_sum(8, 6),
            lambda s: s.vectorize(s.fuse(*s.get_loops("Y"))),
            "to be spatial for it to be vectorized",
        ),
    ],
)
def test_refused_lanes(source, schedule, message):
    check_refused(source, schedule, message, whole=False)


def test_blocked_sum():
    check_text(
        row_sum(3, "m"),
        blocked,
        """
Y_block = T.alloc_buffer((3,))
for i in range(3):
    with T.block("Y_init"):
        vi = T.axis.spatial(3, i)
        Y[vi] = T.float32(0)
    for k in range(m // 4):
        with T.block("Y_start"):
            vi = T.axis.spatial(3, i)
            Y_block[vi] = T.float32(-0.0)
        for k_1 in range(4):
            with T.block("Y_update_k0"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce((m // 4) * 4, k * 4 + k_1)
                Y_block[vi] = Y_block[vi] + X[vi, vk]
        with T.block("Y_total"):
            vi, v_k = T.axis.remap("SR", [i, k])
            Y[vi] = Y[vi] + Y_block[vi]
    for k in range((m // 4) * 4, (m // 4) * 4 + m % 4):
        with T.block("Y_update_k1"):
            vi, vk = T.axis.remap("SR", [i, k])
            Y[vi] = Y[vi] + X[vi, vk]
""",
        {"m": 0},
        {"m": 3},
        {"m": 12},
        {"m": 14},
        native=True,
    )


def test_blocks_of_blocks():
    def schedule(s):
        outer = blocked(s)
        s.blocked_sum("Y_init", outer, 3)

    check_schedule(row_sum(3, 50), schedule)


def test_blocked_sums_lose_fewer_digits():
    x, errors = np.full((1, 1 << 18), 0.1, np.float32), []
    for schedule in (lambda s: s.unroll(s.split(s.get_loops("Y")[0], [1, None])[0]), blocked):
        sch = Schedule(from_source(row_sum(1, x.size)))
        schedule(sch)
        y = np.zeros(1, np.float32)
        xrelax.build(sch.mod)["main"](x, y)
        errors.append(abs(y[0] - x.sum(dtype=np.float64)))
    assert errors[1] <= errors[0]


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            row_sum(3, 9),
            lambda s: s.blocked_sum("Y", s.get_loops("Y")[1], 4),
            "expected block 'Y' to initialize results before loop 'k'",
        ),
        (
            program(MOST, MATRIX, n=3, m=9),
            blocked,
            "expected loop 'k' to load 'Y' only to add to it",
        ),
        (
            row_sum(3, 9),
            lambda s: s.blocked_sum(
                s.decompose_reduction("Y", s.get_loops("Y")[1]), s.get_loops("Y_update")[1], 0
            ),
            "expected a size of at least 1, got 0",
        ),
        (
            row_sum(3, 9),
            lambda s: s.blocked_sum(
                s.decompose_reduction("Y", s.get_loops("Y")[1]), s.get_loops("Y_update")[1], 10
            ),
            "expected at least 10 iterations of loop 'k'",
        ),
    ],
)
def test_refused_blocks(source, schedule, message):
    check_refused(source, schedule, message, whole=False)

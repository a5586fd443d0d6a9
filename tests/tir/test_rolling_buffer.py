"""`rolling_buffer`: results of tiles that overlap, and what it refuses."""

import pytest
from schedule_check import check_refused, check_schedule, check_text

SUMS = """
@T.prim_func
def main(X: T.Buffer((2, 12), "int32"), Y: T.Buffer((2, 8), "int32")):
    S = T.alloc_buffer((2, 10), "int32")
    for c, i, k in T.grid(2, 10, 3):
        with T.block("S"):
            vc, vi, vk = T.axis.remap("SSR", [c, i, k])
            with T.init():
                S[vc, vi] = 0
            S[vc, vi] = S[vc, vi] + X[vc, vi + vk]
    for c, i, k in T.grid(2, 8, 3):
        with T.block("Y"):
            vc, vi, vk = T.axis.remap("SSR", [c, i, k])
            with T.init():
                Y[vc, vi] = 0
            Y[vc, vi] = Y[vc, vi] + S[vc, vi + vk]
"""

PLANES = """
@T.prim_func
def main(X: T.Buffer((12, 12), "float32"), Y: T.Buffer((8, 8), "float32")):
    S = T.alloc_buffer((10, 10))
    R = T.alloc_buffer((10, 10))
    for i, j, k in T.grid(10, 10, 3):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + X[vi + vk, vj]
    for i, j in T.grid(10, 10):
        with T.block("R"):
            vi, vj = T.axis.remap("SS", [i, j])
            R[vi, vj] = S[vi, vj] * T.float32(2)
    for i, j, k, l in T.grid(8, 8, 3, 3):
        with T.block("Y"):
            vi, vj, vk, vl = T.axis.remap("SSRR", [i, j, k, l])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + R[vi + vk, vj + vl]
"""


def tile(s, size, *producers):
    outer, _ = s.split(s.get_loops("Y")[1], [None, size])
    for name in producers or ("S",):
        s.compute_at(name, outer)
    return outer


def test_a_ring():
    def schedule(s):
        tile(s, 4)
        s.rolling_buffer("S", 0)

    check_text(
        SUMS,
        schedule,
        """
S = T.alloc_buffer((2, 6), "int32")
for c, i in T.grid(2, 2):
    for i_1, k in T.grid(6, 3):
        with T.block("S"):
            vc = T.axis.spatial(2, c)
            vi = T.axis.opaque(10, i * 4 + i_1)
            vk = T.axis.reduce(3, k)
            T.where(1 < i_1 or i < 1)
            with T.init():
                S[vc, vi % 6] = T.int32(0)
            S[vc, vi % 6] = S[vc, vi % 6] + X[vc, vi + vk]
    for i_1, k in T.grid(4, 3):
        with T.block("Y"):
            vc = T.axis.spatial(2, c)
            vi = T.axis.opaque(8, i * 4 + i_1)
            vk = T.axis.reduce(3, k)
            with T.init():
                Y[vc, vi] = T.int32(0)
            Y[vc, vi] = Y[vc, vi] + S[vc, (vi + vk) % 6]
""",
        native=True,
    )


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (1, 8)])
def test_tiles_of_planes(sizes):
    """Two buffers, the later one first; tiles that are not whole, and of whole rows."""

    def schedule(s):
        i, j, *_ = s.get_loops("Y")
        (io, ii), (jo, ji) = (s.split(x, [None, n]) for x, n in zip((i, j), sizes, strict=True))
        s.reorder(io, jo, ii, ji)
        for name in ("R", "S"):
            s.compute_at(name, jo)
        for name in ("R", "S"):
            s.rolling_buffer(name, 0)

    sch = check_schedule(PLANES, schedule)
    assert " or " in sch.mod.script()
    check_refused(
        PLANES,
        lambda s: (schedule(s), s.parallel(s.get_loops("Y")[0])),
        "parallel: expected",
        whole=False,
    )


REFUSED = {
    "iterations that share nothing": (
        lambda s: (tile(s, 8), s.rolling_buffer("S", 0)),
        "rolling_buffer: expected iterations of a loop around block 'S' to share elements of 'S' "
        "with the one before",
    ),
    "no loop around all uses": (
        lambda s: s.rolling_buffer("S", 0),
        "rolling_buffer: expected a loop around all blocks that use 'S'",
    ),
    "an unrolled loop": (
        lambda s: (s.unroll(tile(s, 4)), s.rolling_buffer("S", 0)),
        "rolling_buffer: expected loop 'i' to be serial, and from 0 on",
    ),
    "a parameter": (
        lambda s: s.rolling_buffer("Y", 0),
        "rolling_buffer: expected 'Y' to be a scratch buffer",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    check_refused(SUMS, *REFUSED[case])


def test_an_input_that_is_a_ring_is_refused():
    def schedule(s):
        outer, _ = s.split(s.get_loops("Y")[0], [None, 4])
        for name in ("R", "S"):
            s.compute_at(name, outer)
        s.rolling_buffer("S", 0)
        s.rolling_buffer("R", 0)

    check_refused(
        PLANES,
        schedule,
        "rolling_buffer: expected loop 'i' to compute one value for each element of 'S', which "
        "block 'R' loads",
    )


STRIDED = """
@T.prim_func
def main(X: T.Buffer((1, 17), "int32"), Y: T.Buffer((1, 8), "int32")):
    S = T.alloc_buffer((1, 17), "int32")
    for c, i in T.grid(1, 17):
        with T.block("S"):
            vc, vi = T.axis.remap("SS", [c, i])
            S[vc, vi] = X[vc, vi] * 2
    for c, i, k in T.grid(1, 8, 3):
        with T.block("Y"):
            vc, vi, vk = T.axis.remap("SSR", [c, i, k])
            with T.init():
                Y[vc, vi] = 0
            Y[vc, vi] = Y[vc, vi] + S[vc, vi * 2 + vk]
"""


@pytest.mark.parametrize("length", [17, 18])
def test_a_ring_in_loops_of_one_iteration(length):
    """They are in no binding; nothing needs the last one of 18 elements."""

    def schedule(s):
        c, i, _ = s.get_loops("Y")
        c, c_1 = s.split(c, [None, 1])
        i, i_1 = s.split(i, [None, 4])
        s.reorder(c, i, c_1, i_1)
        s.compute_at("S", i)
        s.rolling_buffer("S", 0)

    sch = check_schedule(STRIDED.replace("17", str(length)), schedule)
    assert "T.axis.spatial(1, 0)" in sch.mod.script()
    assert f"vi = T.axis.opaque({length}, i * 8 + i_1)" in sch.mod.script()
    assert "S = T.alloc_buffer((1, 9)" in sch.mod.script()

"""Blocks that move into loops of others: what one iteration gives all of, and what not."""

import numpy as np
import pytest
from programs import SHAPES, program
from schedule_check import body_text, check_refused, check_schedule, check_text

from xrelax import relax
from xrelax.script import from_source
from xrelax.tir import Schedule

BUFFERS = {"X": "({n}, {m})", "Y": "({n}, {n})"}
PAIRS = """
    S = T.alloc_buffer(({n},), "float32")
    for i, k in T.grid({n}, {m}):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vk]
    for i, j in T.grid({n}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = VALUE
"""
"""Each element is of the sums of two rows, which no single iteration gives."""

VALUES = ("S[vi] + S[vj]", "S[vj] - S[vi]", "T.if_then_else(vi < vj, S[vi], S[vj])")


def pairs(value: str, **sizes: int | str) -> str:
    return program(PAIRS.replace("VALUE", value), BUFFERS, **sizes)


@pytest.mark.parametrize("value", VALUES)
def test_what_is_loaded_at_several_axes_stays_outside(value):
    check_refused(
        pairs(value, n="n", m="m"),
        lambda s: s.reverse_compute_at("Y", s.get_loops("S")[0]),
        "reverse_compute_at: expected block 'Y' to load at the same axes all that the loop stores "
        "in parts: other instances need what several iterations store",
    )


@pytest.mark.parametrize("value", VALUES)
def test_pairs_of_rows_by_default(value):
    x = np.random.default_rng(0).standard_normal((9, 5)).astype(np.float32)
    y = np.full((9, 9), 77, np.float32)
    relax.build(from_source(pairs(value, n=9, m=5)))["main"](x, y)
    s, (i, j) = x.sum(1), np.indices((9, 9))
    want = {VALUES[0]: s[i] + s[j], VALUES[1]: s[j] - s[i], VALUES[2]: np.where(i < j, s[i], s[j])}
    np.testing.assert_allclose(y, want[value], rtol=1e-5, atol=1e-5)


def test_what_is_loaded_at_one_axis_moves():
    """What other loads have at the same axes, or are all of, does not matter."""
    source = pairs("S[vi] + X[vi, 0]", n="n", m="m")
    check_schedule(source, lambda s: s.reverse_compute_at("Y", s.get_loops("S")[0]), *SHAPES)
    both = pairs("S[vi] + S[vi] * X[vj, 0]", n="n", m="m")
    check_schedule(both, lambda s: s.reverse_compute_at("Y", s.get_loops("S")[0]), *SHAPES)


WHOLE = """
    S = T.alloc_buffer(({n}, {m}), "float32")
    for i, j in T.grid({n}, {m}):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in T.grid({n}, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, AT] + S[vi, 0]
"""


@pytest.mark.parametrize("at", ["{m} - 1", "vj % {m}", "T.max(1, 0)"])
def test_a_dim_that_the_iteration_stores_is_loaded_anywhere(at):
    source = program(WHOLE.replace("AT", at), BUFFERS, n="n", m=3)
    sizes = {"n": 5}, {"n": 1}
    check_schedule(source, lambda s: s.reverse_compute_at("Y", s.get_loops("S")[0]), *sizes)
    check_refused(
        source,
        lambda s: (
            s.reorder(*s.get_loops("S")[::-1]),
            s.reverse_compute_at("Y", s.get_loops("S")[0]),
        ),
        "reverse_compute_at: expected block 'Y' to load 'S' at its axes",
    )


MIRRORED = """
    S = T.alloc_buffer((9, 5), "float32")
    for i, j in T.grid(9, 5):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[8 - vi, vj] = X[vi, vj] + T.float32(1)
    for i, j in T.grid(9, 5):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] * T.float32(2)
"""


def test_a_producer_that_stores_from_the_end():
    check_text(
        program(MIRRORED, {"X": "(9, 5)", "Y": "(9, 5)"}),
        lambda s: s.compute_at("S", s.split(s.get_loops("Y")[0], [None, 2])[0]),
        """
S = T.alloc_buffer((9, 5))
for i in range(5):
    for i_1, j in T.grid(2, 5):
        with T.block("S"):
            vi = T.axis.spatial(9, -i * 2 + i_1 + 7)
            vj = T.axis.spatial(5, j)
            T.where(-1 < -i * 2 + i_1 + 7)
            S[-vi + 8, vj] = X[vi, vj] + T.float32(1)
    for i_1, j in T.grid(2, 5):
        with T.block("Y"):
            vi = T.axis.spatial(9, i * 2 + i_1)
            vj = T.axis.spatial(5, j)
            T.where(i * 2 + i_1 < 9)
            Y[vi, vj] = S[vi, vj] * T.float32(2)
""",
        native=True,
    )


TILES = """
    S = T.alloc_buffer((12, 5), "float32")
    for i, j in T.grid(12, 5):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] + T.float32(1)
    for i, j in T.grid(12, 5):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] * T.float32(2)
"""


@pytest.mark.parametrize(("size", "tiles"), [(8, "i * 2 + i_o"), (6, "i + i_o")])
def test_a_producer_of_tiles(size, tiles):
    """Of tiles that begin elsewhere than parts, all that a part may be in are computed."""

    def schedule(s: Schedule) -> None:
        outer = s.blockize(s.split(s.get_loops("S")[0], [None, 4])[1])
        s.compute_at(outer, s.split(s.get_loops("Y")[0], [None, size])[0])

    sch = check_schedule(program(TILES, {"X": "(12, 5)", "Y": "(12, 5)"}), schedule)
    assert f"""
for i in range(2):
    for i_o in range(2):
        with T.block("S_o"):
            vi_o = T.axis.spatial(3, {tiles})
""" in body_text(sch)


PARTS = """
    S = T.alloc_buffer(({n}, {m}), "float32")
    for i, j in T.grid({n}, {m}):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for j, k in T.grid({m}, {n}):
        with T.block("Y"):
            vj, vk = T.axis.remap("SR", [j, k])
            with T.init():
                Y[vj] = T.float32(0)
            Y[vj] = Y[vj] + S[vk, vj]
"""
PART_BUFFERS = {"X": "({n}, {m})", "Y": "({m},)"}


def test_a_reduction_goes_on_in_each_iteration():
    def schedule(sch):
        outer, _ = sch.split(sch.get_loops("S")[0], [None, 4])
        sch.reverse_compute_at("Y", outer)

    check_text(
        program(PARTS, PART_BUFFERS, n=10, m="m"),
        schedule,
        """
S = T.alloc_buffer((10, m))
for i in range(3):
    for i_1, j in T.grid(4, m):
        with T.block("S"):
            vi = T.axis.spatial(10, i * 4 + i_1)
            vj = T.axis.spatial(m, j)
            T.where(i * 4 + i_1 < 10)
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for j, k in T.grid(m, 4):
        with T.block("Y"):
            vj = T.axis.spatial(m, j)
            vk = T.axis.reduce(10, i * 4 + k)
            T.where(i * 4 + k < 10)
            with T.init():
                Y[vj] = T.float32(0)
            Y[vj] = Y[vj] + S[vk, vj]
""",
        {"m": 5},
        native=True,
    )


@pytest.mark.parametrize("kind", ["parallel", "vectorize"])
def test_a_reduction_over_parts_of_parallel_iterations(kind):
    def schedule(sch):
        loop = sch.get_loops("S")[0]
        getattr(sch, kind)(loop)
        sch.reverse_compute_at("Y", loop)

    check_refused(
        program(PARTS, PART_BUFFERS, n=10, m="m"),
        schedule,
        "reverse_compute_at: expected block 'Y' to load 'S' at its axes, its reductions over all "
        "of it",
    )


FUSED = """
    S = T.alloc_buffer(({n}, 4, {m}), "float32")
    for i, j, k in T.grid({n}, 4, {m}):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            S[vi, vj, vk] = X[vi, vj, vk] * T.float32(2)
    for i, j, k in T.grid({n}, 4, {m}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            Y[vi, vj, vk] = S[vi, vj, vk] + T.float32(1)
"""


def test_a_fused_loop():
    """Each iteration gives one element of all that there are."""
    check_text(
        program(FUSED, dict.fromkeys("XY", "({n}, 4, {m})"), n="n", m="m"),
        lambda s: s.reverse_compute_at("Y", s.fuse(*s.get_loops("S"))),
        """
S = T.alloc_buffer((n, 4, m))
for i_j_k_fused in range(m * n * 4):
    with T.block("S"):
        vi = T.axis.spatial(n, i_j_k_fused // (m * 4))
        vj = T.axis.spatial(4, (i_j_k_fused % (m * 4)) // m)
        vk = T.axis.spatial(m, i_j_k_fused % m)
        S[vi, vj, vk] = X[vi, vj, vk] * T.float32(2)
    with T.block("Y"):
        vi = T.axis.spatial(n, i_j_k_fused // (m * 4))
        vj = T.axis.spatial(4, (i_j_k_fused % (m * 4)) // m)
        vk = T.axis.spatial(m, i_j_k_fused % m)
        Y[vi, vj, vk] = S[vi, vj, vk] + T.float32(1)
""",
        {"n": 3, "m": 5},
    )


PARTIAL = """
@T.prim_func
def main(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((6, 4))
    for i, k in T.grid(4, 6):
        with T.block("P"):
            vk, vi = T.axis.remap("SS", [k, i])
            P[vk, vi] = X[vi, vk] * T.float32(2)
    for i, k in T.grid(4, 6):
        with T.block("Y"):
            vk, vi = T.axis.remap("RS", [k, i])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + P[vk, vi]
"""


def test_new_loops_have_the_order_of_axes():
    def schedule(s):
        outer, _ = s.split(s.get_loops("P")[0], [2, 2])
        s.reverse_compute_at("Y", outer)

    check_text(
        PARTIAL,
        schedule,
        """
P = T.alloc_buffer((6, 4))
for i in range(2):
    for i_1, k in T.grid(2, 6):
        with T.block("P"):
            vk = T.axis.spatial(6, k)
            vi = T.axis.spatial(4, i * 2 + i_1)
            P[vk, vi] = X[vi, vk] * T.float32(2)
    for k, i_1 in T.grid(6, 2):
        with T.block("Y"):
            vk = T.axis.reduce(6, k)
            vi = T.axis.spatial(4, i * 2 + i_1)
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + P[vk, vi]
""",
        native=True,
    )


RUNNING_SUM = """
@T.prim_func
def main(X: T.Buffer((16,), "float32"), Y: T.Buffer((16,), "float32")):
    S = T.alloc_buffer((16,))
    for i in range(16):
        with T.block("S"):
            vi = T.axis.KIND(16, i)
            S[vi] = X[vi] + T.if_then_else(vi > 0, S[T.max(vi - 1, 0)], T.float32(0))
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            Y[vi] = S[15 - vi]
"""


@pytest.mark.parametrize(
    "kind, message",
    [
        ("opaque", "have spatial and reduction axes only, got one that is opaque"),
        ("spatial", "not to read elements of 'S' that one of them writes"),
    ],
)
def test_a_block_whose_instances_depend_on_each_other_stays(kind, message):
    check_refused(
        RUNNING_SUM.replace("KIND", kind),
        lambda s: s.compute_at("S", s.split(s.get_loops("Y")[0], [4, 4])[0]),
        message,
        whole=False,
    )

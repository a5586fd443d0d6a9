"""Blocks that run for some values of their axes: what they do not store stays as it was."""

import numpy as np
import pytest

from xrelax import relax, tir
from xrelax.script import from_source
from xrelax.tir.schedule import ScheduleError

PARTS = {
    "the first half": ("T.grid(8, 16)", "i, j", np.s_[:8]),
    "another part": ("T.grid(3, 16)", "i + 5, j", np.s_[5:8]),
    "every third": ("T.grid(5, 16)", "i * 3 + 1, j", np.s_[1:14:3]),
    "a part of a reduction": ("T.grid(16, 7)", "i, j", np.s_[:]),
}


def kernel(loops, bound):
    first, second = bound.split(", ")
    return from_source(f"""
@T.prim_func
def main(X: T.Buffer((16, 16), "float32"), Y: T.Buffer((16,), "float32")):
    S = T.alloc_buffer((16, 16))
    for i, j in {loops}:
        with T.block("S"):
            vi = T.axis.spatial(16, {first})
            vj = T.axis.spatial(16, {second})
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in {loops}:
        with T.block("Y"):
            vi = T.axis.spatial(16, {first})
            vj = T.axis.reduce(16, {second})
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + S[vi, vj]
""")


def expected(x, y, loops, rows):
    columns = int(loops.split(", ")[1].rstrip(")"))
    y = y.copy()
    y[rows] = 2 * x[rows, :columns].sum(1)
    return y


def assert_right(module, loops, rows, check=True):
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 5, (16, 16)).astype(np.float32), np.full(16, 7, np.float32)
    want = expected(x, y, loops, rows)
    relax.build(module, check=check)["main"](x, y)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("part", PARTS)
def test_a_block_stores_a_part(part):
    loops, bound, rows = PARTS[part]
    assert_right(kernel(loops, bound), loops, rows)


PRIMITIVES = {
    "compute_at": lambda s: s.compute_at("S", s.get_loops("Y")[0]),
    "compute_inline": lambda s: s.compute_inline("S"),
    "reverse_compute_at": lambda s: s.reverse_compute_at("Y", s.get_loops("S")[0]),
    "cache_read": lambda s: s.cache_read("Y", 0, "global"),
    "cache_write": lambda s: s.cache_write("Y", 0, "global"),
    "reindex": lambda s: s.reindex("Y", ("write", 0)),
    "transform_block_layout": lambda s: s.transform_block_layout("S", lambda i, j: (i * 16 + j,)),
    "decompose_reduction": lambda s: s.decompose_reduction("Y", s.get_loops("Y")[1]),
    "rfactor": lambda s: s.rfactor(s.split(s.get_loops("Y")[1], [None, 2])[1], 0),
    "blockize": lambda s: s.blockize(s.get_loops("Y")[1]),
    "transform_layout": lambda s: s.transform_layout("S", ("write", 0), lambda i, j: (j, i)),
    "parallel": lambda s: s.parallel(s.get_loops("Y")[0]),
    "vectorize": lambda s: s.vectorize(s.get_loops("S")[1]),
    "fuse": lambda s: s.fuse(*s.get_loops("S")),
}


@pytest.mark.parametrize("part", PARTS)
def test_primitives_keep_the_part(part):
    loops, bound, rows = PARTS[part]
    applied: list[str] = []
    for name, primitive in PRIMITIVES.items():
        sch = tir.Schedule(kernel(loops, bound))
        try:
            primitive(sch)
            applied.append(name)
        except ScheduleError as error:
            assert "\n" not in str(error)
        assert_right(sch.mod, loops, rows, check=False)
    assert len(applied) >= len(PRIMITIVES) // 2


def test_a_move_asks_for_whole_axes():
    sch = tir.Schedule(kernel(*PARTS["the first half"][:2]))
    message = r"block 'S' to run over the full range of its axes: axis 'vi' does not cover"
    with pytest.raises(ScheduleError, match=message):
        sch.compute_at("S", sch.get_loops("Y")[0])

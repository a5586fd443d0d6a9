"""Blocks that move into loops of others: what one iteration gives all of, and what not."""

import numpy as np
import pytest
from programs import SHAPES, program
from schedule_check import check_refused, check_schedule

from xrelax import relax
from xrelax.script import from_source

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

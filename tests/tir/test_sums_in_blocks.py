"""Sums in the body of a block whose iterations share their results."""

import pytest
from schedule_check import check_schedule

from xrelax.script import ScriptError, from_source

NESTED = """
@T.prim_func
def main(X: T.Buffer((8,), "float32"), Y: T.Buffer((1,), "float32")):
    for i in range(2):
        with T.block("outer"):
            vi = T.axis.spatial(2, i)
            for k in {loop}:
                with T.block("Y"):
                    vk = T.axis.reduce({axis})
                    with T.init():
                        Y[0] = T.float32(0)
                    Y[0] = Y[0] + X[vk]
"""


def test_a_block_of_a_sum_that_each_iteration_needs_and_its_user():
    source = """
@T.prim_func
def main(X: T.Buffer((2, 8), "float32"), Y: T.Buffer((3,), "float32")):
    S = T.alloc_buffer((2,), "float32")
    for i, k in T.grid(2, 8):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vk]
    for j in range(3):
        with T.block("Y"):
            vj = T.axis.spatial(3, j)
            Y[vj] = S[1] * T.cast(vj, "float32")
"""

    def schedule(sch):
        sch.compute_at("S", sch.get_loops("Y")[0])
        sch.blockize([sch.get_block("S"), sch.get_block("Y")])

    check_schedule(source, schedule, native=True)


@pytest.mark.parametrize(
    "loop, axis",
    [
        ("range(8)", "8, k"),
        ("T.serial(vi, vi + 8)", "8, k - vi"),
        ("range(1)", "1, k"),
    ],
)
def test_a_sum_that_each_iteration_begins_again(loop, axis):
    check_schedule(NESTED.format(loop=loop, axis=axis), lambda sch: None, native=True)


@pytest.mark.parametrize("loop, axis", [("range(4)", "8, vi * 4 + k"), ("range(1)", "2, vi")])
def test_a_sum_that_the_next_iteration_goes_on_with(loop, axis):
    with pytest.raises(ScriptError, match="accumulates in 'Y' along spatial axis 'vi'"):
        from_source(NESTED.format(loop=loop, axis=axis))

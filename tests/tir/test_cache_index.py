"""`cache_index`: what is computed before a block, and how often it must be done for that."""

import pytest
from programs import program, row_sum
from schedule_check import (
    assert_equal,
    body_text,
    check_refused,
    check_schedule,
    check_text,
    run_reference,
)

from xrelax.script import from_source
from xrelax.tir import Schedule

SHIFTED = """
    for i, j in T.grid(4, 6):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi // 2 + vj // 3, vj // 2] + X[vi, vj // 2]
"""


def test_indices_over_axes():
    check_text(
        program(SHIFTED, {"X": "(4, 6)", "Y": "(4, 6)"}),
        lambda s: s.cache_index("Y", "global"),
        """
index_var = T.alloc_buffer((4, 6), "int32")
index_var_1 = T.alloc_buffer((6,), "int32")
for ax0, ax1 in T.grid(4, 6):
    with T.block("index_0"):
        v0, v1 = T.axis.remap("SS", [ax0, ax1])
        index_var[v0, v1] = T.Cast("int32", v0 // 2 + v1 // 3)
for ax0 in range(6):
    with T.block("index_1"):
        v0 = T.axis.spatial(6, ax0)
        index_var_1[v0] = T.Cast("int32", v0 // 2)
for i, j in T.grid(4, 6):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = X[index_var[vi, vj], index_var_1[vj]] + X[vi, index_var_1[vj]]
""",
        native=True,
    )


RESIZED = """
    for i, j in T.grid(3, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = (
                X[vi, T.max(T.min(T.Cast("int32", T.floor(PLACE)), 3), 0)]
                * (PLACE - T.floor(PLACE))
                + X[vi, T.max(T.min(T.Cast("int32", T.floor(PLACE)) + 1, 3), 0)]
            )
"""
PLACE = '(T.Cast("float32", vj) * T.float32(0.5) + T.float32(0.25))'


def test_computations_that_are_repeated():
    sch = check_schedule(
        program(RESIZED.replace("PLACE", PLACE), {"X": "(3, 4)", "Y": "(3, 8)"}),
        lambda s: s.cache_index("Y", "local", 2),
    )
    computed, block = body_text(sch).split("for i, j in")
    assert computed.count("T.floor") == 1 and computed.count("with T.block") == 2
    assert block.count("index_var[vj]") == 2 and block.count("index_var_1[vj]") == 2


COMPARED = """
    for i, j in T.grid(4, 6):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.if_then_else(vi + vj < 6, X[vi + vj], T.float32(0))
"""


def test_an_index_that_is_compared_is_an_int64_of_the_script():
    sch = Schedule(from_source(program(COMPARED, {"X": "(6,)", "Y": "(4, 6)"})))
    before = sch.mod
    sch.cache_index("Y", "global", 2)
    assert 'T.Cast("int64", index_var[vi, vj]) < 6' in body_text(sch)
    read = from_source(sch.mod.script())
    assert_equal(run_reference(read, {}), run_reference(sch.mod, {}), {}, "read, evaluated")
    assert_equal(run_reference(read, {}), run_reference(before, {}), {}, "scheduled, evaluated")


def test_computations_that_are_rare_stay():
    source = program(RESIZED.replace("PLACE", PLACE), {"X": "(3, 4)", "Y": "(3, 8)"})
    sch = check_schedule(source, lambda s: s.cache_index("Y", "local", 9))
    assert "index_var" not in sch.mod.script()


LATE = """
    for i in range(3):
        with T.block("Y"):
            vi = T.axis.spatial((1, 4), i + 1)
            Y[vi] = X[vi // 2]
"""


@pytest.mark.parametrize(
    "source, thresh, message",
    [
        (row_sum(4, 4), -1, "expected a cse_thresh of at least 0, got -1"),
        (
            program(LATE, {"X": "(4,)", "Y": "(4,)"}),
            0,
            "expected axes of block 'Y' to begin at 0, and not to depend on loops",
        ),
    ],
)
def test_refused(source, thresh, message):
    check_refused(source, lambda s: s.cache_index("Y", "global", thresh), f"cache_index: {message}")

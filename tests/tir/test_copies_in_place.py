"""`cache_inplace`, and copies of what predicates of blocks inside and declared calls write."""

import pytest
from programs import program, row_sum
from schedule_check import check_refused, check_schedule, check_text

from xrelax.script import from_source
from xrelax.tir import Schedule

VECTORS = {"X": "(8,)", "Y": "(8,)"}

UPDATE = """
    for i in T.KIND(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            for k in range(2):
                Y[vi * 2 + k] = Y[vi * 2 + k] * T.float32(2) + X[vi]
"""


def update(kind="serial"):
    """Block "Y" updates two elements of its parameter in each instance."""
    return program(UPDATE.replace("KIND", kind), VECTORS)


def test_a_block_updates_a_copy():
    check_text(
        update(),
        lambda s: s.cache_inplace("Y", "Y", "local"),
        """
Y_local = T.alloc_buffer((8,), scope="local")
for i in range(4):
    for ax0 in range(2):
        with T.block("Y_local"):
            v_ax0 = T.axis.spatial(8, i * 2 + ax0)
            Y_local[v_ax0] = Y[v_ax0]
    with T.block("Y"):
        vi = T.axis.spatial(4, i)
        for k in range(2):
            Y_local[vi * 2 + k] = Y_local[vi * 2 + k] * T.float32(2) + X[vi]
    for ax0 in range(2):
        with T.block("Y_local"):
            v_ax0 = T.axis.spatial(8, i * 2 + ax0)
            Y[v_ax0] = Y_local[v_ax0]
""",
        native=True,
    )


def test_a_copy_before_a_loop_of_one_iteration():
    """What the loop writes after the last reader does not matter for a copy."""

    def schedule(sch):
        loop = sch.add_unit_loop(sch.get_loops("Y")[0])
        first, _ = sch.cache_inplace(sch.blockize(sch.get_loops("Y")[1]), "Y", "local")
        copy = sch.cache_read(first, 0, "global", [first])
        assert len(sch.get_loops(copy)) == 1 and sch.get(loop).extent == 1

    check_schedule(update(), schedule)


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            row_sum(4, 4),
            lambda s: s.cache_inplace("Y", 0, "local"),
            "cache_inplace: expected block 'Y' to write 'X', which it reads",
        ),
        (
            update("parallel"),
            lambda s: s.cache_inplace("Y", "Y", "local"),
            "cache_inplace: expected block 'Y' to be in serial loops, got parallel loop 'i'",
        ),
        (
            update(),
            lambda s: s.cache_inplace("Y", "Y", "moon"),
            "cache_inplace: expected a storage scope (global, shared, local, warp, wmma, "
            "texture), got 'moon'",
        ),
    ],
)
def test_refused(source, schedule, message):
    check_refused(source, schedule, message)


INNER = """
    for i, j in T.grid(4, 6):
        with T.block("outer"):
            vi, vj = T.axis.remap("SS", [i, j])
            with T.block("inner"):
                T.where(vi < 3 and vj < 5)
                Y[vi, vj] = X[vi, vj] + T.float32(1)
"""


def test_a_predicate_inside_ends_what_is_copied():
    sch = check_schedule(
        program(INNER, {"X": "(4, 6)", "Y": "(4, 6)"}), lambda s: s.cache_write("outer", 0, "local")
    )
    assert "for ax0, ax1 in T.grid(3, 5):" in sch.mod.script()


@pytest.mark.parametrize("condition", ["vi + vj < 5", "0 < vi"])
def test_a_predicate_that_does_more_is_refused(condition):
    check_refused(
        program(INNER.replace("vi < 3 and vj < 5", condition), {"X": "(4, 6)", "Y": "(4, 6)"}),
        lambda s: s.cache_write("outer", 0, "local"),
        "cache_write: expected block 'outer' to store every element of a box of 'Y', one at a time",
    )


CALL = """
    for i in range(2):
        with T.block("Y"):
            vi = T.axis.spatial(2, i)
            T.reads(X[vi * 4:vi * 4 + 4])
            T.writes(Y[vi * STEP:vi * STEP + 4])
            T.evaluate(T.call_extern("int32", "copy4", T.address_of(Y[vi * 4]), X.data))
"""


def call(step="4"):
    """Block "Y" declares what it passes to a call."""
    return program(CALL.replace("STEP", step), VECTORS)


def test_a_call_writes_what_its_block_declares():
    sch = Schedule(from_source(call()), debug_mask="all")
    sch.cache_write("Y", 0, "local")
    script = sch.mod.script()
    assert "T.writes(Y_local[vi * 4:vi * 4 + 4])" in script and "Y[v_ax0] = Y_local" in script
    check_refused(
        call(step="2"),
        lambda s: s.cache_write("Y", 0, "local"),
        "cache_write: expected block 'Y' to declare that it writes every element of a box of 'Y', "
        "once each",
    )
    check_refused(
        call().replace("T.evaluate(", "if vi < 1:\n                T.evaluate("),
        lambda s: s.cache_write("Y", 0, "local"),
        "cache_write: expected block 'Y' to only store 'Y', or to pass it, dense and always, to "
        "calls that do not read it",
    )
